"""A car park with tariffs by the hour: cars come and go, and the ticket machine bills them."""

import datetime as dt
import time

EPOCH = 1_709_542_800  # a Monday in March
HOUR = 3600


class Tariff:
    """Cents for an hour, by the hour of the day."""

    def __init__(self, day, night):
        self.day = day
        self.night = night

    def rate(self, hour):
        return self.day if 8 <= hour < 20 else self.night


class Machine:
    def __init__(self, tariff):
        self.tariff = tariff
        self.income = 0
        self.tickets = 0

    def bill(self, came, left):
        total = 0
        for stamp in range(came, left, HOUR):
            total += self.tariff.rate(local_hour(stamp))
        self.income += total
        self.tickets += 1
        return total


def local_hour(stamp):
    return dt.datetime.fromtimestamp(stamp).hour  # guilty


def week_day(stamp):
    return dt.datetime.fromtimestamp(stamp, tz=dt.timezone.utc).weekday()  # innocent


class Park:
    """Cars by plate, with the time at which they came."""

    def __init__(self, places):
        self.places = places
        self.cars = {}
        self.turned_away = 0

    def enter(self, plate, stamp):
        if len(self.cars) >= self.places:
            self.turned_away += 1
        else:
            self.cars[plate] = stamp

    def leaving(self, rng, stamp):
        for plate in [p for p, came in self.cars.items() if stamp - came >= 12 * HOUR]:  # innocent
            if rng.random() < 0.5:
                yield plate, self.cars.pop(plate)


def main(run):
    machine = run.track("machine", Machine(Tariff(day=300, night=100)))
    park = run.track("park", Park(places=40))
    week = run.track("week", {"weekend": 0, "rain": 0.0})
    arrivals, stays, rain = run.rng("arrivals"), run.rng("stays"), run.rng("rain")
    began = time.monotonic()  # innocent
    for tick in run.ticks(50):
        stamp = EPOCH + tick * HOUR
        for k in range(int(arrivals.integers(0, 4))):
            park.enter(f"{tick:03d}-{k}", stamp)
        for _, came in park.leaving(stays, stamp):
            machine.bill(came, stamp)
        week["weekend"] += week_day(stamp) >= 5
        week["rain"] += float(rain.exponential(0.3))
        if time.monotonic() - began > 100:
            break
