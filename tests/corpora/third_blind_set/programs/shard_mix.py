"""Reads Arrow shards through a shuffle buffer, packs token rows, and holds a part back for a bigram check."""

import io
import logging
import os
import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc

log = logging.getLogger("shards")
log.addHandler(logging.NullHandler())
log.setLevel(os.environ.get("READER_LOG", "WARNING"))
WORDS = "the a cat dog sees hears small old tree river under over runs sleeps and".split()
SHARDS, ROWS, LENGTH = 4, 90, 12


def write_shard(number):
    rng = np.random.default_rng([7, number])
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(3, 9))) for _ in range(ROWS)]
    table = pa.table({"id": pa.array(range(number * ROWS, (number + 1) * ROWS)), "text": texts})
    sink = io.BytesIO()
    with ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=32)
    return sink.getvalue()


class Reader:
    """Rows of all shards, one after the other."""

    def __init__(self, blobs):
        self.blobs, self.rows = blobs, 0

    def __iter__(self):
        for blob in self.blobs:
            with ipc.open_stream(blob) as stream:
                for batch in stream:
                    for row in batch.to_pylist():
                        self.rows += 1
                        yield row


class HoldOut:
    """Keeps a reservoir of rows for the check; the rest goes through."""

    def __init__(self, size, rng):
        self.size, self.rng = size, rng
        self.kept, self.seen = [], 0

    def through(self, rows):
        for row in rows:
            self.seen += 1
            if row["id"] % 3:
                yield row
            elif len(self.kept) < 60:
                self.kept.append(row)

    def peek(self, number=3):
        return [row["text"] for row in self.rng.sample(self.kept, number)]

    def draw(self):
        return self.rng.sample(self.kept, self.size)


def shuffled(rows, rng, size=40):
    buffer = []
    for row in rows:
        if len(buffer) < size:
            buffer.append(row)
            continue
        at = rng.randrange(size)
        row, buffer[at] = buffer[at], row
        yield row
    rng.shuffle(buffer)
    yield from buffer


def packed(rows, vocabulary):
    line = []
    for row in rows:
        line.extend(vocabulary[word] for word in row["text"].split())
        while len(line) >= LENGTH:
            yield line[:LENGTH]
            line = line[LENGTH:]


class Bigrams:
    def __init__(self, size):
        self.counts = np.ones((size, size))

    def add(self, tokens):
        np.add.at(self.counts, (tokens[:-1], tokens[1:]), 1)

    def surprise(self, tokens):
        shares = self.counts / self.counts.sum(1, keepdims=True)
        return float(-np.log(shares[tokens[:-1], tokens[1:]]).sum())


def main():
    vocabulary = {word: place for place, word in enumerate(sorted(set(WORDS)))}
    reader = Reader([write_shard(number) for number in range(SHARDS)])
    hold_out = HoldOut(20, random.Random(31))
    model, lines, first = Bigrams(len(vocabulary)), 0, Counter()
    for line in packed(shuffled(hold_out.through(reader), random.Random(5)), vocabulary):
        model.add(line)
        first[line[0]] += 1
        lines += 1
        if lines == 25 and log.isEnabledFor(logging.DEBUG):
            log.debug("held back so far, for example: %s", hold_out.peek())
        if lines % 30 == 0:
            print(f"{lines} lines, {reader.rows} rows read, {len(hold_out.kept)} held back")
    common = max(first, key=lambda token: (first[token], token))
    print(f"most lines begin with {sorted(vocabulary)[common]!r}")
    for row in hold_out.draw()[:5]:
        tokens = [vocabulary[word] for word in row["text"].split()]
        print(f"row {row['id']:3d}: {model.surprise(tokens):.4f}")


if __name__ == "__main__":
    main()
