"""An order reserves goods and a courier at once. If there is no courier, the reservation is undone."""

import asyncio


class NoCourier(Exception):
    pass


class Warehouse:
    def __init__(self):
        self.free = 3
        self.reserved = {}

    async def reserve(self, order, amount):
        self.free -= amount
        await asyncio.sleep(0)  # order: reserve
        self.reserved[order] = amount

    def undo(self, order):
        self.free += self.reserved.pop(order, 0)


class Couriers:
    def __init__(self, free):
        self.free = free

    async def book(self, order):
        for _ in range(3):
            await asyncio.sleep(0)  # order: book
        if not self.free:
            raise NoCourier(order)
        self.free -= 1


class Shop:
    def __init__(self):
        self.warehouse = Warehouse()
        self.couriers = Couriers(1)

    async def order(self, number, amount):
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.warehouse.reserve(number, amount))
                group.create_task(self.couriers.book(number))
        except* NoCourier:
            self.warehouse.undo(number)


async def main():
    shop = Shop()
    await shop.order(1, 1)
    await shop.order(2, 2)
    assert shop.warehouse.free == 2, (
        f"{shop.warehouse.free} free, {shop.warehouse.reserved} reserved"
    )
