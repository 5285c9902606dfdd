"""A breakfast counter: dishes are allotted to burners, tickets wait in a heap, plates go out later."""
import heapq
from collections import deque


MENU = {"omelette": 3, "hash": 4, "pancake": 3, "rasher": 2, "waffle": 5, "kipper": 4}


class Burner:
    def __init__(self, number):
        self.number = number
        self.queue = deque()
        self.left = 0
        self.dish = None

    def step(self):
        if self.dish is None and self.queue:
            self.dish = self.queue.popleft()
            self.left = MENU[self.dish]
        if self.dish is None:
            return None
        self.left -= 1
        if self.left == 0:
            done, self.dish = self.dish, None
            return done
        return None


def allot(dishes, burners):
    """Each dish has a home burner, so that pans stay seasoned."""
    home = {}
    for dish in dishes:
        home[dish] = burners[len(home) % len(burners)]
    return home


def tickets(rng, count):
    heap = []
    names = sorted(MENU)
    for number in range(count):
        heapq.heappush(heap, (int(rng.integers(12, 22)), number, names[int(rng.integers(len(names)))]))
    return heap


def main(run):
    rng = run.rng("guests")
    burners = [Burner(i) for i in range(3)]
    specials = {name for name in MENU}
    home = allot(specials, burners)
    heap = tickets(rng, 24)
    pass_shelf = run.track("shelf", {"plates": [], "served": 0, "minutes": 0})
    for tick in run.ticks(36):
        pass_shelf["minutes"] += 1
        while heap and heap[0][0] <= tick:
            _, _, dish = heapq.heappop(heap)
            home[dish].queue.append(dish)
        for burner in burners:
            plate = burner.step()
            if plate is not None:
                pass_shelf["plates"].append(plate)
                pass_shelf["served"] += 1
    return pass_shelf["served"]
