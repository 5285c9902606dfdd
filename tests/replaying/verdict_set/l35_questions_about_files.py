"""Asks Python about files: a listing, a link's target, a time, a mode, a size, a missing name; all are changed in between."""
import glob
import os
import pathlib

lines = [
    f"listing {sorted(os.listdir('stock'))} {sorted(glob.glob('stock/*.txt'))}",
    f"link {os.readlink('latest')} {pathlib.Path('latest/name.txt').read_text().strip()}",
    f"time {os.stat('stock/a.txt').st_mtime} mode {oct(os.stat('stock/a.txt').st_mode)} executable {os.access('stock/a.txt', os.X_OK)}",
    f"size {os.path.getsize('growing.log')} missing {os.path.exists('absent.txt')}",
]
with open("observed.txt", "w") as file:
    file.write("\n".join(lines))
print("\n".join(lines))
