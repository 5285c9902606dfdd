"""httpx and Starlette without a server: handlers, one in a worker thread, and a streamed answer."""

import asyncio

import httpx
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route


async def main():
    async def hello(request):
        await asyncio.sleep(1)
        return JSONResponse({"n": request.query_params["n"]})

    def sync(request):
        return JSONResponse({"sync": True})

    async def stream(request):
        async def gen():
            for n in range(3):
                await asyncio.sleep(0.1)
                yield f"{n}\n"

        return StreamingResponse(gen())

    app = Starlette(routes=[Route("/", hello), Route("/sync", sync), Route("/stream", stream)])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://t") as c:
        rs = await asyncio.gather(*(c.get("/", params={"n": n}) for n in range(5)))
        return [r.json() for r in rs], (await c.get("/sync")).json(), (await c.get("/stream")).text
