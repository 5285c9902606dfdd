"""Five workers that print when they are ready; nobody orders them."""
import queue
import threading

jobs = queue.Queue()
for n in range(40):
    jobs.put(n)


def worker(name):
    count = 0
    while True:
        try:
            n = jobs.get_nowait()
        except queue.Empty:
            break
        value = sum(i * i for i in range(n * 300)) % 1009
        print(f"job {n}: {value}")
        count += 1
    return count


threads = [threading.Thread(target=worker, args=(f"w{i}",)) for i in range(5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("all done")
