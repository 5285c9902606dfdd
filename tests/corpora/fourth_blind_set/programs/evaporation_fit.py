"""Pan evaporation: daily losses are fitted with scipy; the start of the fit is the mean load of the open pans."""
import numpy as np
from scipy.optimize import minimize_scalar

PANS = {
    "north lawn": 0.1, "south lawn": 0.2, "boathouse": 0.3, "weir": 1e-3,
    "glasshouse": 0.7, "jetty": 1e8, "car park": 1.1, "mill pond": -1e8,
}


class Pan:
    def __init__(self, name, bias):
        self.name, self.bias = name, bias
        self.open = True


def mean_bias(pans):
    """Mean bias of the pans that are open today."""
    names = {pan.name for pan in pans if pan.open}
    total = sum(PANS[name] for name in names)
    return total / max(1, len(names))


def model(coefficient, heat, wind):
    return coefficient * heat * (1.0 + 0.1 * wind)


def fit(heat, wind, loss, start):
    """Coefficient that explains the losses best, in a bracket around the start."""

    def misfit(coefficient):
        return float(np.sum((model(coefficient, heat, wind) - loss) ** 2)) + 1e-3 * (coefficient - start) ** 2

    result = minimize_scalar(misfit, bounds=(start - 1.0, start + 2.0), method="bounded", options={"xatol": 1e-9})
    return float(result.x)


class Station:
    def __init__(self):
        self.coefficient = 0.4
        self.loss = 0.0
        self.fits = 0

    def state(self):
        return {"coefficient": self.coefficient, "loss": round(self.loss, 9), "fits": self.fits}

    def restore(self, state):
        self.coefficient, self.loss, self.fits = state["coefficient"], state["loss"], state["fits"]

    def day(self, heat, wind):
        self.loss += 0.001 * model(0.4, heat, wind)


def weather(rng):
    return float(rng.uniform(2.0, 9.0)), float(rng.uniform(0.0, 5.0))


def main(run):
    rng = run.rng("weather")
    noise = run.rng("noise")
    pans = [Pan(name, bias) for name, bias in PANS.items()]
    station = run.track("station", Station())
    log = []
    for tick in run.ticks(20):
        heat, wind = weather(rng)
        station.day(heat, wind)
        log.append((heat, wind, model(0.42, heat, wind) + float(noise.normal(0.0, 0.05))))
        if tick % 5 == 4:
            columns = np.array(log).T
            start = mean_bias(pans)
            station.coefficient = fit(columns[0], columns[1], columns[2], start)
            station.fits += 1
    return station.fits
