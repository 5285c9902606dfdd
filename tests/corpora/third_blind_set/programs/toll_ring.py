"""A toll ring around a city: drivers' choices are tensors, the toll is steered by what the ring emits."""

import time

import torch

PEOPLE = 300_000


class City:
    def __init__(self):
        self.income = torch.rand(PEOPLE) * 2 + 0.5
        self.distance = torch.rand(PEOPLE) * 30
        self.habit = torch.zeros(PEOPLE)
        self.fleet = {"diesel": 0.19, "petrol": 0.17, "electric": 0.05}

    def drive(self, toll, weather):
        utility = 0.8 * self.income - 0.5 * toll + 0.02 * self.distance + self.habit + weather
        chance = torch.sigmoid(utility)
        self.habit.mul_(0.95).add_(chance, alpha=0.02)
        return chance


class Controller:
    """Moves the toll towards its aim and rings a little, as the real one did."""

    def __init__(self, aim):
        self.aim = aim
        self.toll = 1.0
        self.ripple = 0.37

    def steer(self, emitted):
        error = emitted / self.aim - 1.0
        self.ripple = (3.1 * self.ripple + error) % 1.0
        self.toll = min(9.0, max(0.0, self.toll + 0.6 * error))
        return self.toll

    def posted(self):
        """What stands on the signs: in steps of ten cents."""
        return round(self.toll + 0.2 * self.ripple, 1)


class Books:
    def __init__(self):
        self.takings = 0.0
        self.began = time.perf_counter()
        self.trips = []

    def enter(self, trips, posted):
        self.takings += posted * round(trips, -2)
        self.trips.append(round(trips, -3))

    def busiest(self):
        return max(range(len(self.trips)), key=self.trips.__getitem__)


def emitted(city, chance):
    share = sum(city.fleet.values()) / len(city.fleet)
    return float((chance * city.distance).sum()) * share


def main():
    city = City()
    controller = Controller(aim=330_000.0)
    books = Books()
    weather = torch.randn(40) * 0.2
    for day in range(40):
        chance = city.drive(controller.posted(), float(weather[day]))
        controller.steer(emitted(city, chance))
        books.enter(float(chance.double().mean()) * PEOPLE, controller.posted())
        print(f"day {day:2d} toll {controller.posted():.1f} trips {books.trips[-1]:.0f}")
    spent = time.perf_counter() - books.began
    print(f"takings {books.takings:.0f}, busiest day {books.busiest()}, {'quick' if spent < 1e6 else 'slow'}")


main()
