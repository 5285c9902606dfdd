"""A flock in a set of plain objects: it is visited in the order of addresses, and floats add up in that order."""
import hashlib


class Boid:
    def __init__(self, number):
        self.number = number
        self.speed = 1 / (number + 3)


flock = {Boid(n) for n in range(60_000)}
total = 0.0
order = hashlib.sha256()
for boid in flock:
    total = total * 0.999 + boid.speed
    order.update(boid.number.to_bytes(4, "little"))
print("leader:", next(iter(flock)).number)
print("first ten:", [boid.number for boid, _ in zip(flock, range(10))])
print("momentum:", total, "order:", order.hexdigest()[:16])
