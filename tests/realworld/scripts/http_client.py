"""Asks a server through requests, httpx and aiohttp, one after another and all at once."""

import asyncio
import hashlib
import ssl
import sys
import time
import uuid

import aiohttp
import httpx
import requests

base, ca = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
context = ssl.create_default_context(cafile=ca) if ca else None


def short(data):
    return len(data), hashlib.sha256(data).hexdigest()[:12]


with requests.Session() as session:
    session.trust_env = False  # a variable would win over what is set here
    session.verify = ca or True
    session.headers["X-Request-Id"] = str(uuid.uuid4())
    for name in ("a", "b"):
        answer = session.get(f"{base}/{name}", params={"at": time.time()})
        print("requests", answer.status_code, answer.json(), answer.headers["X-Nonce"])
    print("requests", session.post(f"{base}/orders", json={"n": 1, "at": time.time()}).json())
    print("requests", session.get(f"{base}/missing").status_code)
    print("requests", short(session.get(f"{base}/large").content))
    with session.get(f"{base}/stream", stream=True) as answer:
        print("requests", [line.decode() for line in answer.iter_lines()])

with httpx.Client(verify=context or True, base_url=base) as client:
    print("httpx", client.get("/c").json(), client.post("/orders", content=b"x" * 10).json())
    with client.stream("GET", "/stream") as answer:
        print("httpx", list(answer.iter_lines()))


async def ask_httpx():
    async with httpx.AsyncClient(verify=context or True, base_url=base) as client:
        answers = await asyncio.gather(*(client.get(f"/httpx/{n}") for n in range(3)))
        print("httpx", [answer.json() for answer in answers])


async def ask_aiohttp():
    async with aiohttp.ClientSession(base) as session:

        async def one(name):
            async with session.get(f"/aiohttp/{name}", ssl=context or True) as answer:
                return await answer.json()

        print("aiohttp", await asyncio.gather(*map(one, "xyz")))
        async with session.post("/orders", data=b"y" * 20, ssl=context or True) as answer:
            print("aiohttp", answer.status, await answer.json(), answer.headers["X-Nonce"])
        async with session.get("/large", ssl=context or True) as answer:
            print("aiohttp", short(await answer.read()))


asyncio.run(ask_httpx())
asyncio.run(ask_aiohttp())
try:
    requests.get("http://127.0.0.1:9/", timeout=5)
except requests.ConnectionError as error:
    print("refused", type(error).__name__)
sys.exit(7)
