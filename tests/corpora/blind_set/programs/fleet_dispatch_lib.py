"""Policies of dispatch, and the settings that they read."""

import functools
import os

DEFAULTS = {"FLEET_MODE": "oldest", "FLEET_CITY": "utrecht", "FLEET_LIMIT": "40"}


class Setting:
    """One value, read when it is asked for first."""

    def __init__(self, name):
        self.name = name

    @functools.cached_property
    def value(self):
        return os.environ.get(self.name, DEFAULTS[self.name])  # guilty


def profile():
    return {name.removeprefix("FLEET_").lower(): Setting(name) for name in sorted(DEFAULTS)}  # innocent


class Policy:
    def __init__(self, settings, noon):
        self.limit = int(settings["limit"].value)
        self.settings = settings
        self.noon = noon
        self.settings["mode"].value  # noqa: B018  a wrong name shall be noticed in the morning

    def choose(self, orders, at, tick):
        """The index of the order that a van at a place takes."""
        if tick < self.noon or self.settings["mode"].value == "oldest":
            return 0
        return min(range(len(orders)), key=lambda k: (abs(orders[k][1] - at), k))
