"""Children draw their own entropy: into a file, an exit code that no handle waits for, the inherited output, and a shared pipe."""
import os
import subprocess
import sys

lines = []
os.system("od -An -N8 -tx1 /dev/urandom > drawn.txt")
lines.append(open("drawn.txt").read().strip())
unwaited = subprocess.Popen(["sh", "-c", "exit $(od -An -N1 -tu1 /dev/urandom)"])
pid, status = os.waitpid(-1, 0)
lines.append(f"{pid == unwaited.pid} {os.waitstatus_to_exitcode(status)}")
sys.stdout.flush()
subprocess.run("od -An -N8 -tx1 /dev/urandom; od -An -N8 -tx1 /dev/urandom >&2", shell=True)
reader, writer = os.pipe()
racers = [subprocess.Popen(["sh", "-c", f"for i in 1 2 3 4 5 6 7 8 9; do echo {name}; sleep 0.00$(( $(od -An -N1 -tu1 /dev/urandom) % 5 )); done"], stdout=writer) for name in "pqr"]
os.close(writer)
with os.fdopen(reader) as pipe:
    lines.append(pipe.read().replace("\n", ""))
for racer in racers:
    racer.wait()
with open("observed.txt", "w") as file:
    file.write("\n".join(lines))
print("\n".join(lines))
