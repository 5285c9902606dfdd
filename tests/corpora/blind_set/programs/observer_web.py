"""Sensors publish, observers listen; observers that are gone are forgotten by themselves."""

import random
import weakref


class Observer:
    """Listens to a sensor until nobody needs it."""

    def __init__(self, name, gain):
        self.name = name
        self.gain = gain
        self.level = 0.0

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return hash((Observer, id(self)))  # guilty


class Sensor:
    def __init__(self, name):
        self.name = name
        self.observers = weakref.WeakSet()
        self.sent = 0

    def subscribe(self, observer):
        self.observers.add(observer)

    def publish(self, value):
        """A value gets weaker with each one that heard it."""
        for observer in self.observers:  # guilty
            observer.level += observer.gain * value
            value *= 0.995
        self.sent += 1

    def audience(self):
        return len(self.observers)  # innocent


class House:
    """Holds observers, so that they live; some move out."""

    def __init__(self, rng, count):
        self.observers = [Observer(f"o{k:03d}", rng.uniform(0.5, 1.5)) for k in range(count)]

    def move_out(self, every):
        self.observers = [o for k, o in enumerate(self.observers) if k % every]

    def by_name(self):
        return sorted(self.observers, key=lambda o: o.name)  # innocent


def loudest(house):
    return max(house.observers, key=lambda o: (o.level, o.name))


def main():
    rng, values = random.Random(50), random.Random(51)
    house, sensor = House(rng, 700), Sensor("roof")
    for observer in house.by_name():
        sensor.subscribe(observer)
    print("audience", sensor.audience())
    house.move_out(every=9)
    del observer
    print("after some moved out", sensor.audience(), "first", house.by_name()[0].name)
    for hour in range(6):
        value = values.gauss(10, 2)
        sensor.publish(value)
        if hour < 4:
            print(f"hour {hour}: value {value:.4f}")
    weights = {o.name: round(o.gain, 3) for o in house.observers}
    print("gains", sum(weights[name] for name in sorted(weights)))  # innocent
    best = loudest(house)
    print(f"loudest {best.name} at {best.level:.6f}, sent {sensor.sent}")


if __name__ == "__main__":
    main()
