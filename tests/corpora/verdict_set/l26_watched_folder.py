"""Watches a folder by inotify in C for a moment and prints whether anybody changed it; somebody does, until in between."""
import ctypes
import select

libc = ctypes.CDLL(None)
handle = libc.inotify_init1(0)
watch = libc.inotify_add_watch(handle, b"drop", 0x2 | 0x100)
poll = select.poll()
poll.register(handle, select.POLLIN)
ready = poll.poll(700)
line = f"watch {watch > 0}, somebody was there: {bool(ready)}"
with open("observed.txt", "w") as file:
    print(line, file=file)
print(line)
