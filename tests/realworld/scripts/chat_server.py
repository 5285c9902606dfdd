"""A service of HTTP/1.1 for client programs: random words and pauses, refusals, broken answers, event streams."""

import asyncio
import hashlib
import json
import random
import secrets

R = random.SystemRandom()
WORDS = "sun wind rain storm calm north south warm cold".split()


def words() -> str:
    return " ".join(R.choice(WORDS) for _ in range(5))


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    tokens: dict[str, int] = SERVED
    try:
        while first := await reader.readline():
            _, target, _ = first.decode().split()
            headers = {}
            while line := (await reader.readline()).strip():
                name, _, value = line.decode().partition(":")
                headers[name.lower()] = value.strip()
            body = await read_body(reader, headers)
            path, _, query = target.partition("?")
            if path != "/quick":
                await asyncio.sleep(R.uniform(0.003, 0.1))
            status, told = 200, {"text": words(), "id": secrets.token_hex(4), "size": len(body)}
            if path == "/sse":
                await stream(writer)
                continue
            if path == "/flaky" and R.random() < 0.5:
                status = R.choice([429, 500, 503])
            if path == "/cut" and R.random() < 0.5:
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")
                return
            if path == "/token":
                tokens[told["id"]] = 2
            if path == "/page":
                session = headers.get("x-session", "")
                tokens[session] = tokens.get(session, 0) - 1
                if tokens[session] < 0:
                    status = 401
                number = int(query.partition("=")[2])
                told = {"items": words().split(), "next": number + 1 if number < 5 else None}
            if path == "/digest":
                told = {"sha256": hashlib.sha256(body).hexdigest()}
            data = secrets.token_bytes(60_000) if path == "/bytes" else json.dumps(told).encode()
            writer.write(b"HTTP/1.1 %d Told\r\ncontent-type: application/json\r\n" % status)
            writer.write(b"set-cookie: seen=%s\r\n" % secrets.token_hex(4).encode())
            writer.write(b"content-length: %d\r\n\r\n%s" % (len(data), data))
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(headers.get("content-length", 0)))
    body = b""
    while size := int(await reader.readline(), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readline()
    return body


async def stream(writer: asyncio.StreamWriter) -> None:
    writer.write(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    for number in range(8):
        data = f"data: {R.choice(WORDS)} {number}\n\n".encode()
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await writer.drain()
        await asyncio.sleep(R.uniform(0, 0.02))
    writer.write(b"0\r\n\r\n")
    await writer.drain()


SERVED: dict[str, int] = {}
"""How many pages each token is still good for."""


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
