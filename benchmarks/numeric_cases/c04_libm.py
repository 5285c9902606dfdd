"""A chaotic map in pure Python."""

import math

place = 0.4
for _ in range(5000):
    place = 0.99 * math.sin(math.pi * place)
print("place", place.hex(), "power", math.pow(place, 1.7).hex())
