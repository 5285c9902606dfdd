"""A watchdog thread ends the process hard while the main thread waits."""
import ctypes
import os
import threading
import time


def noise():
    buffer = ctypes.create_string_buffer(4)
    ctypes.CDLL(None).getrandom(buffer, 4, 0)
    return int.from_bytes(buffer.raw, "little")


def watchdog(limit):
    time.sleep(limit)
    os.write(1, f"watchdog: giving up, case {noise()}\n".encode())
    os._exit(7)


print("waiting for a reply", flush=True)
threading.Thread(target=watchdog, args=(0.3,), daemon=True).start()
threading.Event().wait(10)
print("a reply came")
