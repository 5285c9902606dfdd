"""The glue script everybody has: children for everything, some of them reading clock and entropy."""
import os
import subprocess
import sys

stamp = subprocess.check_output(["date", "+%s.%N"], text=True).strip()
print("build", stamp)

noise = os.popen("head -c 8 /dev/urandom | od -An -tx1").read().split()
print("nonce", "".join(noise))

child = "import os, time, sys; print(os.getpid(), time.time_ns(), os.urandom(4).hex()); sys.exit(4)"
done = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True)
print(done.returncode, done.stdout.strip())

with subprocess.Popen(["sort", "-r"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as sorter:
    out, _ = sorter.communicate("kiwi\nfig\nplum\n")
print(out.split(), sorter.returncode)

try:
    subprocess.run(["sleep", "5"], timeout=0.1)
except subprocess.TimeoutExpired as expired:
    print("gave up after", expired.timeout)
try:
    subprocess.run(["no-such-tool-here"])
except FileNotFoundError as missing:
    print(missing.strerror, missing.filename)

sys.stdout.flush()
print("status", os.system("echo made by sh > made.txt; date +%N; exit 3") >> 8)
with open("made.txt") as made:
    print(made.read().strip())
