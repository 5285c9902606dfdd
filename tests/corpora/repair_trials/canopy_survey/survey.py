"""A survey of many plots, several at a time."""

from concurrent.futures import ThreadPoolExecutor

from plots import Plot, Settings
from points import PointSource


class Survey:
    """Estimates the cover of plots."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._points = PointSource(settings.seed)

    def estimate(self, plot: Plot) -> float:
        """Return the share of a plot's points that lie below a crown."""
        thrown = hits = 0
        for x, y in self._points.throw(self._settings.points):
            thrown += 1
            hits += plot.is_covered(x, y)
        return hits / thrown

    def run(self, plots: list[Plot]) -> list[float]:
        """Return the cover of each plot, in the order of the plots."""
        with ThreadPoolExecutor(self._settings.workers) as pool:
            return list(pool.map(self.estimate, plots))
