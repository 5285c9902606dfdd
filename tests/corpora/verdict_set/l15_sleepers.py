"""Three threads sleep equally long, many times over, and note who woke first."""
import threading
import time

woken = []


def sleeper(name, gate):
    gate.wait()
    for _ in range(60):
        time.sleep(0.004)
        woken.append(name)


gate = threading.Barrier(3)
threads = [threading.Thread(target=sleeper, args=(name, gate)) for name in "xyz"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("".join(woken))
