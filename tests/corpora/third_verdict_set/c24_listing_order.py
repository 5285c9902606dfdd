"""Files in the order of the folder, not sorted; later they lie there in another order."""
import fnmatch
import glob
import os
from pathlib import Path

print(os.listdir("inbox"))
print([(entry.name, entry.is_file(), entry.inode() > 0) for entry in os.scandir("inbox")])
print([path.name for path in Path("inbox").iterdir()])
print(glob.glob("inbox/*.txt"), fnmatch.filter(os.listdir("inbox"), "b*"))
for folder, folders, files in os.walk("inbox"):
    print(folder, folders, files)
first = os.listdir("inbox")[0]
total = 0.1
for path in Path("inbox").glob("*.txt"):
    total = total * 1.7 + len(path.read_text()) / 3
print(first, total)
with open("joined.txt", "w") as out:
    for name in os.listdir("inbox"):
        if name.endswith(".txt"):
            out.write(Path("inbox", name).read_text())
