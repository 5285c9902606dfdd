"""Four threads take items from one queue; who took which is printed, and no lock orders it."""
import queue
import sys
import threading

sys.setswitchinterval(1e-5)
items, taken, gate = queue.Queue(), [], threading.Barrier(4)
for number in range(1200):
    items.put(number)


def consume(name):
    gate.wait()
    while True:
        try:
            item = items.get_nowait()
        except queue.Empty:
            return
        for _ in range(1000 + item % 7):
            pass
        taken.append((item, name))


threads = [threading.Thread(target=consume, args=("abcd"[n],)) for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("".join(name for _, name in taken))
print([item for item, _ in taken])
