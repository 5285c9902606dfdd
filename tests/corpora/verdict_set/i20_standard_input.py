"""Reads standard input by input(), by lines and to the end; the verifier's standard input is another."""
import os
import select
import sys

print("name?", end=" ", flush=True)
name = input()
print("hello", name)
print("peeked", sys.stdin.readline().strip())
print("terminal", sys.stdin.isatty(), sys.stdin.fileno(), os.isatty(0))
numbers = [int(line) for line in (sys.stdin.readline() for _ in range(3))]
print("sum", sum(numbers))
rest = sys.stdin.read()
print("rest", len(rest), rest[-20:])
print("ready at the end", len(select.select([0], [], [], 0)[0]))
try:
    input("more? ")
except EOFError as error:
    print(type(error).__name__, error)
