"""A tavern game: heroes take quests from a board, travel for some rounds, and fight what they find."""

import random
from collections import Counter, deque

QUESTS = [("rats", 3), ("bandits", 5), ("troll", 8), ("wyvern", 10), ("lich", 12)]
HEROES = {
    "Aldo": 5, "Brenn": 7, "Cael": 4, "Dagny": 8, "Eirik": 6,
    "Freya": 9, "Gisli": 3, "Hild": 6, "Ivar": 7, "Jorun": 5,
}


class Board:
    def __init__(self):
        self.won = Counter()
        self.gold = 0
        self.fallen = set()
        self.days = 0

    def line(self, number):
        return f"round {number:2d}: {sum(self.won.values()):3d} won, {self.gold:4d} gold, {len(self.fallen)} hurt"


def travel(rounds):
    for _ in range(rounds):
        yield "on the road"


def hero(name, strength, board):
    """A hero's life; a round each time that it is resumed."""
    yield from travel(9)
    hurt = 0
    while True:
        if hurt:
            hurt -= 1
            if not hurt:
                board.fallen.discard(name)
            yield "rests"
            continue
        quest, power = QUESTS[min(len(QUESTS) - 1, board.days // 12)]
        if strength + random.randint(1, 8) >= power:
            board.won[quest] += 1
            board.gold += power + random.randint(0, strength)
            yield "wins"
        else:
            hurt = 2
            board.fallen.add(name)
            yield "loses"


def company(names, board):
    """Everybody who signed; a name that was signed twice counts once."""
    signed = {name.strip().title() for name in names}
    return deque(hero(name, HEROES[name], board) for name in signed)


def signatures():
    rows = [name.lower() for name in HEROES] + ["  aldo", "HILD "]
    random.shuffle(rows)
    return rows


def play(rounds):
    board = Board()
    turn = company(signatures(), board)
    moods = Counter()
    for number in range(rounds):
        for _ in range(len(turn)):
            life = turn.popleft()
            moods[next(life)] += 1
            turn.append(life)
            board.days += number % 2
        if number % 5 == 4:
            turn.rotate(1)
        print(board.line(number), "hurt:", ", ".join(sorted(board.fallen)) or "-")
    return board, moods


def main():
    board, moods = play(24)
    for quest, _ in QUESTS:
        print(f"{quest:8s} {board.won[quest]}")
    print("rounds on the road:", moods["on the road"])


main()
