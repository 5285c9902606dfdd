"""Exit handlers, exit stacks, closed generators, weak references and finalizers, each printing as it ends."""
import atexit
import contextlib
import gc
import time
import weakref


@atexit.register
def bye():
    print("exit handler, first registered, runs last at", time.time())


atexit.register(print, "exit handler, second")


class Thing:
    def __init__(self, name):
        self.name = name
        self.me = self

    def __del__(self):
        print("deleted", self.name)


class Quiet:
    pass


def numbers():
    try:
        yield from range(10)
    finally:
        print("generator closed")


@contextlib.contextmanager
def named(name):
    print("enter", name)
    try:
        yield name
    except ValueError as error:
        print("swallowed", error)
    finally:
        print("leave", name)


with contextlib.ExitStack() as stack:
    for name in ("a", "b", "c"):
        stack.enter_context(named(name))
    stack.callback(print, "callback")
    stack.push(lambda *about: print("pushed sees", about[0].__name__) or False)
    raise ValueError("inside the stack")

stream = numbers()
print(next(stream), next(stream))
stream.close()
gc.disable()
cycle = Thing("in a cycle")
proxy = weakref.ref(cycle, lambda ref: print("weak reference died"))
del cycle
print("collected", gc.collect() > 0, proxy() is None)
keep = Quiet()
at_end = weakref.finalize(keep, print, "finalizer of the kept thing")
print("alive", at_end.alive)
with contextlib.suppress(FileNotFoundError), contextlib.closing(open("absent.txt")):
    print("not reached")
