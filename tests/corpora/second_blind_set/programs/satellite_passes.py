"""Passes of satellites over ground stations; all times are UTC, whatever the clock on the wall says."""
import math
import time
from datetime import datetime, timedelta, timezone

STATIONS = {"Kiruna": (67.9, 21.1), "Redu": (50.0, 5.1), "Malargue": (-35.8, -69.4), "Perth": (-31.8, 115.9)}
START = datetime(2024, 3, 30, 22, 15, tzinfo=timezone.utc)


class Satellite:
    def __init__(self, name, period, inclination, phase):
        self.name = name
        self.period = period
        self.inclination = math.radians(inclination)
        self.phase = phase

    def subpoint(self, moment):
        """A circular orbit, good enough for planning."""
        minutes = (moment - START).total_seconds() / 60
        angle = 2 * math.pi * (minutes / self.period) + self.phase
        latitude = math.degrees(math.asin(math.sin(self.inclination) * math.sin(angle)))
        longitude = math.degrees(math.atan2(math.cos(self.inclination) * math.sin(angle), math.cos(angle)))
        return latitude, (longitude - minutes * 0.25 + 540) % 360 - 180


def near(first, second, degrees):
    (lat1, lon1), (lat2, lon2) = first, second
    a, b, c = math.radians(lat1), math.radians(lat2), math.radians(lon2 - lon1)
    cosine = math.sin(a) * math.sin(b) + math.cos(a) * math.cos(b) * math.cos(c)
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine)))) < degrees


def passes(satellite, station, hours):
    """Start and length of each pass, minute by minute."""
    began = None
    for minute in range(hours * 60):
        moment = START + timedelta(minutes=minute)
        visible = near(satellite.subpoint(moment), STATIONS[station], 14)
        if visible and began is None:
            began = moment
        elif not visible and began is not None:
            yield began, int((moment - began).total_seconds() // 60)
            began = None


def wall_clock(moment):
    """For the operator's display, which is switched off in batch runs."""
    return time.strftime("%H:%M %Z", time.localtime(moment.timestamp()))


def main(display=False):
    fleet = [Satellite("SEN-2", 100.6, 98.5, 0.3), Satellite("CRYO", 99.2, 92.0, 2.1)]
    screen = []
    for satellite in fleet:
        total = 0
        for station in sorted(STATIONS):
            for began, minutes in passes(satellite, station, 24):
                total += minutes
                screen.append(wall_clock(began))
                print(f"{satellite.name} {station:9s} {began:%Y-%m-%d %H:%M}Z {minutes:2d} min")
        print(f"{satellite.name} total {total} min")
    if display:
        print("\n".join(screen))


if __name__ == "__main__":
    main()
