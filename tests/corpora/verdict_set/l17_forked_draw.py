"""A forked child draws entropy, leaves it in memory that it shares with its parent, and ends with a drawn exit code."""
import mmap
import os
import time

shared = mmap.mmap(-1, 4096)
child = os.fork()
if child == 0:
    shared[:16] = os.urandom(16)
    shared[16:24] = time.perf_counter_ns().to_bytes(8, "little")
    os._exit(os.urandom(1)[0] % 100)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print("child left", shared[:24].hex(), "and code", code)
