"""Fit the demand of a bakery with ridge regression, and print the plan for next week as a script does."""

import argparse
import json

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--penalty", type=float, default=0.5)
parser.add_argument("--out", default="plan.json")


def make_features(days):
    """Return weekday, holiday and sixty weather columns of so many days."""
    rng = np.random.default_rng(77)
    weekday = np.eye(7)[np.arange(days) % 7]
    holiday = (rng.random(days) < 0.05)[:, None].astype(float)
    weather = rng.integers(-8, 9, (days, 60)) / 8
    return np.hstack([weekday, holiday, weather])


def make_sales(features):
    rng = np.random.default_rng(78)
    weights = rng.integers(-20, 21, features.shape[1]) / 4
    return features @ weights + rng.integers(-12, 13, len(features)) + 140


def fit(features, sales, penalty):
    """Return the weights of ridge regression, and the leverage of each day."""
    inverse = np.linalg.inv(features.T @ features + penalty * np.eye(features.shape[1]))
    return inverse @ features.T @ sales, ((features @ inverse) * features).sum(axis=1)


def main():
    options = parser.parse_args()
    features = make_features(427)
    sales = make_sales(features)
    weights, leverage = fit(features[:420], sales[:420], options.penalty)
    plan = {f"day {day}": float(features[420 + day] @ weights) for day in range(7)}
    misses = [abs(want - got) for want, got in zip(sales[420:], plan.values(), strict=True)]
    print(f"worst miss {max(misses):.3f} loaves, highest leverage {leverage.max():.4f}")
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump(plan, out, indent=1)
    for day, loaves in plan.items():
        print(day, round(loaves))


if __name__ == "__main__":
    main()
