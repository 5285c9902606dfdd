"""A player takes frames from a generator, which is closed when the player stops (livekit/agents#2333)."""

import asyncio


class Source:
    def __init__(self, frames):
        self.frames = frames

    async def read(self):
        for number in range(self.frames):
            await asyncio.sleep(0)  # order: frame
            yield f"frame {number}"


class Player:
    def __init__(self, source):
        self.frames = source.read()
        self.played = []

    async def play(self):
        async for frame in self.frames:
            self.played.append(frame)

    async def stop(self):
        await self.frames.aclose()


class Room:
    def __init__(self, player):
        self.player = player

    async def listen(self):
        await self.player.play()

    async def leave(self, hops):
        for _ in range(hops):
            await asyncio.sleep(0)  # order: leave
        await self.player.stop()


async def main():
    player = Player(Source(3))
    room = Room(player)
    await asyncio.gather(room.listen(), room.leave(6))
    assert len(player.played) <= 3
