"""A ledger: a batch of rows, a transaction that is given up, a copy, and what the server made of it."""

import sys

import psycopg

where = f"host=127.0.0.1 port={sys.argv[1]} user=twice dbname=postgres"
with psycopg.connect(where) as connection:
    connection.execute(
        "create table ledger (id uuid default gen_random_uuid(), amount numeric, at timestamptz default now())"
    )
    with connection.cursor() as cursor:
        cursor.executemany(
            "insert into ledger (amount) values (%s)", [(n * 3 % 7,) for n in range(8)]
        )
        with cursor.copy("copy ledger (amount) from stdin") as copy:
            for amount in (100, 200):
                copy.write_row((amount,))
    try:
        with connection.transaction():
            connection.execute("insert into ledger (amount) values (1 / 0)")
    except psycopg.errors.DivisionByZero as error:
        print(error.sqlstate, error.diag.message_primary)
    for row in connection.execute("select id, amount, at from ledger order by id"):
        print(*row)
    print(connection.execute("select sum(amount), random() from ledger").fetchone())
