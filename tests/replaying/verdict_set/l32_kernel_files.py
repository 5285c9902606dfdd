"""Reads what the kernel says under /proc in several ways: text, bytes, raw descriptors, a path object, a listing."""
import os
import pathlib

lines = [pathlib.Path("/proc/sys/kernel/random/uuid").read_text().strip()]
handle = os.open("/proc/sys/kernel/random/uuid", os.O_RDONLY)
lines.append(os.read(handle, 100).decode().strip())
os.close(handle)
with open("/proc/self/maps") as file:
    lines.append(next(line for line in file if "[stack]" in line).split()[0])
with open("/proc/self/stat", "rb") as file:
    lines.append(file.read().rsplit(b")")[1].decode())
lines.append(pathlib.Path("/proc/uptime").read_text().strip())
lines.append(str(sorted(os.listdir("/proc/self/fd"))))
lines.append(os.readlink("/proc/self"))
with open("observed.txt", "w") as file:
    file.write("\n".join(lines))
print("\n".join(lines))
