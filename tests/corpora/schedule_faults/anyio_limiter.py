"""Scans share one scanner. A user gives up waiting just as the scanner becomes free (agronholm/anyio#947)."""

import asyncio

import anyio


class Scanner:
    def __init__(self):
        self.limiter = anyio.CapacityLimiter(1)
        self.scanned = []

    async def scan(self, name, hops):
        async with self.limiter:
            for _ in range(hops):
                await asyncio.sleep(0)  # order: scanning
            self.scanned.append(name)


class User:
    def __init__(self, name, scanner):
        self.name = name
        self.scanner = scanner
        self.scope = anyio.CancelScope()

    async def scan(self, hops):
        with self.scope:
            await self.scanner.scan(self.name, hops)

    async def give_up(self, after):
        for _ in range(after):
            await asyncio.sleep(0)  # order: gives up
        self.scope.cancel()


async def main():
    scanner = Scanner()
    patient, hasty, last = (User(name, scanner) for name in ("patient", "hasty", "last"))
    async with anyio.create_task_group() as group:
        group.start_soon(patient.scan, 8)
        await asyncio.sleep(0)
        group.start_soon(hasty.scan, 1)
        group.start_soon(hasty.give_up, 3)
        await asyncio.sleep(0)
        group.start_soon(last.scan, 1)
    assert "patient" in scanner.scanned
    assert "last" in scanner.scanned
