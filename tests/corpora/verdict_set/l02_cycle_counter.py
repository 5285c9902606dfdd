"""Reads the processor's cycle counter by machine code and returns it; the tracked state never shows it."""
import ctypes
import mmap
import platform

CODE = {"x86_64": bytes.fromhex("0f3148c1e2204809d0c3"), "aarch64": bytes.fromhex("40e03bd5c0035fd6")}[platform.machine()]


def counter():
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(CODE)
    function = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    return function()


def main(run):
    state = run.track("state", {"steps": 0})
    for tick in run.ticks(4):
        state["steps"] += 1
    return {"steps": state["steps"], "cycles": counter()}
