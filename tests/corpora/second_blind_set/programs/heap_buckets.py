"""A memory allocator experiment: objects are spread over buckets by where they lie.

The buckets decide in which order finalizers run, and in which order the arena is swept.
"""
import itertools
import threading
from collections import defaultdict


class Block:
    __slots__ = ("size", "tag", "freed", "__weakref__")

    def __init__(self, size, tag):
        self.size = size
        self.tag = tag
        self.freed = False


class Arena:
    def __init__(self, buckets):
        self.buckets = [[] for _ in range(buckets)]
        self.live = 0
        self.lock = threading.Lock()

    def adopt(self, block):
        with self.lock:
            self.buckets[(id(block) >> 4) % len(self.buckets)].append(block)
            self.live += block.size

    def sweep(self, wanted):
        """Free at least so many bytes, bucket by bucket."""
        freed = []
        for block in itertools.chain.from_iterable(self.buckets):
            if wanted <= 0:
                break
            if not block.freed:
                block.freed = True
                wanted -= block.size
                self.live -= block.size
                freed.append(block.tag)
        return freed

    def compact(self):
        for bucket in self.buckets:
            bucket[:] = [block for block in bucket if not block.freed]


def workload(rounds):
    """Sizes that repeat in a pattern, so that pressure comes in waves."""
    tag = 0
    for step in range(rounds):
        for size in (32, 64, 16 * (1 + step % 7), 128):
            tag += 1
            yield step, Block(size, tag)


def main():
    arena = Arena(13)
    freed_by_step = defaultdict(list)
    for step, block in workload(60):
        arena.adopt(block)
        if arena.live > 2500:
            freed_by_step[step].extend(arena.sweep(600))
            arena.compact()
    order = [tag for step in sorted(freed_by_step) for tag in freed_by_step[step]]
    print("sweeps at", sorted(freed_by_step))
    print("freed", len(order), "blocks; first ten:", order[:10])
    print("age at death:", sum(place * tag for place, tag in enumerate(order)) % 9973)
    print("live bytes:", arena.live)


if __name__ == "__main__":
    main()
