"""Accounts in a mapped file are changed in place; the file looks otherwise when the run is verified."""
import mmap
import os
import struct
import time

SIZE = struct.calcsize("<16sqd")
with open("ledger.bin", "r+b") as file:
    file.truncate(6 * SIZE)
    with mmap.mmap(file.fileno(), 0) as ledger:
        for place, name in enumerate((b"ada", b"bob", b"cyd", b"dan")):
            old_name, cents, _ = struct.unpack_from("<16sqd", ledger, place * SIZE)
            cents = cents + 1000 if old_name.strip(b"\0") == name else 250 * (place + 1)
            struct.pack_into("<16sqd", ledger, place * SIZE, name, cents, time.time())
        ledger.move(4 * SIZE, 0, SIZE)
        ledger.flush()
        print(ledger.find(b"cyd"), ledger.rfind(b"ada"), len(ledger))
        for place in range(6):
            print(*struct.unpack_from("<16sqd", ledger, place * SIZE))
shared = mmap.mmap(-1, 4096)
child = os.fork()
if child == 0:
    shared[:5] = b"child"
    os._exit(0)
os.waitpid(child, 0)
print(shared[:8])
