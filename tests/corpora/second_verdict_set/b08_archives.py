"""Zip, tar and gzip of a scratch folder: file times, random folder names and digests of the archives."""
import gzip
import hashlib
import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path

out = Path("out")
out.mkdir()
with tempfile.TemporaryDirectory(prefix="pack-") as scratch:
    scratch = Path(scratch)
    print("scratch", scratch.name)
    for number in range(3):
        page = scratch / "pages" / f"{number}.txt"
        page.parent.mkdir(exist_ok=True)
        page.write_text(f"page {number}\n" * (number + 1) * 20)
    (scratch / "pages" / "0.txt").rename(scratch / "cover.txt")
    with zipfile.ZipFile(out / "book.zip", "w", zipfile.ZIP_DEFLATED) as book:
        for page in sorted(scratch.rglob("*.txt")):
            book.write(page, page.relative_to(scratch))
        book.writestr("META/made", "by hand")
    with tarfile.open(out / "book.tar.gz", "w:gz") as book:
        book.add(scratch, arcname="book")
    with gzip.open(out / "cover.gz", "wb") as cover:
        cover.write((scratch / "cover.txt").read_bytes())
    shutil.make_archive(str(out / "plain"), "tar", scratch / "pages")

for archive in sorted(out.iterdir()):
    print(archive.name, hashlib.sha256(archive.read_bytes()).hexdigest())
with zipfile.ZipFile(out / "book.zip") as book:
    for info in book.infolist():
        print(info.filename, info.date_time, info.file_size)
with tempfile.NamedTemporaryFile("w+", suffix=".txt") as note:
    note.write("scribble")
    note.seek(0)
    print(Path(note.name).name, note.read())
