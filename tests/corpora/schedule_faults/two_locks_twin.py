"""Goods move between warehouses. A move takes the locks of both, always in the order of their names."""

import asyncio
from contextlib import AsyncExitStack


class Warehouse:
    def __init__(self, name, stock):
        self.name = name
        self.stock = stock
        self.lock = asyncio.Lock()


class Logistics:
    def __init__(self):
        self.north = Warehouse("north", 10)
        self.south = Warehouse("south", 10)
        self.log = []

    async def move(self, source, target, amount):
        async with AsyncExitStack() as stack:
            for warehouse in sorted((source, target), key=lambda w: w.name):
                await stack.enter_async_context(warehouse.lock)
                await self.note(f"locked {warehouse.name}")
            source.stock -= amount
            target.stock += amount
        await self.note(f"moved {amount} to {target.name}")

    async def note(self, text):
        await asyncio.sleep(0)
        self.log.append(text)


async def route_north(logistics):
    await logistics.move(logistics.south, logistics.north, 3)


async def route_south(logistics):
    for _ in range(4):
        await logistics.note("looking for a lorry")
    await logistics.move(logistics.north, logistics.south, 1)


async def main():
    logistics = Logistics()
    async with asyncio.TaskGroup() as group:
        group.create_task(route_north(logistics))
        group.create_task(route_south(logistics))
        group.create_task(route_north(logistics))
    assert (logistics.north.stock, logistics.south.stock) == (15, 5)
