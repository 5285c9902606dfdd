"""A server of sessions: handles are made up at random, and people are told apart by them."""

import random
import tempfile
import uuid
from collections import OrderedDict


class Session:
    def __init__(self, user):
        self.user = user
        self.pages = 0
        self.idle = 0


class Server:
    """Sessions by handle, the oldest first; a handle is never shown."""

    def __init__(self, most):
        self.most = most
        self.sessions = OrderedDict()
        self.dropped = 0

    def login(self, user):
        handle = uuid.uuid4().hex  # innocent
        if len(self.sessions) >= self.most:
            self.sessions.popitem(last=False)  # innocent
            self.dropped += 1
        self.sessions[handle] = Session(user)
        return handle

    def visit(self, handle):
        session = self.sessions.get(handle)
        if session is None:
            return False
        session.pages += 1
        session.idle = 0
        return True

    def tick(self):
        for handle in list(self.sessions):
            session = self.sessions[handle]
            session.idle += 1
            if session.idle > 6:
                del self.sessions[handle]


class Browser:
    def __init__(self, user):
        self.user = user
        self.handle = None
        self.logins = 0

    def browse(self, server):
        if self.handle is None or not server.visit(self.handle):
            self.handle = server.login(self.user)
            self.logins += 1


def scratch():
    """Somewhere for uploads; it is gone before anybody knows its name."""
    with tempfile.TemporaryDirectory() as folder:  # innocent
        return bool(folder)


def main():
    rng, mood = random.Random(88), random.Random(89)
    server = Server(most=9)
    browsers = [Browser(f"user{k}") for k in range(14)]
    print("uploads possible:", scratch())
    for minute in range(40):
        for browser in browsers:
            if rng.random() < 0.25:
                browser.browse(server)
        server.tick()
        if minute % 8 == 7:
            open_ones = {session.user for session in server.sessions.values()}
            print(f"minute {minute}: {len(open_ones)} open, {server.dropped} dropped, mood {mood.random():.3f}")
    print("logins", " ".join(str(browser.logins) for browser in browsers))
    print("last in", ", ".join(sorted(session.user for session in server.sessions.values())))  # innocent


if __name__ == "__main__":
    main()
