"""Writes random bytes of the process to a file without a name, in C, and gives it a name only at the end."""
import ctypes

libc = ctypes.CDLL(None)
libc.getauxval.restype = ctypes.c_void_p
libc.getauxval.argtypes = [ctypes.c_ulong]
noise = ctypes.string_at(libc.getauxval(25), 16)
O_TMPFILE, O_RDWR, AT_FDCWD, AT_SYMLINK_FOLLOW = 0o20200000, 2, -100, 0x400
handle = libc.open(b".", O_TMPFILE | O_RDWR, 0o644)
print("opened", handle >= 0, libc.write(handle, noise, 16))
print("named", libc.linkat(AT_FDCWD, b"/proc/self/fd/%d" % handle, AT_FDCWD, b"late.bin", AT_SYMLINK_FOLLOW))
libc.close(handle)
