"""A joinery: several benches (threads) take boards from one pile and write to one job sheet."""
import sys
import threading
from collections import Counter

BENCHES = ["oak", "ash", "elm", "yew"]


class Sheet:
    """Shared between the benches; appending to a list is safe, the order is whatever it is."""

    def __init__(self):
        self.lines = []
        self.boards = 0

    def write(self, bench, board, joints):
        self.lines.append((bench, board, joints))
        self.boards += 1


class Pile:
    def __init__(self, boards):
        self.boards = list(boards)
        self.lock = threading.Lock()

    def take(self):
        with self.lock:
            return self.boards.pop() if self.boards else None


def saw(board):
    """Length of board decides how many joints it takes; a little honest work."""
    joints = 0
    for n in range(40 + board % 60):
        joints = (joints * 31 + board + n) % 97
    return joints


class Bench(threading.Thread):
    def __init__(self, name, pile, sheet, gate):
        super().__init__(name=name, daemon=True)
        self.pile, self.sheet, self.gate = pile, sheet, gate

    def run(self):
        self.gate.wait()
        while (board := self.pile.take()) is not None:
            self.sheet.write(self.name, board, saw(board))


def shift(boards):
    sheet, pile = Sheet(), Pile(boards)
    gate = threading.Barrier(len(BENCHES))
    benches = [Bench(name, pile, sheet, gate) for name in BENCHES]
    for bench in benches:
        bench.start()
    for bench in benches:
        bench.join()
    return sheet


def main(run):
    rng = run.rng("yard")
    order = run.track("order", {"last": [], "glue": 50.0})
    done = run.track("done", {"boards": 0, "by": {}})
    by = Counter()
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in run.ticks(10):
            sheet = shift([int(b) for b in rng.integers(100, 999, size=400)])
            order["last"] = [board for _, board, _ in sheet.lines[-5:]]
            for place, (_, _, joints) in enumerate(sheet.lines):
                order["glue"] = round(0.99 * order["glue"] + joints * (place % 7) / 100, 6)
            by.update(bench for bench, _, _ in sheet.lines)
            done["boards"] += len(sheet.lines)
            done["by"] = {name: by[name] for name in BENCHES}
    finally:
        sys.setswitchinterval(usual)
    return done["boards"]
