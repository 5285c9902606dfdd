"""The driver through twice's adapter: keys that the server draws, an error, and a transaction that is given up."""

import sys

import psycopg

from twice.integrations import dbapi

where = f"host=127.0.0.1 port={sys.argv[1]} user=twice dbname=postgres"
with dbapi.connect(psycopg.connect, where) as connection:
    connection.execute("create table stock (id uuid default gen_random_uuid(), amount int)")
    for number in range(5):
        connection.execute("insert into stock (amount) values (%s)", (number * 3 % 4,))
    try:
        with connection.transaction():
            connection.execute("insert into stock (amount) values (1 / 0)")
    except psycopg.errors.DivisionByZero as error:
        print(type(error).__name__, error)
    for row in connection.execute("select id, amount, now() from stock order by id").fetchall():
        print(*row)
    print(connection.execute("select sum(amount), random() from stock").fetchone())
