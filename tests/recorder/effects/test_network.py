"""Connections: what the program gave and was given is recorded, and replayed without any server."""

from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path

import pytest
import trustme

from httpservers import Server, serving
from programs import recorded, write
from twice.errors import EffectRefused
from twice.recorder.cadence import Cadence
from twice.recorder.effects.network.connection_summary import summarize_connections
from twice.recorder.runrecord import RunRecord
from twice.replayer.verification import Verification
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def replayed_alone(folder: Path, source: str, *, context: ssl.SSLContext | None = None) -> Server:
    """Record a program that asks a server, stop the server, and replay it twice."""
    with serving(context) as server:
        recorded(folder, source.replace("PORT", str(server.port))).close()
        asked = server.requests
    for _ in range(2):
        verification = verify(folder / "a.twice")
        assert verification.result == "PASS", verification
    assert server.requests == asked > 0
    return server


def changed(folder: Path, source: str, old: str, new: str) -> Verification:
    """Record a program, and hold what it is after an edit against the record."""
    with serving() as server:
        source = source.replace("PORT", str(server.port))
        recorded(folder, source).close()
    assert old in source
    write(folder, source.replace(old, new))
    return verify(folder / "a.twice", informational=True)


ASKS = """
import http.client

def main(run):
    connection = http.client.HTTPConnection("127.0.0.1", PORT)
    for tick in run.ticks(3):
        connection.request("POST", f"/{tick}", body=b"x" * 1000 * tick, headers={"X-Word": "one"})
        answer = connection.getresponse().read()
        run.compare("answer", answer)
        print(answer[:20])
"""


def test_requests_are_answered_from_the_record_when_the_server_is_gone(tmp_path: Path) -> None:
    replayed_alone(tmp_path, ASKS)


def test_the_body_that_came_in_is_the_one_that_is_given(tmp_path: Path) -> None:
    source = """
        import urllib.request

        def main(run):
            url = "http://127.0.0.1:PORT/big"
            data = bytes(range(256)) * 4000
            run.compare("body", urllib.request.urlopen(url, data=data).read())
    """
    replayed_alone(tmp_path, source)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('f"/{tick}"', 'f"/{tick + 1}"'),
        ('b"x" * 1000', 'b"y" * 1000'),
        ('"one"', '"two"'),
    ],
    ids=["path", "body", "header"],
)
@pytest.mark.sample(1)
def test_another_request_is_a_divergence_at_that_request(
    tmp_path: Path, old: str, new: str
) -> None:
    verification = changed(tmp_path, ASKS, old, new)
    assert verification.result == "FAIL"
    failure = verification.failure
    assert failure is not None
    assert failure.name == "effect"
    assert failure.tick == (1 if "x" in old else 0)
    assert failure.recorded != failure.replayed


def test_a_request_more_is_a_divergence(tmp_path: Path) -> None:
    verification = changed(tmp_path, ASKS, "run.ticks(3)", "run.ticks(4)")
    assert verification.result == "FAIL"
    assert verification.failure is not None
    assert "nothing more" in verification.failure.recorded


def test_a_request_less_is_a_divergence(tmp_path: Path) -> None:
    source = """
        import socket

        def main(run):
            with socket.create_connection(("127.0.0.1", PORT)) as connection:
                connection.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
                connection.sendall(b"and this goes unread")
    """
    verification = changed(tmp_path, source, 'connection.sendall(b"and', 'len(b"and')
    assert verification.result == "FAIL"


def test_a_connection_that_is_not_made_is_a_divergence(tmp_path: Path) -> None:
    source = """
        import socket

        def main(run):
            for port in [PORT, PORT]:
                socket.create_connection(("127.0.0.1", port)).close()
    """
    with serving() as server:
        source = source.replace("PORT", str(server.port))
        recorded(tmp_path, source).close()
        write(tmp_path, source.replace(f"[{server.port}, ", "["))
    assert verify(tmp_path / "a.twice", informational=True).result == "FAIL"


def test_a_refused_connection_is_refused_again(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    source = f"""
        import socket

        def main(run):
            for connect in (socket.create_connection, lambda to: socket.socket().connect_ex(to)):
                try:
                    run.compare("number", connect(("127.0.0.1", {port})))
                except OSError as error:
                    run.compare("error", repr(error))
    """
    recorded(tmp_path, source).close()
    with socket.create_server(("127.0.0.1", port)):
        assert verify(tmp_path / "a.twice").result == "PASS"


def test_a_reply_that_never_comes_times_out_again_without_waiting(tmp_path: Path) -> None:
    source = """
        import socket

        def main(run):
            with socket.create_connection(("127.0.0.1", PORT), timeout=0.2) as connection:
                try:
                    connection.recv(10)
                except TimeoutError as error:
                    run.compare("error", repr(error))
                connection.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
                run.compare("answer", connection.makefile("rb").read())
    """
    replayed_alone(tmp_path, source)


def test_tls_is_replayed_without_its_server(tmp_path: Path, authority: trustme.CA) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost", "127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    source = f"""
        import ssl, urllib.request, urllib.error

        def main(run):
            good = ssl.create_default_context(cafile={str(tmp_path / "ca.pem")!r})
            for context in (good, ssl.create_default_context(), good):
                try:
                    with urllib.request.urlopen("https://localhost:PORT/", context=context) as answer:
                        run.compare("answer", answer.read())
                except urllib.error.URLError as error:
                    run.compare("refused", repr(error))
    """
    assert replayed_alone(tmp_path, source, context=context).requests == 2


ASYNC = """
import asyncio, ssl

async def ask(number, context):
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT, ssl=context)
    writer.write(b"GET /%d HTTP/1.1\\r\\n\\r\\n" % number)
    await reader.readuntil(b"\\r\\n\\r\\n")
    data = await reader.readuntil(b":")
    writer.write(b"GET /again HTTP/1.0\\r\\n\\r\\n")
    rest = await reader.read()
    protocol = writer.get_extra_info("cipher")
    writer.close()
    await writer.wait_closed()
    return number, data, rest[-9:], protocol

async def together(context):
    return sorted(await asyncio.gather(*(ask(number, context) for number in range(4))))

def main(run):
    context = ssl.create_default_context(cafile=CA) if CA else None
    for answer in asyncio.run(together(context)):
        run.compare("answer", answer)
"""


@pytest.mark.parametrize("encrypted", [False, True])
def test_an_event_loop_is_given_every_reply_at_its_connection(
    tmp_path: Path, authority: trustme.CA, *, encrypted: bool
) -> None:
    context = None
    if encrypted:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    ca = repr(str(tmp_path / "ca.pem")) if encrypted else "None"
    replayed_alone(tmp_path, ASYNC.replace("CA", ca), context=context)


@pytest.mark.heavy
def test_threads_that_share_a_connection_are_replayed(tmp_path: Path) -> None:
    source = """
        import socket, threading

        def main(run):
            connection = socket.create_connection(("127.0.0.1", PORT))
            answers = []

            def read():
                answers.append(connection.makefile("rb").read())

            reader = threading.Thread(target=read)
            reader.start()
            for part in (b"GET / HTTP/1.0\\r\\n", b"X-Part: 2\\r\\n", b"\\r\\n"):
                connection.sendall(part)
            reader.join()
            run.compare("answers", answers)
    """
    replayed_alone(tmp_path, source)


def test_a_datagram_is_recorded_with_who_sent_it(tmp_path: Path) -> None:
    source = """
        import socket

        def main(run):
            asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            for word in (b"one", b"two"):
                asking.sendto(word, ("127.0.0.1", PORT))
                run.compare("answer", asking.recvfrom(100))
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as answering:
        answering.bind(("127.0.0.1", 0))
        port = answering.getsockname()[1]

        def answer() -> None:
            for _ in range(2):
                word, sender = answering.recvfrom(100)
                answering.sendto(word[::-1], sender)

        thread = threading.Thread(target=answer)
        thread.start()
        recorded(tmp_path, source.replace("PORT", str(port))).close()
        thread.join()
    assert verify(tmp_path / "a.twice").result == "PASS"


@pytest.mark.heavy
def test_messages_of_a_stream_are_bytes_and_nothing_more(tmp_path: Path) -> None:
    source = """
        import socket

        def main(run):
            one = socket.create_connection(("127.0.0.1", PORT))
            one.sendall(b"GET /a HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
            peeked = one.recvmsg(12, 0, socket.MSG_PEEK)
            run.compare("first", [peeked, one.recvmsg(12)])
            short, long = bytearray(3), bytearray(40)
            count, *rest = one.recvmsg_into([short, memoryview(long)])
            run.compare("parts", [count, rest, bytes(short), bytes(long)])
            print(peeked, short)
            one.close()
    """
    replayed_alone(tmp_path, source)


@pytest.mark.parametrize("call", ["recvmsg(12, 64)", "recvmsg_into([bytearray(12)], 64)"])
def test_messages_with_room_for_attachments_are_refused(tmp_path: Path, call: str) -> None:
    source = f"""
        import socket

        def main(run):
            with socket.create_connection(("127.0.0.1", PORT)) as one:
                one.{call}
    """
    with serving() as server, pytest.raises(EffectRefused, match="attachments or a datagram"):
        recorded(tmp_path, source.replace("PORT", str(server.port)))


@pytest.mark.heavy
def test_waiting_with_select_works_on_a_connection_that_is_none(tmp_path: Path) -> None:
    source = """
        import select, selectors, socket

        def main(run):
            connection = socket.create_connection(("127.0.0.1", PORT))
            run.compare("silent", select.select([connection], [], [], 0)[0] == [])
            connection.setblocking(False)
            connection.send(b"GET / HTTP/1.0\\r\\n\\r\\n")
            data = b""
            with selectors.DefaultSelector() as selector:
                selector.register(connection, selectors.EVENT_READ)
                while True:
                    selector.select()
                    part = connection.recv(7)
                    if not part:
                        break
                    data += part
            run.compare("data", data)
    """
    replayed_alone(tmp_path, source)


def test_names_of_hosts_are_resolved_by_the_record(tmp_path: Path) -> None:
    source = """
        import socket

        def main(run):
            run.compare("found", socket.gethostbyname("localhost"))
            run.compare("addresses", socket.getaddrinfo("localhost", 80)[0][4])
            try:
                socket.getaddrinfo("no such name", 80)
            except OSError as error:
                run.compare("error", repr(error))
    """
    with recorded(tmp_path, source) as record:
        assert record.ending is not None
        assert record.ending["effects"]["lenient"]["network.resolved"] == 3
    assert verify(tmp_path / "a.twice").result == "PASS"
    write(tmp_path, source.replace('"no such name"', '"another name"'))
    assert verify(tmp_path / "a.twice", informational=True).result == "FAIL"


def test_hosts_are_described_with_lists_as_the_library_does(tmp_path: Path) -> None:
    source = """
        import socket

        def main(run):
            found = socket.gethostbyname_ex("localhost"), socket.gethostbyaddr("127.0.0.1")
            run.compare("found", found)
            run.compare("kinds", [type(part).__name__ for one in found for part in one])
            run.compare("name", socket.getfqdn("localhost"))
            assert type(found[0][1]) is list
    """
    with recorded(tmp_path, source) as record:
        assert record.ending is not None
        assert record.ending["how"] == "completed", record.ending
    assert verify(tmp_path / "a.twice").result == "PASS"


def test_a_run_may_start_between_two_requests_of_one_connection(tmp_path: Path) -> None:
    source = ASKS.replace("    for tick", "    connection.connect()\n    for tick")
    with serving() as server:
        recorded(
            tmp_path, source.replace("PORT", str(server.port)), cadence=Cadence("tick", 1)
        ).close()
    verification = verify(tmp_path / "a.twice", first=2)
    assert verification.result == "PARTIAL", verification
    assert verification.failure is None


SECRET = "sk-vGtr5tQ0zX9pLw2m"


@pytest.mark.parametrize("present", [True, False])
def test_a_secret_is_in_no_part_of_what_was_sent_and_received(
    tmp_path: Path, *, present: bool
) -> None:
    source = """
        import json, os, urllib.request

        def main(run):
            token = os.environ["SERVICE_TOKEN"]
            body = json.dumps({"user": "ann", "password": token}).encode()
            for url, data in (("/?api_key=" + token, None), ("/echo", body)):
                asked = urllib.request.Request("http://127.0.0.1:PORT" + url, data=data)
                asked.add_header("Authorization", "Bearer " + token)
                run.compare("size", len(urllib.request.urlopen(asked).read()))
    """
    with serving() as server:
        options = {"env": {"SERVICE_TOKEN": SECRET}}
        recorded(tmp_path, source.replace("PORT", str(server.port)), **options).close()
        assert server.requests == 2
    with RunRecord.open(tmp_path / "a.twice") as record:
        frames = b"".join(bytes(frame.payload) for frame in record.reader.frames())
    assert b"/?api_key=*" in frames
    assert b"ann" in frames
    assert SECRET.encode() not in frames
    with pytest.MonkeyPatch.context() as patched:
        if present:
            patched.setenv("SERVICE_TOKEN", SECRET)
        assert verify(tmp_path / "a.twice").result == "PASS"


def test_processes_of_the_programs_own_are_spoken_to_for_real(tmp_path: Path) -> None:
    source = """
        import multiprocessing

        def main(run):
            with multiprocessing.get_context("fork").Manager() as manager:
                shared = manager.dict(a=1)
                shared["b"] = 2
                run.compare("shared", dict(shared))
    """
    recorded(tmp_path, source, allow=("process",)).close()
    verification = verify(tmp_path / "a.twice")
    assert verification.failure is None, verification


def test_a_connection_used_by_its_bare_descriptor_is_refused_in_replay(tmp_path: Path) -> None:
    source = """
        import os, socket

        def main(run):
            connection = socket.create_connection(("127.0.0.1", PORT))
            descriptor = connection.detach()
            os.write(descriptor, b"GET / HTTP/1.0\\r\\n\\r\\n")
            run.compare("answer", os.read(descriptor, 4))
    """
    with serving() as server:
        with recorded(tmp_path, source.replace("PORT", str(server.port))) as record:
            assert record.ending is not None
            assert record.ending["effects"]["ungoverned"]["network.connect"] == 1
    assert verify(tmp_path / "a.twice").result != "PASS"


def test_a_record_tells_which_connections_were_made(tmp_path: Path) -> None:
    with serving() as server:
        recorded(tmp_path, ASKS.replace("PORT", str(server.port))).close()
    with RunRecord.open(tmp_path / "a.twice") as record:
        (one,) = summarize_connections(record.connections())
    assert (one.key, one.to) == ("main/connection:0", f"127.0.0.1:{server.port}")
    assert one.first == "POST /0 HTTP/1.1"
    assert one.failed is None
    assert one.sent > 3_000
    assert one.received > 3_000
