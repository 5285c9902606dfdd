"""Chess club analysis room: positions are queued for study, adjourned games are put away and resumed."""
import heapq
import pickle
import uuid

OPENINGS = ["Italian", "Caro-Kann", "Slav", "English", "Pirc", "Dutch", "Reti", "Alapin",
            "Vienna", "Benoni", "Bird", "Grob"]


class Study:
    def __init__(self, opening, weight):
        self.opening = opening
        self.weight = weight
        self.ticket = uuid.uuid4().hex
        self.moves = 0

    def __lt__(self, other):
        return (self.weight, self.ticket) < (other.weight, other.ticket)


class Room:
    def __init__(self, boards):
        self.boards = boards
        self.queue = []
        self.cupboard = b""
        self.scores = {}
        self.order = []

    def submit(self, study):
        heapq.heappush(self.queue, study)

    def adjourn(self):
        self.cupboard = pickle.dumps(self.queue)
        self.queue = []

    def resume(self):
        for study in pickle.loads(self.cupboard):
            heapq.heappush(self.queue, study)
        self.cupboard = b""

    def analyse(self, rng):
        for _ in range(self.boards):
            if not self.queue:
                return
            study = heapq.heappop(self.queue)
            study.moves += 1
            gain = rng.betavariate(2, 3)
            self.scores[study.opening] = round(self.scores.get(study.opening, 0.0) + gain, 5)
            self.order.append(study.opening)
            if study.moves < 3:
                study.weight += 4
                self.submit(study)

    def state(self):
        return {"scores": dict(self.scores), "order": self.order[-6:], "queued": len(self.queue)}

    def restore(self, state):
        self.scores = dict(state["scores"])
        self.order = list(state["order"])


def simul(rng, players):
    """An exhibition fills the evening before the analysis goes on."""
    results = {"won": 0, "drawn": 0, "lost": 0}
    for _ in range(players):
        results[rng.choices(list(results), weights=[6, 3, 1])[0]] += 1
    return results


def main(run):
    rng = run.streams.python("engine")
    room = run.track("room", Room(boards=4))
    evening = run.track("simul", {"won": 0, "drawn": 0, "lost": 0})
    for opening in OPENINGS:
        room.submit(Study(opening, weight=3))
    room.adjourn()
    for tick in run.ticks(20):
        if tick < 9:
            for key, count in simul(rng, 5).items():
                evening[key] += count
            continue
        if tick == 9:
            room.resume()
        room.analyse(rng)
    return room.order
