"""Several megabytes of output: wide text, raw bytes, invalid UTF-8, zero bytes, carriage returns, both streams."""
import os
import sys

words = ["naïve", "Привет", "日本語", "🦉🧵", "e\u0301", "\u202eright", "tab\there"]
for number in range(60000):
    print(number, words[number % 7] * (number % 11), sep="\t")
sys.stdout.write("no end of line")
sys.stdout.flush()
sys.stdout.buffer.write(bytes(range(256)) * 2000)
sys.stdout.buffer.write(b"\xff\xfe\xc3(\x00\n")
sys.stdout.flush()
piece = b"p" * 65537 + b"\n"
sent = 0
while sent < len(piece):
    sent += os.write(1, piece[sent:])
for number in range(3000):
    print(f"error {number}: {words[number % 7]}", file=sys.stderr)
print("\ud800 alone".encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
try:
    print("\udcff")
except UnicodeEncodeError as error:
    print("refused:", error.reason)
sys.stdout.reconfigure(errors="backslashreplace", line_buffering=True)
print("\udcff escaped\rover\x1b[1mbold\x1b[0m")
print("x" * 3000000)
