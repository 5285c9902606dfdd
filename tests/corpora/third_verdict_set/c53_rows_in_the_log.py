"""A database is read; what was added later stands in its write-ahead log, and the main file stays as it was. (keep)"""
import os
import sqlite3
import sys
import threading
import time

if sys.argv[1:2] == ["keep"]:
    threading.Timer(300, os._exit, (0,)).start()
    keeper = sqlite3.connect("stock.db", isolation_level=None)
    keeper.execute("pragma journal_mode=wal")
    keeper.execute("pragma wal_autocheckpoint=0")
    keeper.execute("create table item (name text, amount int)")
    keeper.execute("pragma wal_checkpoint(truncate)")
    keeper.execute("insert into item values ('screw', 40)")
    open("ready", "w").close()
    while True:
        if os.path.exists("more"):
            keeper.execute("insert into item values ('nail', 70)")
            os.remove("more")
        time.sleep(0.02)
with sqlite3.connect("stock.db") as database:
    for row in database.execute("select name, amount from item order by name"):
        print(*row)
print("main file", os.path.getsize("stock.db"))
