"""Leaves by os._exit with code 7: what was flushed stays, exit handlers and buffers do not run."""
import atexit
import os
import sys
import time

atexit.register(print, "never printed")
keep = open("unflushed.txt", "w")
keep.write("lost")
with open("flushed.txt", "w") as file:
    print("kept", time.time(), file=file)
print("flushed", time.time_ns())
sys.stdout.flush()
second = os.fdopen(os.dup(1), "w")
print("also lost, in the buffer of a second stream", file=second)
os.write(2, b"straight to the errors\n")
try:
    os._exit(7)
finally:
    print("nor this")
