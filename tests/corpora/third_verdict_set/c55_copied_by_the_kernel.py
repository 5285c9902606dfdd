"""An input is copied to an output by the kernel, so that the program never has its content; the input changes later."""
import os
import shutil

source = os.open("master.bin", os.O_RDONLY)
target = os.open("copy.bin", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
size, done = os.fstat(source).st_size, 0
while done < size:
    done += os.sendfile(target, source, done, size - done)
os.close(source)
os.close(target)
shutil.copyfile("label.txt", "label-copy.txt")
print(size, "bytes copied")
