"""Heating is controlled with tokens that are good for one renewal (exabird/ha-tado-x#36)."""

import asyncio


class InvalidGrant(Exception):
    pass


class Authority:
    def __init__(self):
        self.refresh_token = "r0"
        self.issued = 0

    async def serve(self, reader, writer):
        token = (await reader.readline()).decode().strip()
        if token == self.refresh_token:
            self.issued += 1
            self.refresh_token = f"r{self.issued}"
            writer.write(f"200 a{self.issued} {self.refresh_token}\n".encode())
        else:
            writer.write(b"400 invalid_grant\n")
        await writer.drain()
        writer.close()


class Api:
    def __init__(self, port, lifetime):
        self.port = port
        self.lifetime = lifetime
        self.access_token, self.refresh_token = "a0", "r0"
        self.expires = lifetime

    async def ensure_token(self):
        if asyncio.get_running_loop().time() >= self.expires - 60:
            await self.refresh()

    async def refresh(self):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(f"{self.refresh_token}\n".encode())
        status, *words = (await reader.readline()).decode().split()  # order: refreshed
        writer.close()
        if status != "200":
            raise InvalidGrant(words[0])
        self.access_token, self.refresh_token = words
        self.expires = asyncio.get_running_loop().time() + self.lifetime

    async def request(self, path):
        await self.ensure_token()
        return f"{path} with {self.access_token}"


async def poll(api):
    await asyncio.sleep(550)  # order: poll
    return await api.request("/rooms")


async def automation(api):
    for _ in range(11):
        await asyncio.sleep(50)
    for _ in range(12):
        await asyncio.sleep(0)  # order: automation
    return await api.request("/switch/off")


async def main():
    server = await asyncio.start_server(Authority().serve, "127.0.0.1", 7008)
    start = asyncio.get_running_loop().time()
    api = Api(7008, 600)
    api.expires += start
    await asyncio.gather(poll(api), automation(api))
    server.close()
    assert api.access_token == "a1"
