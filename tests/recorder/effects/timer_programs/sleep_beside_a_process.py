import multiprocessing as mp
import time


def work(q):
    for k in range(3):
        time.sleep(0.05)
        q.put(k)


if __name__ == "__main__":
    q = mp.Queue()
    p = mp.Process(target=work, args=(q,))
    p.start()
    time.sleep(1.2)
    n = q.qsize()
    p.join()
    print(n)
