"""Ends by sys.exit with a text while a thread still prints; an exception in a thread goes to its own hook."""
import atexit
import sys
import threading
import time


def hook(about):
    print("thread failed:", about.exc_type.__name__, about.exc_value, about.thread.name)


threading.excepthook = hook
go = threading.Event()


def late():
    go.wait()
    time.sleep(0.15)
    print("late line", time.strftime("%Y"))
    sys.exit(5)


def broken():
    raise LookupError("in a thread")


atexit.register(lambda: print("handler after the threads", threading.active_count()))
bad = threading.Thread(target=broken, name="bad")
bad.start()
bad.join()
threading.Thread(target=late, name="late").start()
sys.excepthook = lambda kind, value, trace: print("hook saw", kind.__name__)
try:
    sys.exit("the last words, äöü")
finally:
    go.set()
