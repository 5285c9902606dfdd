"""A vendored module comes as bytecode alone, without source; the bytecode is exchanged later."""
import calc_core

orders = [("pen", 3, 120), ("book", 1, 1999), ("lamp", 2, 3450)]


def line(name, count, cents):
    return f"{name:6s} {calc_core.gross(count * cents):7d}"


for order in orders:
    print(line(*order))
print("total", sum(calc_core.gross(count * cents) for _, count, cents in orders))
