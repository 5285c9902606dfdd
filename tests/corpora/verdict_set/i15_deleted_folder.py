"""The working folder is removed while the program stands in it; relative names fail, and a way back is found."""
import os
import subprocess
import sys

home = os.open(".", os.O_RDONLY)
os.mkdir("doomed")
os.chdir("doomed")
with open("last.txt", "w") as file:
    file.write("words")
    os.unlink("last.txt")
    os.rmdir("../doomed")
    file.write(" after")
for ask in (os.getcwd, lambda: open("new.txt", "w"), lambda: os.path.abspath("x"), lambda: os.listdir("."), lambda: os.stat("..").st_nlink > 0):
    try:
        print("answer", ask())
    except OSError as error:
        print(type(error).__name__, error.errno, error.strerror)
try:
    print(subprocess.run(["sh", "-c", "echo child"], capture_output=True, text=True, cwd="/").stdout)
finally:
    os.fchdir(home)
print("back", os.path.basename(os.getcwd()) != "doomed", os.path.exists("doomed"))
with open("proof.txt", "w") as file:
    print("written after", file=file)
sys.exit(len(open("proof.txt").read()))
