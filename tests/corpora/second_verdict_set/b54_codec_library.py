"""A codec is a shared library beside the program; another library is put under its name later."""
import ctypes
from pathlib import Path

codec = ctypes.CDLL(str(Path(__file__).parent / "libcodec.so"))

try:
    cbrt = codec.cbrt
except AttributeError:
    print("codec without cube root: lossless mode")
else:
    cbrt.restype, cbrt.argtypes = ctypes.c_double, [ctypes.c_double]
    print("codec levels:", [round(cbrt(n), 6) for n in range(5)])
