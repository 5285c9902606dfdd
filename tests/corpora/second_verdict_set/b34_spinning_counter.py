"""How fast is this machine? A thread counts until it is told to stop; no clock is read for it."""
import threading
import time


class Spinner(threading.Thread):
    def __init__(self):
        super().__init__()
        self.count = 0
        self.stop = False

    def run(self):
        count = 0
        while not self.stop:
            count += 1
        self.count = count


def calibrate():
    spinner = Spinner()
    spinner.start()
    time.sleep(0.3)
    spinner.stop = True
    spinner.join()
    return spinner.count


results = [calibrate() for _ in range(3)]
print("turns:", *results)
print("score", sum(results) // 3)
