"""Tries to write to a database that another program has locked; the other program ends in between."""
import sqlite3

base = sqlite3.connect("q.db", timeout=0.05)
try:
    with base:
        base.execute("insert into q values(1)")
    line = f"written, rows {base.execute('select count(*) from q').fetchone()[0]}"
except sqlite3.OperationalError as error:
    line = f"refused: {error}"
with open("observed.txt", "w") as file:
    print(line, file=file)
print(line)
