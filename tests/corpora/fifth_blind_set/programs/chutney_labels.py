"""Jar labels are written to a file and read back by the label printer, which counts what fits on a jar."""
import os
import tempfile

JARS = ["crème fraîche", "jalapeño", "plum", "käse", "fig", "açaí", "quince"]


def write_labels(path, labels):
    with open(path, "w", errors="replace") as handle:
        for label in labels:
            handle.write(label + "\n")


def read_labels(path):
    with open(path, "rb") as handle:
        return [line for line in handle.read().split(b"\n") if line]


class Printer:
    def __init__(self, width):
        self.width = width
        self.ink = 0
        self.jars = 0

    def label(self, raw):
        self.jars += 1
        self.ink += min(len(raw), self.width)

    def state(self):
        return {"ink": self.ink, "jars": self.jars}

    def restore(self, state):
        self.ink, self.jars = state["ink"], state["jars"]


def main(run):
    rng = run.rng("jars")
    printer = run.track("printer", Printer(14))
    descriptor, path = tempfile.mkstemp(suffix=".labels")
    os.close(descriptor)
    write_labels(path, JARS)
    labels = read_labels(path)
    for tick in run.ticks(20):
        if tick < 6:
            printer.label(b"blank")
            continue
        printer.label(labels[int(rng.integers(len(labels)))])
    os.unlink(path)
    return printer.ink
