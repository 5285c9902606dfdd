"""A monitor and a receiver both renew the session when the server goes away (slackapi/python-slack-sdk#1065)."""

import asyncio


class Session:
    def __init__(self, url):
        self.url = url
        self.closed = False

    async def close(self):
        await asyncio.sleep(0)
        self.closed = True


class WebApi:
    """Each call makes the urls that were issued before worthless."""

    def __init__(self):
        self.issued = 0

    async def new_url(self):
        self.issued += 1
        url = f"wss://host/{self.issued}"
        await asyncio.sleep(0)  # order: url
        return url


class SocketModeClient:
    def __init__(self, api):
        self.api = api
        self.url = None
        self.session = None
        self.sessions = []

    async def connect(self):
        old = self.session
        self.session = Session(self.url)
        self.sessions.append(self.session)
        if old is not None:
            await old.close()

    async def renew(self):
        self.url = await self.api.new_url()
        await self.connect()

    async def monitor(self, interval, rounds):
        for _ in range(rounds):
            await asyncio.sleep(interval)  # order: monitor
            if self.session is None or self.session.closed:
                await self.renew()

    async def receive(self):
        for _ in range(3):
            await asyncio.sleep(0.5)  # order: receive
        await self.session.close()  # the server says goodbye
        await self.renew()


async def main():
    client = SocketModeClient(WebApi())
    await client.renew()
    await asyncio.gather(client.monitor(1.5, 2), client.receive())
    alive = [session for session in client.sessions if not session.closed]
    assert len(alive) == 1, f"{len(alive)} sessions are open"
    assert alive[0].url.endswith(str(client.api.issued)), f"{alive[0].url} is stale"
    assert client.api.issued == 2, f"{client.api.issued} urls were issued"
