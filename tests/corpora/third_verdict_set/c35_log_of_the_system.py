"""Warnings go to a log daemon outside by datagrams over a Unix socket. (serve: that daemon)"""
import ctypes
import logging
import logging.handlers
import os
import socket
import sys
import threading


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

if sys.argv[1:2] == ["serve"]:
    threading.Timer(300, os._exit, (0,)).start()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as daemon:
        daemon.bind("log.sock")
        open("ready", "w").close()
        while True:
            daemon.recv(2000)
handler = logging.handlers.SysLogHandler(address="log.sock")
log = logging.getLogger("press")
log.propagate = False
log.addHandler(handler)
for sheet in range(3):
    log.warning("sheet %d took %d ns", sheet, nanoseconds() % 10**6)
handler.close()
print("three sheets")
