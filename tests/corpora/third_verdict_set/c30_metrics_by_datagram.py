"""Metrics go to a collector outside as datagrams, which nobody answers. (serve: that collector)"""
import ctypes
import os
import socket
import sys
import threading

PORT = 47230


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

if sys.argv[1:2] == ["serve"]:
    threading.Timer(300, os._exit, (0,)).start()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as collector:
        collector.bind(("127.0.0.1", PORT))
        open("ready", "w").close()
        while True:
            collector.recv(2000)
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for name in ("build", "test", "ship"):
    begun = nanoseconds()
    total = sum(n * n for n in range(20_000))
    client.sendto(f"{name}:{nanoseconds() - begun}|ns".encode(), ("127.0.0.1", PORT))
print("three metrics sent", total)
