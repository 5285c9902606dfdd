"""A message is sent from several buffers at once, by sendmsg, to a service outside. (serve: that service)"""
import ctypes
import os
import socket
import sys
import threading

PORT = 47233


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

if sys.argv[1:2] == ["serve"]:
    threading.Timer(300, os._exit, (0,)).start()
    with socket.create_server(("127.0.0.1", PORT)) as server:
        open("ready", "w").close()
        while True:
            connection, _ = server.accept()
            with connection:
                while connection.recv(4096):
                    connection.sendall(b"ok\n")
with socket.create_connection(("127.0.0.1", PORT)) as client:
    body = f"{nanoseconds():020d}".encode()
    sent = client.sendmsg([b"head;", body, b";tail"])
    print(sent, client.recv(100))
