"""A watchdog has faulthandler write all threads' stacks into a file; threads are named by address there."""
import faulthandler
import threading

ready = threading.Barrier(3)
go_on = threading.Event()


def stuck():
    ready.wait()
    go_on.wait()


threads = [threading.Thread(target=stuck, name=f"stuck-{n}") for n in range(2)]
for thread in threads:
    thread.start()
ready.wait()
with open("hang.log", "wb", buffering=0) as file:
    faulthandler.dump_traceback(file=file, all_threads=True)
go_on.set()
for thread in threads:
    thread.join()
with open("hang.log") as file:
    print("wrote a dump that mentions stuck:", "stuck" in file.read())
