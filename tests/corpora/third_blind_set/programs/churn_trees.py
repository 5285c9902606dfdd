"""Churn model: features are derived, screened and fed to gradient-boosted trees; the report names the riskiest."""

import json
import os
import tempfile

import numpy as np
import pandas as pd
import xgboost as xgb

ROWS = 700
KEYS = ("customer", "churned")


def customers(rng):
    frame = pd.DataFrame({
        "customer": np.arange(ROWS) + 1000,
        "tenure": rng.gamma(2.0, 14.0, ROWS).round(),
        "calls": rng.poisson(3.0, ROWS).astype(float),
        "bill": rng.normal(45, 12, ROWS).round(2),
        "roaming": rng.exponential(2.0, ROWS).round(2),
        "age": rng.integers(18, 80, ROWS).astype(float),
        "lines": rng.integers(1, 5, ROWS).astype(float),
    })
    risk = 0.5 * frame["calls"] - 0.06 * frame["tenure"] + 0.02 * frame["bill"] - 1.2
    frame["churned"] = (rng.random(ROWS) < 1 / (1 + np.exp(-risk))).astype(int)
    return frame


def derive(frame):
    out = frame.copy()
    out["bill_per_line"] = out["bill"] / out["lines"]
    out["calls_per_month"] = out["calls"] / (out["tenure"] + 1)
    out["roaming_share"] = out["roaming"] / out["bill"].clip(lower=5)
    out["senior"] = (out["age"] > 60).astype(float)
    out["constant"] = 1.0
    return out


class Schema:
    """What a model may look at."""

    def __init__(self, columns):
        self.columns = columns

    @classmethod
    def screen(cls, frame):
        numeric = set(frame.select_dtypes("number").columns)
        flat = {name for name in numeric if frame[name].nunique() < 2}
        usable = numeric - flat - set(KEYS)
        return cls([name for name in usable if frame[name].isna().mean() < 0.1])

    def matrix(self, frame):
        label = frame["churned"] if "churned" in frame else None
        return xgb.DMatrix(frame[self.columns].to_numpy(), label=label, feature_names=self.columns)


class Model:
    def __init__(self, schema, seed):
        self.schema = schema
        self.settings = {
            "objective": "binary:logistic", "eta": 0.2, "max_depth": 3, "nthread": 1, "seed": seed,
            "colsample_bytree": 0.5, "subsample": 0.8, "eval_metric": "logloss", "tree_method": "hist",
        }

    def fit(self, train, valid, rounds):
        self.curve = {}
        matrices = [(self.schema.matrix(valid), "valid")]
        self.booster = xgb.train(
            self.settings, self.schema.matrix(train), rounds, evals=matrices, evals_result=self.curve, verbose_eval=False
        )

    def score(self, frame):
        return self.booster.predict(self.schema.matrix(frame))


def through_file(model):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.json")
        model.booster.save_model(path)
        with open(path, encoding="utf-8") as text:
            kept = json.load(text)
        return int(kept["learner"]["learner_model_param"]["num_feature"])


def main():
    frame = derive(customers(np.random.default_rng(5)))
    print(f"{len(frame)} customers, {frame['churned'].sum()} churned")
    cut = int(0.7 * len(frame))
    order = np.random.default_rng(6).permutation(len(frame))
    train, valid = frame.iloc[order[:cut]], frame.iloc[order[cut:]]
    schema = Schema.screen(train)
    print(f"{len(schema.columns)} features: {', '.join(sorted(schema.columns))}")
    model = Model(schema, seed=9)
    model.fit(train, valid, 25)
    print(f"stored with {through_file(model)} features")
    scores = pd.Series(model.score(valid), index=valid["customer"])
    for customer, score in scores.nlargest(5).items():
        print(f"customer {customer}: {score:.4f}")
    print(f"logloss {model.curve['valid']['logloss'][-1]:.5f}")


if __name__ == "__main__":
    main()
