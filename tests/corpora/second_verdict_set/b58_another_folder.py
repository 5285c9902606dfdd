"""It asks for its folder, a file's mode and time, a listing, the zone and the terminal; all differ later."""
import os
import shutil
import stat
import time
from pathlib import Path

import rates

print("working in", os.getcwd(), "rate", rates.RATE)
note = Path("note.txt")
status = note.stat()
print(note.read_text().strip(), stat.filemode(status.st_mode), status.st_mtime_ns, status.st_ino)
print("inbox:", sorted(os.listdir("inbox")), [entry.name for entry in os.scandir("inbox") if entry.is_file()])
print("override there:", Path("override.cfg").exists(), os.access("extra.txt", os.R_OK))
try:
    print(Path("extra.txt").read_text())
except FileNotFoundError as error:
    print("no extra:", error.strerror)
print(time.strftime("%H:%M %Z", time.localtime(0)), shutil.get_terminal_size(), os.environ.get("BS60_STAGE"))
