"""Feeds a child with bytes drawn by the cryptographic library in C; what the child says is thrown away."""
import ctypes
import subprocess

noise = ctypes.create_string_buffer(16)
ctypes.CDLL("libcrypto.so.3").RAND_bytes(noise, 16)
child = subprocess.run(["wc", "-c"], input=noise.raw.hex().encode(), stdout=subprocess.DEVNULL, check=True)
print("child ended with", child.returncode)
