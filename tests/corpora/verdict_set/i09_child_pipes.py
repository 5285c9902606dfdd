"""Child processes used in many ways: pipes, conversation by lines, errors, timeouts, signals, inherited output."""
import os
import signal
import subprocess
import sys

done = subprocess.run(["sort", "-r"], input="b\na\nc\n", capture_output=True, text=True)
print(done.stdout.split(), done.returncode)
try:
    subprocess.check_output(["sh", "-c", "echo out; echo err >&2; exit 9"], stderr=subprocess.STDOUT)
except subprocess.CalledProcessError as error:
    print(error, error.output)
print(subprocess.getstatusoutput("echo $((6 * 7)); exit 4"))
first = subprocess.Popen(["printf", "3\\n1\\n2\\n"], stdout=subprocess.PIPE)
second = subprocess.Popen(["sort", "-n"], stdin=first.stdout, stdout=subprocess.PIPE)
first.stdout.close()
print(second.communicate(), first.wait())
talk = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
for word in ("one", "two", "three"):
    talk.stdin.write(word + "\n")
    print("cat says", talk.stdout.readline().strip())
talk.stdin.close()
print("cat left", talk.wait(), repr(talk.stdout.read()))
try:
    subprocess.run(["sleep", "20"], timeout=0.1)
except subprocess.TimeoutExpired as error:
    print(error)
sleeper = subprocess.Popen(["sleep", "20"])
print("running", sleeper.poll())
sleeper.send_signal(signal.SIGTERM)
print("ended", sleeper.wait(), signal.Signals(-sleeper.returncode).name)
sys.stdout.flush()
subprocess.run(["sh", "-c", "echo straight to the output; echo straight to the errors >&2"])
print("system", os.waitstatus_to_exitcode(os.system("exit 5")))
with os.popen("tr a-z A-Z < " + os.devnull + "; echo popen") as pipe:
    print(pipe.read())
with open("child.txt", "w") as file:
    subprocess.run([sys.executable, "-c", "import time; print(time.time())"], stdout=file, check=True)
print("child's clock", open("child.txt").read())
try:
    subprocess.run(["/no/such/program"])
except FileNotFoundError as error:
    print(error)
print(subprocess.run(["pwd"], cwd="/", env={"PATH": os.environ["PATH"], "WHO": "me"}, capture_output=True).stdout)
