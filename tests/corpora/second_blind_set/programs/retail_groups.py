"""Retail figures with polars: a lazy pipeline over synthetic receipts."""
import polars as pl

STORES = ["Aarhus", "Bergen", "Cork", "Delft", "Essen", "Faro"]
GOODS = ["tea", "rice", "soap", "nails", "paint"]


def numbers(seed, count, modulus):
    value = seed
    for _ in range(count):
        value = (value * 16807) % 2147483647
        yield value % modulus


def receipts(count):
    return pl.DataFrame(
        {
            "store": [STORES[n] for n in numbers(3, count, len(STORES))],
            "good": [GOODS[n] for n in numbers(5, count, len(GOODS))],
            "units": list(numbers(7, count, 12)),
            "cents": [50 + n for n in numbers(11, count, 2000)],
        }
    )


def prices():
    return pl.DataFrame({"good": GOODS, "margin": [12, 7, 20, 31, 25]})


class Report:
    def __init__(self, frame):
        self.frame = frame.lazy().join(prices().lazy(), on="good", how="left")

    def by(self, *keys):
        """Groups come in any order, so they are sorted before anybody sees them."""
        return (
            self.frame.group_by(list(keys))
            .agg(
                pl.len().alias("receipts"),
                pl.col("units").sum(),
                (pl.col("units") * pl.col("cents") * pl.col("margin")).sum().alias("profit"),
            )
            .sort(list(keys))
            .collect()
        )

    def dearest(self):
        grouped = self.frame.group_by("store").agg(pl.col("cents").max()).collect()
        best = max(grouped.rows(), key=lambda row: (row[1], row[0]))
        return best

    def stores_with(self, good):
        found = self.frame.filter(pl.col("good") == good).select("store").unique().collect()
        return set(found["store"].to_list())


def main():
    report = Report(receipts(2500))
    for store, receipts_, units, profit in report.by("store").rows():
        print(f"{store:8s} {receipts_:4d} receipts {units:5d} units {profit / 10000:10.2f}")
    grid = report.by("store", "good")
    print("cells:", grid.height, "largest:", grid["profit"].max())
    print("dearest:", *report.dearest())
    both = report.stores_with("tea") & report.stores_with("paint")
    print("tea and paint:", len(both))


if __name__ == "__main__":
    main()
