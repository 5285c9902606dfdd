"""Environment, locale, time zone, terminal size and proxies as the libraries read them; the verifier's own are others."""
import getpass
import locale
import os
import platform
import shutil
import sys
import textwrap
import time
import urllib.request

print("who", os.environ.get("BS_WHO"), os.getenv("BS_ABSENT"), os.path.expandvars("$BS_WHO/${BS_ABSENT}"))
print("zone", time.tzname, time.timezone, time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime()), time.localtime(86400 * 200).tm_hour)
print("size", shutil.get_terminal_size(), textwrap.wrap("word " * 30, shutil.get_terminal_size().columns))
print("proxies", sorted(urllib.request.getproxies().items()), urllib.request.proxy_bypass("inner.example"))
locale.setlocale(locale.LC_ALL, "")
print("locale", locale.getlocale(), locale.getpreferredencoding(), locale.format_string("%d", 1234567, grouping=True), sys.getfilesystemencoding())
print("user", getpass.getuser(), os.path.expanduser("~"), os.getuid(), os.getlogin() if sys.stdin.isatty() else "no terminal")
print("machine", platform.node(), platform.machine(), platform.system(), os.cpu_count(), os.uname().release)
print("process", os.getpid(), os.getppid(), os.getcwd(), sys.argv)
print("order of a set of words", {"red", "green", "blue", "violet", "amber", "teal", "plum"})
os.environ["BS_WHO"] = "changed"
print("now", os.environ["BS_WHO"], os.environb[b"BS_WHO"])
