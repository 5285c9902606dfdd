"""Three connections on an event loop, each with queries of its own, and a notification between two of them."""

import asyncio
import sys

import psycopg

WHERE = f"host=127.0.0.1 port={sys.argv[1]} user=twice dbname=postgres"


async def count(name):
    async with await psycopg.AsyncConnection.connect(WHERE) as connection:
        rows = [
            await (await connection.execute("select %s, random()", (f"{name}{n}",))).fetchone()
            for n in range(4)
        ]
    return rows


async def main():
    for rows in await asyncio.gather(*map(count, "abc")):
        print(rows)
    async with await psycopg.AsyncConnection.connect(WHERE, autocommit=True) as listener:
        await listener.execute("listen news")
        async with await psycopg.AsyncConnection.connect(WHERE, autocommit=True) as speaker:
            await speaker.execute("select pg_notify('news', random()::text)")
        async for notification in listener.notifies(stop_after=1):
            print(notification.channel, notification.payload)


asyncio.run(main())
