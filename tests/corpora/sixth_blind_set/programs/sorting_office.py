"""Sorting office network: parcels travel over equal-cost links; the router is an asyncio service fed by a queue."""
import asyncio

import networkx as nx

LINKS = [
    ("Hub", "Alder"), ("Hub", "Birch"), ("Hub", "Cedar"), ("Alder", "Port"), ("Birch", "Port"),
    ("Cedar", "Port"), ("Port", "Isle"), ("Alder", "Moor"), ("Cedar", "Moor"), ("Moor", "Cape"), ("Isle", "Cape"),
]


def open_links(closed):
    """Links that are served today, each once whatever way it was written down."""
    return {f"{min(a, b)}/{max(a, b)}" for a, b in LINKS} - {f"{min(a, b)}/{max(a, b)}" for a, b in closed}


def build(closed=()):
    graph = nx.Graph()
    graph.add_nodes_from(sorted({end for link in LINKS for end in link}))
    graph.add_edges_from(link.split("/") for link in open_links(closed))
    return graph


class Router:
    def __init__(self, graph):
        self.graph = graph
        self.load = {node: 0 for node in sorted(graph)}
        self.hops = 0
        self.queue = asyncio.Queue()

    async def serve(self):
        while True:
            start, goal = await self.queue.get()
            path = nx.shortest_path(self.graph, start, goal)
            self.hops += len(path) - 1
            for node in path[1:-1]:
                self.load[node] += 1
            self.queue.task_done()

    def state(self):
        return {"load": dict(self.load), "hops": self.hops}

    def restore(self, state):
        self.load, self.hops = dict(state["load"]), state["hops"]


def parcels(rnd, tick):
    """Local mail in the morning, the long hauls after noon."""
    if tick < 7:
        return [("Hub", rnd.choice(["Alder", "Birch", "Cedar"]))]
    return [("Hub", rnd.choice(["Port", "Isle", "Cape"])) for _ in range(2)]


async def day(run, router, rnd):
    clerk = asyncio.create_task(router.serve())
    for tick in run.ticks(18):
        for parcel in parcels(rnd, tick):
            await router.queue.put(parcel)
        await router.queue.join()
    clerk.cancel()
    await asyncio.gather(clerk, return_exceptions=True)


def main(run):
    router = run.track("router", Router(build(closed=[("Isle", "Cape")])))
    asyncio.run(day(run, router, run.streams.python("parcels")))
    return router.hops
