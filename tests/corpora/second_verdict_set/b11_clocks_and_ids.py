"""All the usual doors to the clock and to entropy."""
import calendar
import os
import secrets
import time
import uuid
from datetime import date, datetime, timedelta, timezone

print(time.time(), time.time_ns())
print(time.monotonic(), time.perf_counter_ns(), time.process_time(), time.clock_gettime(time.CLOCK_REALTIME))
print(time.ctime(), time.asctime(), time.strftime("%Y-%m-%d %H:%M:%S"), time.localtime().tm_yday)
print(calendar.timegm(time.gmtime()))
now = datetime.now()
print(now, datetime.utcnow(), datetime.now(timezone.utc).isoformat(), date.today())
print((datetime.today() - now) < timedelta(minutes=1), now.astimezone(timezone(timedelta(hours=3))))
print(uuid.uuid4(), uuid.uuid5(uuid.NAMESPACE_DNS, "example.org"))
print("dice", secrets.randbelow(10**9), "hex", os.urandom(6).hex(), os.getrandom(4).hex())
with open("/dev/urandom", "rb") as device:
    print(device.read(8).hex())
print(os.getpid(), os.getppid() > 0)
started = time.perf_counter()
time.sleep(0.05)
print("slept", time.perf_counter() - started)


class Order:
    __slots__ = ("number", "at")

    def __init__(self):
        self.number, self.at = uuid.uuid4().int % 10_000, datetime.now().time()


for order in (Order(), Order()):
    print(order.number, order.at)
