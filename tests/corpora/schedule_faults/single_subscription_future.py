"""Agents subscribe through one container, which keeps one future for the answer (OFFIS-DAI/mango#158)."""

import asyncio


class Broker:
    """Acknowledges subscriptions by their number, through a callback."""

    def __init__(self):
        self.numbers = 0
        self.on_subscribe = None
        self.acknowledging = set()

    def subscribe(self, topic):
        self.numbers += 1
        task = asyncio.create_task(self.acknowledge(self.numbers))
        self.acknowledging.add(task)
        task.add_done_callback(self.acknowledging.discard)

    async def acknowledge(self, number):
        await asyncio.sleep(0)  # order: acknowledge
        self.on_subscribe(number)


class Container:
    def __init__(self, broker):
        self.broker = broker
        self.pending = None
        self.topics = {}
        broker.on_subscribe = self.acknowledged

    def acknowledged(self, number):
        if self.pending is not None:
            self.pending.set_result(number)
            self.pending = None

    async def subscribe_for_agent(self, agent, topic):
        self.pending = future = asyncio.get_running_loop().create_future()
        self.broker.subscribe(topic)
        await future
        self.topics.setdefault(agent, []).append(topic)


class Agent:
    def __init__(self, name, container):
        self.name = name
        self.container = container

    async def start(self, hops):
        for _ in range(hops):
            await asyncio.sleep(0)  # order: start
        await self.container.subscribe_for_agent(self.name, f"news/{self.name}")


async def main():
    container = Container(Broker())
    agents = [Agent("wind", container), Agent("sun", container)]
    await asyncio.gather(*(agent.start(4 * number) for number, agent in enumerate(agents)))
    assert set(container.topics) == {"wind", "sun"}
