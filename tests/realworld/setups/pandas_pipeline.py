"""Orders of shops: read, cleaned, grouped, sampled and written, as a small pipeline of pandas is."""

import sys
from pathlib import Path

import pandas as pd

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
raw = folder / "orders.csv"

orders = pd.read_csv(raw, parse_dates=["date"])
orders["total"] = orders["price"] * orders["quantity"]
orders = orders.dropna(subset=["shop"]).drop_duplicates(subset=["order"])

by_shop = orders.groupby("shop").agg(total=("total", "sum"), orders=("order", "count"))
by_month = orders.groupby(orders["date"].dt.month)["total"].mean()

audit = orders.sample(frac=0.2)
train = orders.sample(frac=0.8, random_state=42)
test = orders.drop(train.index)

by_shop.to_parquet(folder / "by_shop.parquet")
by_month.to_csv(folder / "by_month.csv")
audit.to_csv(folder / "audit.csv", index=False)
train.to_parquet(folder / "train.parquet")
test.to_parquet(folder / "test.parquet")
print(by_shop.sort_values("total", ascending=False))
print(f"{len(train)} to train, {len(test)} to test, {len(audit)} to audit")
print("generated at", pd.Timestamp.now())
