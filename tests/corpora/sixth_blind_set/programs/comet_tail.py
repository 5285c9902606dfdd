"""Comet light curve: nightly magnitudes are saved as text, read back, and a brightness law is fitted to the file."""
import os
import tempfile
from functools import partial

import numpy as np
from scipy.optimize import curve_fit

FMT = os.environ.get("COMET_FMT", "%.18e")


def law(r, m0, n):
    """Total magnitude at distance r from the sun."""
    return m0 + 2.5 * n * np.log10(r)


class LightCurve:
    def __init__(self, path, fmt):
        self.path = path
        self.rows = []
        self.save = partial(np.savetxt, fmt=fmt, header="r mag")

    def add(self, r, mag):
        self.rows.append((r, mag))

    def flush(self):
        self.save(self.path, np.array(self.rows))

    def load(self):
        return np.loadtxt(self.path, ndmin=2)


class Fitter:
    def __init__(self, curve, least=8):
        self.curve = curve
        self.least = least
        self.m0, self.n, self.fits = 6.0, 4.0, 0

    def night(self):
        self.curve.flush()
        if len(self.curve.rows) < self.least:
            return
        data = self.curve.load()
        (self.m0, self.n), _ = curve_fit(law, data[:, 0], data[:, 1], p0=(self.m0, self.n))
        self.fits += 1

    def state(self):
        return {"m0": round(float(self.m0), 6), "n": round(float(self.n), 6), "fits": self.fits}

    def restore(self, state):
        self.m0, self.n, self.fits = state["m0"], state["n"], state["fits"]


def main(run):
    rng = run.rng("seeing")
    handle, path = tempfile.mkstemp(suffix=".txt")
    os.close(handle)
    curve = LightCurve(path, FMT)
    fitter = run.track("fitter", Fitter(curve))
    sky = run.track("sky", {"r": 3.2, "nights": 0})
    try:
        for tick in run.ticks(20):
            sky["r"] = round(sky["r"] - 0.07 - 0.02 * float(rng.random()), 5)
            sky["nights"] += 1
            curve.add(sky["r"], law(sky["r"], 5.5, 4.4) + float(rng.normal(0, 0.08)))
            fitter.night()
    finally:
        os.unlink(path)
    return fitter.fits
