"""Keeps orders in PostgreSQL through pg8000, a driver written in Python."""

import datetime as dt
import random
import sys
import uuid

import pg8000.dbapi

connection = pg8000.dbapi.connect(
    "twice", host="127.0.0.1", port=int(sys.argv[1]), database="postgres"
)
cursor = connection.cursor()
cursor.execute("create table if not exists orders (id uuid, n int, price numeric, at timestamptz)")
for number in range(3):
    row = (uuid.uuid4(), number, random.randrange(10_000), dt.datetime.now(dt.UTC))
    cursor.execute("insert into orders values (%s, %s, %s, %s)", row)
connection.commit()
cursor.execute("select count(*), sum(price), now(), txid_current() from orders")
print(cursor.fetchone())
cursor.execute("select * from orders order by n")
for row in cursor.fetchall():
    print(row)
try:
    cursor.execute("select * from nowhere")
except pg8000.dbapi.DatabaseError as error:
    print(error.args[0]["M"])
    connection.rollback()
connection.close()
