"""Work goes to a sink outside through ZeroMQ, whose sockets belong to C code. (serve: that sink)"""
import ctypes
import os
import sys
import threading

import zmq

PORT = 47234


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

context = zmq.Context()
if sys.argv[1:2] == ["serve"]:
    threading.Timer(300, os._exit, (0,)).start()
    sink = context.socket(zmq.REP)
    sink.bind(f"tcp://127.0.0.1:{PORT}")
    open("ready", "w").close()
    while True:
        sink.recv()
        sink.send(b"ok")
client = context.socket(zmq.REQ)
client.setsockopt(zmq.RCVTIMEO, 3000)
client.setsockopt(zmq.LINGER, 0)
client.connect(f"tcp://127.0.0.1:{PORT}")
for number in range(3):
    client.send(f"{number} {nanoseconds()}".encode())
    print(number, client.recv())
client.close()
context.term()
