import sched
import time

s = sched.scheduler(time.monotonic, time.sleep)
out = []
for d in (0.03, 0.01, 0.02, 0.015):
    s.enter(d, 1, out.append, (d,))
s.run()
print(out)
