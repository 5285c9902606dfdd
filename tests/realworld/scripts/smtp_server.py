"""An SMTP server: what it is given is appended to a file."""

import asyncio
import sys

from aiosmtpd.smtp import SMTP


def keep(envelope):
    with open(sys.argv[1], "a") as file:
        file.write(f"{envelope.mail_from} {envelope.rcpt_tos}\n")


class Keeper:
    async def handle_DATA(self, server, session, envelope):
        keep(envelope)
        return "250 kept"


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(Keeper()), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
