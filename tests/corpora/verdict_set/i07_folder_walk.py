"""A folder tree is built, walked, copied, moved and removed; sizes, times, modes and listings are printed as they come."""
import os
import pathlib
import shutil
import stat

root = pathlib.Path("tree")
for number in range(24):
    path = root / f"d{number % 4}" / f"e{number % 3}" / f"f{number * 7919 % 97}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x" * number)
(root / "link").symlink_to("d1")
os.link(root / "d0" / "e0" / "f0.txt", root / "hard.txt")
for folder, folders, files in os.walk(root):
    print(folder, folders, files)
for entry in os.scandir(root):
    about = entry.stat(follow_symlinks=False)
    print(entry.name, entry.is_dir(), entry.is_symlink(), about.st_size if entry.is_file() else "-", about.st_mtime_ns, stat.filemode(about.st_mode), about.st_ino)
print([str(p) for p in root.rglob("*[13579].txt")])
print([str(p) for p in root.glob("d*/e1")])
shutil.copytree(root / "d2", "copy")
shutil.move("copy/e0", "moved")
os.replace("moved", "renamed")
print(sorted(os.listdir("renamed")), os.listdir("copy"))
shutil.rmtree(root / "d3")
os.utime(root / "d1" / "e1" / "f13.txt" if (root / "d1" / "e1" / "f13.txt").exists() else root, (1000000000, 1000000000))
os.chmod(root / "hard.txt", 0o600)
print(oct(os.stat(root / "hard.txt").st_mode), os.stat(root / "hard.txt").st_nlink, os.readlink(root / "link"))
print(os.path.getsize(root / "hard.txt"), shutil.disk_usage(".").total > 0, (root / "d3").exists())
print(os.path.realpath(root / "link"), os.path.samefile(root / "link", root / "d1"))
