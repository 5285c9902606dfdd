"""Every generator that people use without a seed, and some with one."""
import random

import numpy as np

print(random.random(), random.sample(range(100), 4), random.gauss(0, 1))
own = random.Random()
print(own.getrandbits(64), own.choices("abc", k=6))
print(random.SystemRandom().randrange(10**12))
print(np.random.rand(2), np.random.randint(0, 1000, 3))
fresh = np.random.default_rng()
print(fresh.standard_normal(3), fresh.permutation(6), fresh.integers(0, 10**9))
print(np.random.default_rng(5).random(2))
children = np.random.SeedSequence().spawn(2)
print([np.random.Generator(np.random.PCG64(c)).integers(10**6) for c in children])
print(np.random.RandomState(3).uniform(size=2))

deck = list(range(10))
random.shuffle(deck)
print(deck)
estimate = np.mean(np.sum(np.random.default_rng().random((2000, 2)) ** 2, axis=1) < 1) * 4
print("pi is about", estimate)
random.seed(11)
print(random.randint(1, 6), random.randint(1, 6))
