"""Reads a segment of shared memory that another program owns, through a memory map; its content is changed in between."""
import _posixshmem
import mmap
import os

handle = _posixshmem.shm_open("/bs_l21", os.O_RDONLY, mode=0o600)
with mmap.mmap(handle, os.fstat(handle).st_size, prot=mmap.PROT_READ) as view:
    text = bytes(view).decode().strip()
os.close(handle)
with open("observed.txt", "w") as file:
    print(text, file=file)
print("segment says", text)
