"""A child by posix_spawn, not by subprocess; its output goes straight to ours, and it is a time."""
import os
import shutil


def spawn(*command):
    pid = os.posix_spawn(shutil.which(command[0]), command, os.environ)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


print("before", flush=True)
codes = [spawn("date", "+built at %s.%N"), spawn("sh", "-c", "exit 7")]
print("after", codes)
