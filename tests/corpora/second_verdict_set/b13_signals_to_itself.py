"""A service that reloads, reports and stops by signals; it sends them to itself."""
import os
import signal
import sys
import time

settings = {"reloads": 0, "reports": []}


def reload(number, frame):
    settings["reloads"] += 1
    print("reload by", signal.Signals(number).name)


def report(number, frame):
    settings["reports"].append(time.time())
    print("report", len(settings["reports"]))


def stop(number, frame):
    print("stopping in", frame.f_code.co_name)
    sys.exit(128 + number)


def serve():
    for turn in range(3):
        os.kill(os.getpid(), signal.SIGHUP if turn % 2 else signal.SIGUSR1)
        print("turn", turn)
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        print("not that easily")
    previous = signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    os.kill(os.getpid(), signal.SIGUSR2)
    print("ignored", previous == signal.SIG_DFL)
    signal.raise_signal(signal.SIGTERM)
    print("never here")


signal.signal(signal.SIGHUP, reload)
signal.signal(signal.SIGUSR1, report)
signal.signal(signal.SIGTERM, stop)
try:
    serve()
finally:
    print(settings["reloads"], settings["reports"])
