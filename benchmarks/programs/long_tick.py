"""A tick of 200,000 iterations: the order of a set is walked in the middle of one."""

ITERATIONS = 200_000


class Field:
    def __init__(self):
        self.heat = 0.0
        self.count = 0

    def state(self):
        return {"heat": self.heat, "count": self.count}

    def restore(self, state):
        self.heat, self.count = state["heat"], state["count"]


def main(run):
    field = run.track("field", Field())
    names = {"alpha", "beta", "gamma", "delta", "epsilon"}
    weights = {name: n * 0.37 for n, name in enumerate(sorted(names))}
    for tick in run.ticks(4):
        heat = field.heat
        for i in range(ITERATIONS):
            heat = heat + (i % 7) * 0.01
            if i == ITERATIONS // 2 and tick == 2:
                for name in names:  # guilty
                    heat = heat * 1.1 + weights[name]
        field.heat = heat
        field.count += 1
