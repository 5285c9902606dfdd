"""What a child is given differs each time, what it answers does not: it counts characters."""
import ctypes
import subprocess


def entropy(count):
    buffer = ctypes.create_string_buffer(count)
    ctypes.CDLL(None).getrandom(buffer, count, 0)
    return buffer.raw.hex()


def count(text):
    done = subprocess.run(["wc", "-c"], input=text, capture_output=True, text=True, check=True)
    return int(done.stdout)


uploaded = [count(f"part {n}: {entropy(16)}\n") for n in range(3)]
print("characters uploaded:", uploaded)
