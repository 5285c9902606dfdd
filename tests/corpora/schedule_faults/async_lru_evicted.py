"""Profiles are cached for a minute, two of them at most (aio-libs/async-lru#480)."""

import asyncio

from async_lru import alru_cache


class Directory:
    def __init__(self):
        self.asked = []

    async def lookup(self, name):
        self.asked.append(name)
        await asyncio.sleep(0)  # order: lookup
        return name.title()


class Profiles:
    def __init__(self, directory):
        self.directory = directory

    @alru_cache(maxsize=2, ttl=60)
    async def get(self, name):
        return await self.directory.lookup(name)


async def page(profiles, name, hops):
    for _ in range(hops):
        await asyncio.sleep(0)  # order: page
    return await profiles.get(name)


async def main():
    profiles = Profiles(Directory())
    names = ["ann", "bob", "eve"]
    titles = await asyncio.gather(
        *(page(profiles, name, 5 * number) for number, name in enumerate(names))
    )
    Profiles.get.cache_clear()
    assert titles == ["Ann", "Bob", "Eve"]
