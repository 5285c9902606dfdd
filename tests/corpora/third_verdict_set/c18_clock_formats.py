"""Clocks and calendars in many forms: local and other zones, locale formats, headers, stamps in file names."""
import calendar
import email.utils
import locale
import os
import time
from datetime import datetime, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

print(locale.setlocale(locale.LC_ALL, ""), locale.localeconv()["decimal_point"])
print(time.strftime("%c %Z %z"), time.tzname, time.timezone, time.daylight)
print(time.ctime(), time.asctime(), time.localtime().tm_yday)
now = datetime.now()
print(now, now.astimezone().tzinfo, datetime.now(timezone.utc).isoformat())
for name in ("Europe/Berlin", "Asia/Kolkata", "America/St_Johns"):
    print(name, datetime.now(ZoneInfo(name)).strftime("%A %d. %B %H:%M:%S.%f %z"))
print(email.utils.formatdate(localtime=True), email.utils.make_msgid(domain="example.org"))
print(calendar.month(now.year, now.month).splitlines()[0], calendar.timegm(time.gmtime()))
print(datetime.fromtimestamp(0), time.mktime((2020, 7, 1, 12, 0, 0, 0, 0, -1)))
before, os.environ["TZ"] = os.environ.get("TZ"), "Asia/Tokyo"
time.tzset()
print(before, time.strftime("%H:%M %Z"), f"{1234567.891:n}", os.environ.get("LANG"))
print(time.clock_gettime(time.CLOCK_MONOTONIC), time.perf_counter_ns(), time.process_time())
Path(f"backup-{now:%Y%m%d-%H%M%S-%f}.txt").write_text(f"made at {now:%X %x}\n")
print(os.path.expanduser("~"), os.environ.get("USER"))
