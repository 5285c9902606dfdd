"""Keeps orders in PostgreSQL through psycopg, whose I/O happens in C: one line names the adapter."""

import datetime as dt
import random
import sys
import uuid
from decimal import Decimal

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from twice.integrations import dbapi

url = f"host=127.0.0.1 port={sys.argv[1]} user=twice dbname=postgres"
with dbapi.connect(psycopg.connect, url) as connection:
    connection.execute(
        "create table if not exists sales (id uuid, n int, price numeric, at timestamptz, day date,"
        " more jsonb, raw bytea, tags text[])"
    )
    for number in range(3):
        row = (
            uuid.uuid4(), number, Decimal(random.randrange(10_000)) / 100,
            dt.datetime.now(dt.UTC), dt.date(2026, 1, 2),
            Jsonb({"n": [1, None]}), b"\0\xff", ["a", "b"],
        )  # fmt: skip
        connection.execute("insert into sales values (%s, %s, %s, %s, %s, %s, %s, %s)", row)
    with connection.transaction():
        connection.execute("update sales set n = n + 1")
    try:
        with connection.transaction():
            connection.execute("select 1 / 0")
    except psycopg.errors.DivisionByZero as error:
        print(type(error).__name__, error)
    print(
        connection.execute(
            "select count(*), sum(price), now(), txid_current() from sales"
        ).fetchone()
    )

with dbapi.connect(psycopg.connect, url, row_factory=dict_row) as connection:
    with connection.cursor() as cursor:
        cursor.execute("select * from sales order by n")
        print([column.name for column in cursor.description], cursor.rowcount, cursor.statusmessage)
        for row in cursor:
            print(row)
