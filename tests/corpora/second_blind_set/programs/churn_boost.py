"""Customer churn with LightGBM: features are built by small functions that register by name."""
import lightgbm as lgb
import numpy as np

FEATURES = {}


def feature(fn):
    FEATURES[fn.__name__] = fn
    return fn


@feature
def tenure(raw):
    return raw["months"]


@feature
def spend(raw):
    return raw["amount"]


@feature
def spend_per_month(raw):
    return raw["amount"] / (1 + raw["months"])


@feature
def complaints(raw):
    return raw["calls"] * (raw["mood"] < 0)


@feature
def night_owl(raw):
    return raw["night"]


@feature
def mood(raw):
    return raw["mood"]


DISABLED = {"night_owl"}


def simulate(count, seed):
    rng = np.random.default_rng(seed)
    raw = {
        "months": rng.integers(1, 72, size=count).astype(float),
        "amount": rng.gamma(2.0, 300.0, size=count),
        "calls": rng.poisson(1.2, size=count).astype(float),
        "mood": rng.standard_normal(count),
        "night": rng.random(count),
    }
    risk = 0.8 * raw["calls"] - raw["months"] / 24 - raw["mood"] + 0.5 * rng.standard_normal(count)
    return raw, (risk > 0.2).astype(int)


def design(raw, names):
    return np.column_stack([FEATURES[name](raw) for name in names])


def main():
    raw, churned = simulate(1500, seed=2)
    names = set(FEATURES) - DISABLED
    columns = list(names)
    matrix = design(raw, columns)
    cut = 1100
    params = {
        "objective": "binary", "num_leaves": 12, "learning_rate": 0.15, "feature_fraction": 0.6,
        "seed": 4, "deterministic": True, "num_threads": 1, "verbose": -1,
    }
    booster = lgb.train(params, lgb.Dataset(matrix[:cut], churned[:cut]), num_boost_round=25)
    chance = booster.predict(matrix[cut:])
    hits = (chance > 0.5) == churned[cut:]
    print(f"rows {len(matrix)}, features {len(columns)}, trees {booster.num_trees()}")
    print(f"accuracy {hits.mean():.4f}")
    print(f"log loss {-np.mean(np.log(np.where(churned[cut:] == 1, chance, 1 - chance))):.6f}")
    for customer in np.argsort(-chance, kind="stable")[:5]:
        print(f"  call customer {cut + customer}: {chance[customer]:.5f}")


if __name__ == "__main__":
    main()
