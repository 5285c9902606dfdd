"""A forked worker fails at a time that it reads itself; the parent dies with the worker's words."""
import os
import time


def worker(pipe):
    os.write(pipe, f"worker gave up at {time.time_ns()}".encode())
    os._exit(0)


def in_child(function):
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        function(writer)
    os.close(writer)
    text = b""
    while part := os.read(reader, 4096):
        text += part
    os.close(reader)
    os.waitpid(pid, 0)
    return text.decode()


message = in_child(worker)
raise RuntimeError(message)
