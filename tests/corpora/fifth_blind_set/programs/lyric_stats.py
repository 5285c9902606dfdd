"""Lyric statistics in sqlite: distinct words per line, rare words per verse."""
import re
import sqlite3

VERSES = """the river bends and the willow sways
a lantern on the water counts the days
no train no whistle only morning haze
the piper plays and the piper pays
sing to the hollow sing to the hill
wheels on the gravel never keep still
one more chorus then we turn for the mill
one more chorus and I love you still""".splitlines()


def words(line):
    return re.findall(r"[a-z]+", line.lower())


class Lyrics:
    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.execute("CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT UNIQUE, n INT)")
        self.featured = []

    def add(self, line):
        found = words(line)
        self.db.executemany(
            "INSERT INTO word(text, n) VALUES (?, 1) "
            "ON CONFLICT(text) DO UPDATE SET n = n + 1",
            [(w,) for w in set(found)],
        )

    def feature(self, count):
        rows = self.db.execute("SELECT text FROM word NOT INDEXED WHERE n = 1 LIMIT ? OFFSET 3",
                               (count,))
        self.featured = [text for (text,) in rows]

    def state(self):
        total, = self.db.execute("SELECT SUM(n) FROM word").fetchone()
        return {"total": total, "featured": list(self.featured)}

    def restore(self, state):
        self.featured = list(state["featured"])


def main(run):
    rng = run.rng("verses")
    lyrics = run.track("lyrics", Lyrics())
    for tick in run.ticks(12):
        lyrics.add(VERSES[int(rng.integers(0, len(VERSES)))])
        if tick >= 4:
            lyrics.feature(4)
    lyrics.db.close()
    return len(lyrics.featured)
