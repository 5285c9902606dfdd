"""An anytime search: a timer signal ends it, and how far it came is the answer."""
import signal


class TimeUp(Exception):
    pass


def ring(number, frame):
    raise TimeUp


def search():
    n, best = 1, (0, 1)
    try:
        while True:
            n += 1
            length, x = 0, n
            while x != 1:
                x = x // 2 if x % 2 == 0 else 3 * x + 1
                length += 1
            best = max(best, (length, n))
    except TimeUp:
        return n, best


signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.4)
tried, best = search()
print("tried", tried, "best", best)
