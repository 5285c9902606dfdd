"""Temporary files and folders whose random names are printed, and one that stays behind in the folder."""
import os
import pathlib
import tempfile

with tempfile.TemporaryDirectory(prefix="work-") as folder:
    inner = pathlib.Path(folder, "inner.txt")
    inner.write_text(folder)
    print("folder", folder, inner.read_text() == folder, os.listdir(folder))
print("gone", not os.path.exists(folder))
with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
    file.write("line\n" * 3)
    file.seek(0)
    print(file.name, file.read().count("line"), os.stat(file.name).st_size)
with tempfile.SpooledTemporaryFile(max_size=10) as spool:
    spool.write(b"0123456789")
    print("in memory", not spool._rolled)
    spool.write(b"more")
    print("rolled", spool._rolled)
    spool.seek(8)
    print(spool.read())
handle, name = tempfile.mkstemp(prefix="stays-", dir=".")
os.write(handle, os.path.basename(name).encode())
os.close(handle)
print("stays", name)
print(tempfile.mkdtemp(dir="."), tempfile.gettempdir(), tempfile.gettempprefix())
with tempfile.TemporaryFile() as nameless:
    nameless.write(os.urandom(100))
    nameless.seek(0)
    print("nameless", nameless.read().hex())
