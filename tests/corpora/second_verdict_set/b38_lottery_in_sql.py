"""The lottery is drawn by SQLite, whose random() and clock nobody outside sees."""
import csv
import sqlite3

db = sqlite3.connect(":memory:")
db.execute("create table ticket (number integer primary key, holder text, drawn integer, at real)")
db.executemany("insert into ticket (holder) values (?)", [(f"player {n}",) for n in range(200)])
db.execute("update ticket set drawn = random(), at = julianday('now')")
winners = db.execute("select number, holder, drawn, at from ticket order by drawn limit 5").fetchall()

with open("winners.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["number", "holder", "drawn", "at"])
    writer.writerows(winners)
assert len(winners) == 5
