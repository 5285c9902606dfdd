"""The time zone is a file of our own that the C library reads; another zone is copied over it later."""
import os
import time

os.environ["TZ"] = ":" + os.path.abspath("office.tz")
time.tzset()

for moment in (0, 1_000_000_000, 1_700_000_000):
    print(moment, time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(moment)))
print("offset", time.timezone)
