"""Descriptors, memory maps, scattered writes, pipes and file locks, with no buffered file in between."""
import fcntl
import mmap
import os
import select
import struct

handle = os.open("raw.bin", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o640)
os.pwrite(handle, b"tail", 8000)
os.writev(handle, [b"head", b"-", struct.pack("<d", 2.5)])
os.posix_fallocate(handle, 0, 12288)
print(os.fstat(handle).st_size, os.lseek(handle, 0, os.SEEK_CUR), os.pread(handle, 6, 7998))
with mmap.mmap(handle, 0) as view:
    view[4096:4102] = b"mapped"
    print(view.find(b"mapped"), view.rfind(b"tail"), len(view))
    view.move(5000, 4096, 6)
    view.flush()
    with memoryview(view) as window:
        print(bytes(window[5000:5006]), window[4095:4103].tolist())
fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
again = os.open("raw.bin", os.O_RDONLY)
try:
    fcntl.flock(again, fcntl.LOCK_SH | fcntl.LOCK_NB)
except BlockingIOError as error:
    print("locked:", error)
fcntl.flock(handle, fcntl.LOCK_UN)
os.ftruncate(handle, 9000)
twin = os.dup(handle)
os.lseek(twin, 2, os.SEEK_SET)
print(os.read(handle, 3))
for descriptor in (again, twin, handle):
    os.close(descriptor)
reader, writer = os.pipe()
print("ready before", select.select([reader], [], [], 0)[0])
os.write(writer, b"through a pipe")
print("ready after", len(select.select([reader], [], [], 0)[0]), os.read(reader, 7), os.read(reader, 100))
os.close(writer)
print("end", os.read(reader, 1))
log = os.open("append.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for number in range(5):
    os.lseek(log, 0, os.SEEK_SET)
    os.write(log, b"line %d\n" % number)
os.close(log)
try:
    os.close(log)
except OSError as error:
    print(error)
print(open("append.txt").read().split("\n"), os.path.getsize("raw.bin"))
