"""Goes through a set of plain objects and a set of NaNs, whose order follows their addresses, and prints a digest of each order."""
import hashlib


class Part:
    def __init__(self, number):
        self.number = number


parts = {Part(number) for number in range(6000)}
order = ",".join(str(part.number) for part in parts)
print("parts", hashlib.sha256(order.encode()).hexdigest())
values = [float("nan") for _ in range(6000)]
place = {id(value): number for number, value in enumerate(values)}
print("values", hashlib.sha256(",".join(str(place[id(v)]) for v in set(values)).encode()).hexdigest())
