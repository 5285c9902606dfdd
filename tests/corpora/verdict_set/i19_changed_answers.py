"""Answers of the world are changed by the program after it has them; a later question must not see the change."""
import os
import platform
import random
import secrets
import socket
import subprocess
import time

for name in ("b", "a", "c"):
    os.makedirs(f"dir/{name}/deep", exist_ok=True)
listing = os.listdir("dir")
listing.sort()
listing.append("invented")
print(listing, os.listdir("dir"))
for folder, folders, files in os.walk("dir"):
    folders[:] = [f for f in sorted(folders, reverse=True) if f != "a"]
    print(folder, folders)
    folders.append("not-there") if folder.endswith("deep") else None
environment = os.environ.copy()
environment.clear()
print(len(environment), len(os.environ) > 0)
addresses = socket.getaddrinfo("127.0.0.1", 80, type=socket.SOCK_STREAM)
before = list(addresses)
addresses.clear()
print(before == socket.getaddrinfo("127.0.0.1", 80, type=socket.SOCK_STREAM))
done = subprocess.run(["echo", "said"], capture_output=True)
done.stdout += b"!"
done.args.append("more")
print(done.stdout, done.args, subprocess.run(["echo", "said"], capture_output=True).stdout)
noise = bytearray(os.urandom(16))
noise[:] = b"\0" * 16
print(noise, os.urandom(16).hex(), secrets.token_hex(8))
buffer = bytearray(16)
with open("/dev/urandom", "rb") as file:
    file.readinto(buffer)
copied = bytes(buffer)
buffer.reverse()
print(copied.hex(), bytes(reversed(buffer)) == copied)
own = random.Random()
state = own.getstate()
drawn = [own.random() for _ in range(3)]
own.setstate(state)
print(drawn == [own.random() for _ in range(3)], drawn)
moment = list(time.localtime())
moment[0] += 100
print(moment[0] - time.localtime().tm_year, platform.uname()._replace(node="x").node, platform.uname().node)
with open("text.txt", "w") as file:
    file.write("abc")
data = bytearray(open("text.txt", "rb").read())
data += b"def"
print(open("text.txt", "rb").read(), data)
