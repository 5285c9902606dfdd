"""Counts words of standard input, as small tools do."""

import collections
import sys
import time

first = sys.stdin.readline()
print("title:", first.strip(), "at", time.time())
words = collections.Counter(word for line in sys.stdin for word in line.split())
for word, count in sorted(words.items()):
    print(count, word)
sys.exit(0 if words else 4)
