"""Sums under rounding modes of the processor that are chosen by random bits of the process; prints the digits of the sums."""
import ctypes
import platform

libc, libm = ctypes.CDLL(None), ctypes.CDLL("libm.so.6")
libc.getauxval.restype = ctypes.c_void_p
libc.getauxval.argtypes = [ctypes.c_ulong]
modes = [0, 0x400, 0x800, 0xC00] if platform.machine() == "x86_64" else [0, 0x400000, 0x800000, 0xC00000]
sums = []
for byte in ctypes.string_at(libc.getauxval(25), 16):
    for shift in (0, 2, 4, 6):
        libm.fesetround(modes[byte >> shift & 3])
        total = 0.0
        for term in range(1, 200):
            total += 1.0 / term
        libm.fesetround(0)
        sums.append(total)
print([value.hex() for value in sums])
