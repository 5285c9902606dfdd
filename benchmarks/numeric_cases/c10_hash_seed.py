"""Weights are added in the order of a set of names."""

names = {f"agent{number}": 0.1 * number + 1e-9 * number * number for number in range(50)}
total = 0.0
for name in set(names):
    total += names[name]
print("total", total.hex(), "first", next(iter(set(names))))
