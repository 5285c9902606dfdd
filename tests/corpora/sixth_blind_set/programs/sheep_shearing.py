"""Shearing day: sheep come out of the catching pen, fleeces are graded and packed into bales."""
from collections import deque
from dataclasses import dataclass


@dataclass
class Fleece:
    sheep: int
    kilos: float
    grade: str = "B"


class Pen:
    def __init__(self, numbers):
        self.line = deque(numbers)
        self.spare = deque()

    def swap_lame(self):
        """Put a sheep that limps aside; true as long as somebody is left."""
        self.spare.append(self.line.popleft())
        return bool(self.line)

    def catch(self):
        return self.line.popleft() if self.line else None


class Shed:
    def __init__(self, pen, rnd):
        self.pen = pen
        self.rnd = rnd
        self.table = []
        self.bales = []
        self.kilos = 0.0

    def shear(self):
        number = self.pen.catch()
        if number is None:
            return None
        fleece = Fleece(number, round(2.5 + (number * 37 % 11) / 4 + self.rnd.random(), 2))
        fleece.grade = "A" if fleece.kilos > 4.2 else "B"
        self.table.append(fleece)
        return fleece

    def press(self):
        """Full bales only; the press stands still otherwise."""
        while len(self.table) >= 5:
            bale, self.table = self.table[:5], self.table[5:]
            weight = round(sum(f.kilos for f in bale), 2)
            self.bales.append((weight, sum(f.grade == "A" for f in bale)))
            self.kilos = round(self.kilos + weight, 2)

    def vet(self, tick):
        if tick % 6 == 3:
            assert self.pen.swap_lame(), "catching pen ran empty"

    def state(self):
        return {"bales": len(self.bales), "kilos": self.kilos, "table": len(self.table),
                "grade_a": sum(a for _, a in self.bales)}

    def restore(self, state):
        self.kilos = state["kilos"]


def main(run):
    rnd = run.streams.python("shears")
    pen = Pen(range(1, 61))
    shed = run.track("shed", Shed(pen, rnd))
    for tick in run.ticks(22):
        shed.shear()
        shed.shear()
        shed.vet(tick)
        shed.press()
    return {"bales": shed.bales}
