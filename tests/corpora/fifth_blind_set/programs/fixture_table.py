"""A league season in SQLite: clubs are entered, fixtures paired by row id, standings read back each round."""
import sqlite3

CLUBS = "Rovers Albion Wanderers Athletic Rangers Harriers Thistle Orient".split()


def schema(db):
    db.execute("create table club (id integer primary key, name text, points integer default 0)")
    db.execute("create table match (round integer, home integer, away integer)")


def enrol(db, names):
    db.executemany("insert into club (name) values (?)",
                   ((name,) for name in dict.fromkeys(names)))


def pair(db):
    ids = [row[0] for row in db.execute("select id from club order by id")]
    half = len(ids) // 2
    for number in range(len(ids) - 1):
        for home, away in zip(ids[:half], reversed(ids[half:])):
            db.execute("insert into match values (?, ?, ?)", (number, home, away))
        ids.insert(1, ids.pop())


def play(db, number, rng):
    for home, away in db.execute("select home, away from match where round = ? order by home", (number,)).fetchall():
        goals, against = int(rng.poisson(1.6)), int(rng.poisson(1.1))
        match (goals > against, goals == against):
            case (True, _):
                gain = (3, 0)
            case (_, True):
                gain = (1, 1)
            case _:
                gain = (0, 3)
        db.execute("update club set points = points + ? where id = ?", (gain[0], home))
        db.execute("update club set points = points + ? where id = ?", (gain[1], away))


def main(run):
    rng = run.rng("goals")
    db = sqlite3.connect(":memory:")
    schema(db)
    enrol(db, set(CLUBS) - {"Orient"} | {"County"})
    pair(db)
    table = run.track("table", {"points": {}, "leader": "", "weeks": 0})
    for tick in run.ticks(14):
        table["weeks"] += 1
        if tick < 7:
            continue
        play(db, tick - 7, rng)
        table["points"] = dict(db.execute("select name, points from club order by name").fetchall())
        table["leader"] = db.execute("select name from club order by points desc, name limit 1").fetchone()[0]
    db.close()
    return table["leader"]
