"""An alpine club raffles hut places: members and draws live in SQLite, which picks the winners."""
import sqlite3
from contextlib import closing

HUTS = {"Konkordia": 3, "Monte Rosa": 4, "Britannia": 2}
MEMBERS = ["Ada", "Beat", "Carla", "Dario", "Elin", "Flurin", "Gian", "Heidi", "Ivo", "Jana", "Kaspar", "Lea"]


class Club:
    def __init__(self, db):
        self.db = db
        db.execute("create table member(name text primary key, points integer not null)")
        db.execute("create table stay(week integer, hut text, name text)")
        db.executemany("insert into member values (?, 10)", [(name,) for name in MEMBERS])

    def entrants(self, week, rng):
        """Those who have time this week get a point for entering."""
        free = [name for name in MEMBERS if rng.random() < 0.7]
        self.db.executemany("update member set points = points + 1 where name = ?", [(n,) for n in free])
        return free

    def first_come(self, week, hut, free):
        for name in free[:HUTS[hut]]:
            self.stay(week, hut, name)

    def raffle(self, week, hut, free):
        marks = ",".join("?" * len(free))
        winners = self.db.execute(
            f"select name from member where name in ({marks}) order by random() limit ?",
            (*free, HUTS[hut]),
        ).fetchall()
        for (name,) in winners:
            self.stay(week, hut, name)

    def stay(self, week, hut, name):
        self.db.execute("insert into stay values (?, ?, ?)", (week, hut, name))
        self.db.execute("update member set points = points - 3 where name = ?", (name,))

    def state(self):
        points = dict(self.db.execute("select name, points from member order by name"))
        latest = self.db.execute("select hut, name from stay order by rowid desc limit 4").fetchall()
        return {"points": points, "latest": [list(row) for row in latest]}

    def restore(self, state):
        with self.db:
            for name, points in state["points"].items():
                self.db.execute("update member set points = ? where name = ?", (points, name))


def season(week):
    """Huts fill by arrival in spring and by raffle in summer."""
    return "summer" if week >= 4 else "spring"


def main(run):
    rng = run.rng("diaries")
    with closing(sqlite3.connect(":memory:")) as db:
        club = Club(db)
        run.track("club", club)
        for week in run.ticks(14):
            free = club.entrants(week, rng)
            for hut in HUTS:
                match season(week):
                    case "spring":
                        club.first_come(week, hut, free)
                    case "summer":
                        club.raffle(week, hut, free)
        return db.execute("select count(*) from stay").fetchone()[0]
