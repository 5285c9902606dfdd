"""Processes that only compute: a pool, an executor, and one process behind a queue."""
import multiprocessing
from concurrent.futures import ProcessPoolExecutor


def primes_below(limit):
    sieve = bytearray([1]) * limit
    sieve[:2] = b"\0\0"
    for n in range(2, int(limit**0.5) + 1):
        if sieve[n]:
            sieve[n * n :: n] = bytes(len(range(n * n, limit, n)))
    return sum(sieve)


def consume(inbox, outbox):
    for item in iter(inbox.get, None):
        outbox.put((item, item[::-1]))
    outbox.put(None)


def main():
    with multiprocessing.Pool(2) as pool:
        print(pool.map(primes_below, [10, 1000, 50_000, 200_000]))
        print(pool.starmap(pow, [(2, 10), (3, 5), (7, 3)]))
    with ProcessPoolExecutor(2) as executor:
        print(list(executor.map(primes_below, range(100, 600, 100))))
    inbox, outbox = multiprocessing.Queue(), multiprocessing.Queue()
    worker = multiprocessing.Process(target=consume, args=(inbox, outbox))
    worker.start()
    for word in ["stressed", "lager", "level", None]:
        inbox.put(word)
    for pair in iter(outbox.get, None):
        print(pair)
    worker.join()
    print("exit code", worker.exitcode)


if __name__ == "__main__":
    main()
