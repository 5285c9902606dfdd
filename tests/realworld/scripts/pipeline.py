"""A pipeline of processes, one of which writes a file outside of the run."""

import subprocess
import sys

make = subprocess.Popen(
    ["sh", "-c", "echo b; echo a; date +%N; echo b; echo a"], stdout=subprocess.PIPE
)
order = subprocess.Popen(["sort"], stdin=make.stdout, stdout=subprocess.PIPE)
make.stdout.close()
print(subprocess.run(["uniq", "-c"], stdin=order.stdout, capture_output=True, text=True).stdout)
order.stdout.close()
print(order.wait(), make.wait())
subprocess.run(["sh", "-c", f"echo once >> {sys.argv[1]}; echo done"], check=True)
print(subprocess.check_output(["wc", "-c"], input=b"hello"))
try:
    subprocess.run(["sh", "-c", "echo no >&2; exit 3"], check=True, stderr=subprocess.PIPE)
except subprocess.CalledProcessError as error:
    sys.exit(error.returncode)
