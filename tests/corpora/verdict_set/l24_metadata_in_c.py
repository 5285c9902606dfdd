"""Asks the C library when a file was changed and whether another may be executed; both are changed in between."""
import ctypes

libc = ctypes.CDLL(None)
about = ctypes.create_string_buffer(256)
libc.stat(b"data.bin", about)
changed = int.from_bytes(about.raw[88:96], "little")
line = f"changed at {changed}, may be executed: {libc.access(b'tool.sh', 1) == 0}"
with open("observed.txt", "w") as file:
    print(line, file=file)
print(line)
