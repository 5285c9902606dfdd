"""Weights are added in the order of a set of plain objects, which are hashed by address."""


class Agent:
    def __init__(self, number):
        self.weight = 0.1 * number + 1e-9 * number * number


agents = {Agent(number) for number in range(200)}
total = 0.0
for agent in agents:
    total += agent.weight
print("total", total.hex(), "first", next(iter(agents)).weight)
