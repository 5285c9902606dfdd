"""Which operations reach the world, in which words they are reported, and which are innocent."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from twice.recorder.audit.channels import BACK_CHANNELS, find_open_channel, find_owner, user_line
from twice.recorder.audit.inventory import SOURCES


def describe(event: str, *args: object) -> str | None:
    return BACK_CHANNELS[event][1](args)


def test_every_back_channel_can_be_allowed_by_its_name() -> None:
    assert {channel.source for channel, _ in BACK_CHANNELS.values()} <= {*SOURCES}


@pytest.mark.parametrize(
    ("event", "args", "words"),
    [
        ("socket.connect", (None, ("here", 9)), "socket.connect(('here', 9))"),
        ("twice.listen", (None, ("here", 9)), "socket.listen(('here', 9))"),
        ("socket.sendto", (None, None), None),
        ("socket.getaddrinfo", ("name.invalid", 80), "socket.getaddrinfo('name.invalid')"),
        ("socket.getaddrinfo", (b"127.0.0.1", 80), None),
        ("socket.getaddrinfo", ("fe80::1%eth0", 80), None),
        ("socket.getaddrinfo", (None, 80), None),
        ("socket.getnameinfo", (("127.0.0.1", 80),), "socket.getnameinfo(('127.0.0.1', 80))"),
        ("os.kill", (os.getpid(), 9), None),
        ("os.kill", (1, 9), "os.kill(1, 9)"),
        ("os.fork", (), "os.fork()"),
        ("os.spawn", (0, "a", ["a"]), "os.spawn('a', ['a'])"),
        ("mmap.__new__", (-1, 16), None),
        ("mmap.__new__", (7, 16), "mmap.mmap(7, 16)"),
        ("sqlite3.connect", (b":memory:",), None),
        ("sqlite3.connect", (Path("a.db"),), "sqlite3.connect('a.db')"),
        ("os.mkdir", ("x" * 200, 0o777), f"os.mkdir('{'x' * 116}...)"),
    ],
)
def test_an_operation_is_put_into_words_or_found_innocent(
    event: str, args: tuple[object, ...], words: str | None
) -> None:
    assert describe(event, *args) == words


@pytest.mark.parametrize("form", [str, os.fsencode, Path])
@pytest.mark.parametrize(
    ("name", "flags", "source"),
    [
        ("/dev/urandom", os.O_RDONLY, "entropy.device"),
        ("/sys/class/net", os.O_RDONLY, "files.device"),
        ("/dev/null", os.O_RDONLY, None),
        ("/dev/null", os.O_WRONLY, None),
        ("data/beside.txt", os.O_RDONLY, "files.open"),
        ("data/beside.pyc", os.O_RDONLY, None),
    ],
)
def test_a_file_is_judged_by_its_name_whatever_form_that_has(
    form: type, name: str, flags: int, source: str | None
) -> None:
    found = find_open_channel(form(name), flags, sys._getframe())

    assert (found and found.source) == source


def test_a_descriptor_that_is_opened_is_no_file_of_its_own() -> None:
    assert find_open_channel(0, os.O_RDONLY, sys._getframe()) is None


def test_an_operation_is_the_users_at_the_line_that_makes_it() -> None:
    owner, where = find_owner(sys._getframe())
    line = user_line()

    assert owner == "user"
    assert [each.rpartition(":")[0] for each in (where, line)] == [__file__, __file__]
