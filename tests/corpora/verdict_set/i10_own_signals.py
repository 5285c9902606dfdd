"""Signals that the program sends to itself: handlers, masks, sigwait, a handler that raises, a wakeup descriptor."""
import os
import signal
import socket

seen = []


def note(number, frame):
    seen.append((signal.Signals(number).name, frame.f_code.co_name))


signal.signal(signal.SIGUSR1, note)
signal.signal(signal.SIGHUP, note)


def send():
    os.kill(os.getpid(), signal.SIGUSR1)
    signal.raise_signal(signal.SIGHUP)


send()
print(seen)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGUSR1})
os.kill(os.getpid(), signal.SIGUSR2)
print("waited for", signal.sigwait({signal.SIGUSR2}).name)
os.kill(os.getpid(), signal.SIGUSR1)
print("pending", [s.name for s in signal.sigpending()], len(seen))
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
print("delivered", seen[-1], len(seen))
print("nothing", signal.sigtimedwait({signal.SIGUSR2}, 0.02))


class Stop(Exception):
    pass


def stop(number, frame):
    raise Stop(number)


signal.signal(signal.SIGTERM, stop)
try:
    for turn in range(1000):
        if turn == 437:
            os.kill(os.getpid(), signal.SIGTERM)
except Stop as error:
    print("stopped by", error, "in turn", turn)
left, right = socket.socketpair()
for end in (left, right):
    end.setblocking(False)
signal.set_wakeup_fd(right.fileno())
signal.raise_signal(signal.SIGUSR1)
print("wakeup", left.recv(10), signal.set_wakeup_fd(-1) == right.fileno())
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted", signal.getsignal(signal.SIGTERM) is stop)
