"""Archives (zip, tar, gzip, bz2, xz) that hold the times of files just written, and are read back."""
import bz2
import gzip
import hashlib
import io
import lzma
import os
import pathlib
import shutil
import tarfile
import zipfile

pathlib.Path("in/sub").mkdir(parents=True)
for number in range(6):
    pathlib.Path("in", "sub" if number % 2 else ".", f"m{number}.dat").write_bytes(os.urandom(200) + b"same" * 500)
with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    for path in sorted(pathlib.Path("in").rglob("*")):
        archive.write(path)
    archive.writestr("now.txt", "made in memory")
with tarfile.open("a.tar.gz", "w:gz") as archive:
    archive.add("in")
    about = tarfile.TarInfo("made.txt")
    about.size = 4
    archive.addfile(about, io.BytesIO(b"made"))
with gzip.open("a.gz", "wt") as file:
    file.write("text\n" * 100)
with bz2.open("a.bz2", "wb") as file, lzma.open("a.xz", "wb") as other:
    file.write(b"b" * 1000)
    other.write(b"x" * 1000)
shutil.make_archive("whole", "gztar", "in")
with zipfile.ZipFile("a.zip") as archive:
    for about in archive.infolist():
        print(about.filename, about.date_time, about.CRC, about.compress_size)
with tarfile.open("a.tar.gz") as archive:
    for about in archive:
        print(about.name, about.mtime, about.uname, oct(about.mode), about.size)
    archive.extractall("out")
for name in ("a.zip", "a.tar.gz", "a.gz", "a.bz2", "a.xz", "whole.tar.gz"):
    print(name, hashlib.sha256(pathlib.Path(name).read_bytes()).hexdigest())
print(pathlib.Path("out/in/m0.dat").read_bytes() == pathlib.Path("in/m0.dat").read_bytes())
