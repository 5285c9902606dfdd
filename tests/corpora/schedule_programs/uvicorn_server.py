"""uvicorn and httpx: five requests through the simulated network."""

import asyncio

import httpcore  # which looks for trio when it is loaded
import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route


async def main():
    async def hello(request):
        await asyncio.sleep(1)
        return JSONResponse({"n": request.query_params["n"]})

    app = Starlette(routes=[Route("/", hello)])
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=8000, log_level="warning"))
    t = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.1)
    async with httpx.AsyncClient(base_url="http://127.0.0.1:8000") as c:
        rs = await asyncio.gather(*(c.get("/", params={"n": n}) for n in range(5)))
    server.should_exit = True
    await t
    return [r.json() for r in rs]
