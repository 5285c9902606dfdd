"""Prints load, free memory, free disk, processors that may be used, priority, limits and mask; the verifier's are others."""
import os
import resource
import shutil

lines = [
    f"load {os.getloadavg()}",
    f"free pages {os.sysconf('SC_AVPHYS_PAGES')}",
    f"free disk {shutil.disk_usage('/').free}",
    f"processors {sorted(os.sched_getaffinity(0))}",
    f"priority {os.getpriority(os.PRIO_PROCESS, 0)} {os.nice(0)}",
    f"open files {resource.getrlimit(resource.RLIMIT_NOFILE)}",
    f"mask {os.umask(0o22)}",
    f"times {os.times()}",
    f"used {resource.getrusage(resource.RUSAGE_SELF).ru_utime}",
]
with open("observed.txt", "w") as file:
    file.write("\n".join(lines))
print("\n".join(lines))
