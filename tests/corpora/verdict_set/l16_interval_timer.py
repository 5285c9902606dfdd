"""Counts until a timer of the processor's time interrupts the loop by a signal, and prints how far it came."""
import signal


class Enough(Exception):
    pass


def ring(number, frame):
    raise Enough


signal.signal(signal.SIGVTALRM, ring)
signal.setitimer(signal.ITIMER_VIRTUAL, 0.08)
count = 0
try:
    while True:
        count += 1
except Enough:
    print("counted to", count)
