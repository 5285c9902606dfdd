"""A sign-up answers at once and mails in the background, behind a middleware (Kludex/starlette#1438)."""

import asyncio

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route


class Mailer:
    def __init__(self):
        self.sent = []

    async def welcome(self, name):
        await asyncio.sleep(0)  # order: mail
        self.sent.append(name)


def make_app(mailer):
    async def sign_up(request):
        name = request.query_params["name"]
        return PlainTextResponse("welcome", background=BackgroundTask(mailer.welcome, name))

    async def add_header(request, call_next):
        response = await call_next(request)
        response.headers["x-shop"] = "1"
        return response

    middleware = [Middleware(BaseHTTPMiddleware, dispatch=add_header)]
    return Starlette(routes=[Route("/", sign_up)], middleware=middleware)


class Browser:
    """A client in process: it sends one request and goes away when it has the answer."""

    def __init__(self, app):
        self.app = app

    async def get(self, query):
        answered = asyncio.Event()
        events = [{"type": "http.request", "body": b"", "more_body": False}]
        messages = []

        async def receive():
            if events:
                return events.pop()
            await answered.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            await asyncio.sleep(0)  # order: send
            messages.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                answered.set()

        scope = {"type": "http", "method": "GET", "path": "/", "query_string": query, "headers": []}
        await self.app(scope, receive, send)
        return messages[0]["status"]


async def main():
    mailer = Mailer()
    status = await Browser(make_app(mailer)).get(b"name=ann")
    assert status == 200
    assert mailer.sent == ["ann"], mailer.sent
