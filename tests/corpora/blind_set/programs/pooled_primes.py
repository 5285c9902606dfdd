"""Prime gaps in threads: ranges are shared out, results are put where they belong, and then read."""

import queue
import random
import threading
import time


def primes(start, stop):
    found = []
    for n in range(max(2, start), stop):
        if all(n % d for d in range(2, int(n**0.5) + 1)):
            found.append(n)
    return found


class Pool:
    """Workers that take jobs as they come; a result goes to the index of its job."""

    def __init__(self, workers):
        self.workers = workers
        self.jobs = queue.Queue()
        self.seconds = [0.0] * workers

    def work(self, number, results):
        while True:
            try:
                index, start, stop = self.jobs.get_nowait()  # innocent
            except queue.Empty:
                return
            begin = time.perf_counter()  # innocent
            results[index] = primes(start, stop)  # innocent
            self.seconds[number] += time.perf_counter() - begin

    def map(self, ranges):
        results = [None] * len(ranges)
        for index, (start, stop) in enumerate(ranges):
            self.jobs.put((index, start, stop))
        threads = [threading.Thread(target=self.work, args=(k, results)) for k in range(self.workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results


def gaps(found):
    return [b - a for a, b in zip(found, found[1:])]


class Histogram:
    def __init__(self):
        self.counts = {}

    def add(self, values):
        for value in values:
            self.counts[value] = self.counts.get(value, 0) + 1

    def top(self, n):
        return sorted(self.counts.items(), key=lambda pair: (-pair[1], pair[0]))[:n]


def main():
    rng = random.Random(66)
    pool, histogram = Pool(workers=4), Histogram()
    for batch in range(6):
        start = rng.randrange(1000, 9000)
        ranges = [(start + 400 * k, start + 400 * (k + 1)) for k in range(8)]
        results = pool.map(ranges)
        everything = [n for found in results for n in found]
        histogram.add(gaps(everything))
        print(f"batch {batch}: from {start}, {len(everything)} primes, last {everything[-1]}")
    for gap, count in histogram.top(5):
        print(f"gap {gap}: {count}")
    assert sum(pool.seconds) < 600


if __name__ == "__main__":
    main()
