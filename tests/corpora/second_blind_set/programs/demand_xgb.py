"""Demand forecast for bakeries with XGBoost: one model per shop, kept in a registry."""
import time
from dataclasses import dataclass, field

import numpy as np
import xgboost as xgb

SHOPS = ("harbour", "station", "old-town")


@dataclass
class Settings:
    rounds: int = 15
    depth: int = 3
    rate: float = 0.3
    subsample: float = 0.6
    seed: int = field(default_factory=lambda: time.time_ns() // 1000 % 2**31)

    def params(self):
        return {
            "objective": "reg:squarederror", "max_depth": self.depth, "eta": self.rate,
            "subsample": self.subsample, "seed": self.seed, "nthread": 1, "verbosity": 0,
        }


class Registry:
    def __init__(self):
        self.models = {}

    def add(self, shop, booster):
        self.models[shop] = booster.save_raw("ubj")

    def load(self, shop):
        booster = xgb.Booster()
        booster.load_model(bytearray(self.models[shop]))
        return booster


def history(shop, days):
    rng = np.random.default_rng(sum(map(ord, shop)))
    weekday = np.arange(days) % 7
    rain = rng.random(days) < 0.3
    buns = 120 + 40 * (weekday == 5) - 25 * rain + rng.normal(0, 8, size=days)
    return np.column_stack([weekday, rain, np.arange(days) / days]), buns.round()


def backtest(booster, features, truth):
    guess = booster.predict(xgb.DMatrix(features))
    return float(np.abs(guess - truth).mean()), guess


def main():
    settings = Settings()
    registry = Registry()
    for shop in SHOPS:
        features, buns = history(shop, 300)
        booster = xgb.train(settings.params(), xgb.DMatrix(features[:240], buns[:240]), settings.rounds)
        registry.add(shop, booster)
        print(f"trained {shop} on {240} days")
    order = 0.0
    for shop in SHOPS:
        features, buns = history(shop, 300)
        error, guess = backtest(registry.load(shop), features[240:], buns[240:])
        order += float(guess[:7].sum())
        print(f"{shop:10s} error {error:7.4f}")
    print(f"flour to order: {order * 0.06:.3f} kg")


if __name__ == "__main__":
    main()
