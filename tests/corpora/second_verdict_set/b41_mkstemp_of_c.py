"""A scratch file whose name C's mkstemp makes up; it stays, and what is in it was drawn by C as well."""
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def scratch(prefix):
    name = ctypes.create_string_buffer(f"{prefix}XXXXXX".encode())
    descriptor = libc.mkstemp(name)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "mkstemp")
    return descriptor, name.value.decode()


buffer = ctypes.create_string_buffer(64)
libc.getrandom(buffer, 64, 0)
descriptor, name = scratch("part-")
header = b"PART" + (64).to_bytes(4, "little")
libc.write(descriptor, header + buffer.raw, len(header) + 64)
os.close(descriptor)
print("kept", os.path.getsize(name), "bytes")
