"""Forked children that use neither clock nor entropy: a file, a pipe, exit codes, and one multiprocessing worker."""
import multiprocessing
import os
import sys


def triangle(count, end):
    end.send([n * (n + 1) // 2 for n in range(count)])
    end.close()


def main():
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with open("from_child.txt", "w") as file:
            file.write("written by the child\n" * 3)
        os.write(writer, b"said by the child")
        os._exit(3)
    os.close(writer)
    print("heard", os.read(reader, 100), "then", os.read(reader, 100))
    print("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print(open("from_child.txt").read())
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    worker = context.Process(target=triangle, args=(12, there))
    worker.start()
    there.close()
    print("worker", here.recv(), end=" ")
    worker.join()
    print(worker.exitcode)


if __name__ == "__main__":
    main()
