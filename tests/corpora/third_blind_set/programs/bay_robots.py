"""Robots in a storage hall: bays ask for pallets, robots are kept in racks by turn, batteries wear."""

from collections import deque


class Robot:
    def __init__(self, number, cells):
        self.number = number
        self.charge = 100.0
        self.cells = cells
        self.trips = 0

    def carry(self, metres):
        self.charge -= 0.05 * metres / self.cells
        self.trips += 1


class Rack:
    """Where robots of one shift stand; the first in is the first out."""

    def __init__(self):
        self.waiting = deque()

    def park(self, robot):
        self.waiting.append(robot)

    def call(self):
        return self.waiting.popleft() if self.waiting else None


class Hall:
    def __init__(self, orders, wear, robots=40, racks=7):
        self.orders, self.wear = orders, wear
        self.racks = [Rack() for _ in range(racks)]
        self.robots = [Robot(number, 1.0 + number % 4 * 0.25) for number in range(robots)]
        self.ready = set(self.robots)
        self.away = []
        self.moved = 0
        self.open = 0
        self.names = {robot: f"R{robot.number:02d}" for robot in self.robots}

    def shift(self):
        """Everybody that is charged goes to a rack; racks are told apart by the robot itself."""
        charged = [robot for robot in self.robots if robot in self.ready and robot.charge > 20]
        for robot in charged:
            self.racks[hash(robot) % len(self.racks)].park(robot)
            self.ready.discard(robot)

    def demand(self):
        self.open += int(self.orders.poisson(3.0))

    def serve(self, tick):
        for rack in self.racks:
            if not self.open:
                break
            robot = rack.call()
            if robot is None:
                continue
            metres = float(self.wear.uniform(40, 160))
            robot.carry(metres)
            self.away.append((tick + 2, robot))
            self.open -= 1
            self.moved += 1

    def back(self, tick):
        for due, robot in [entry for entry in self.away if entry[0] <= tick]:
            self.away.remove((due, robot))
            self.ready.add(robot)

    def recharge(self):
        for robot in self.robots:
            if robot in self.ready:
                robot.charge = min(100.0, robot.charge + 1.5)

    def step(self, tick):
        self.back(tick)
        self.recharge()
        if tick % 6 == 5:
            self.shift()
        self.demand()
        if tick > 10:
            self.serve(tick)

    def state(self):
        return {
            "robots": {self.names[robot]: [robot.charge, robot.trips] for robot in self.robots},
            "moved": self.moved, "open": self.open, "away": len(self.away),
        }

    def restore(self, state):
        for robot in self.robots:
            robot.charge, robot.trips = state["robots"][self.names[robot]]
        self.moved, self.open = state["moved"], state["open"]


def main(run):
    hall = run.track("hall", Hall(run.rng("orders"), run.rng("wear")))
    for tick in run.ticks(36):
        hall.step(tick)
