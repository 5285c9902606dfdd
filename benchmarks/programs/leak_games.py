"""Archives, scenes and programs as games are shipped in.

The sets of ``*_leaks.py`` are made of them, each by the specification of its format. Nothing here is read by the package.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import lzma
import pickle
import sqlite3
import struct
import tempfile
import zipfile
import zlib
from pathlib import Path

import zstandard
from programs.leak_pictures import png


def zipped(
    files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED, before: bytes = b""
) -> bytes:
    """Return a zip of files by their names, perhaps behind a program; all are of 1980, and a ``mimetype`` is never packed."""
    out = io.BytesIO(before)
    with zipfile.ZipFile(out, "a" if before else "w") as archive:
        for name, body in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_STORED if name == "mimetype" else method
            archive.writestr(entry, body)
    return out.getvalue()


def scene(extras: dict[str, object]) -> bytes:
    """Return a glTF scene whose one mesh has extras, as Blender writes custom properties."""
    mesh = {"name": "Bell", "primitives": [{"attributes": {"POSITION": 0}}], "extras": extras}
    return json.dumps({"asset": {"version": "2.0"}, "meshes": [mesh]}).encode()


def usdz(comment: str) -> bytes:
    """Return a USDZ: an uncompressed zip of a layer and its texture, which has a compressed text."""
    layer = b'#usda 1.0\n( upAxis = "Y" )\ndef Xform "Bell" {}\n'
    text = b"iTXtComment\0\x01\0en\0\0" + zlib.compress(comment.encode())
    return zipped({"bell.usda": layer, "textures/bell.png": png(text)}, zipfile.ZIP_STORED)


def renpy(script: dict[str, object]) -> bytes:
    """Return an RPA archive with one compiled script, whose tree is a pickle packed by zlib."""
    packed = zlib.compress(pickle.dumps(script, protocol=2))
    head = b"RENPY RPC2" + struct.pack("<III", 1, 46, len(packed)) + bytes(12) + bytes(12)
    compiled = head + packed + bytes(16)
    at, key = 51, 0x42424242
    index = {"game/script.rpyc": [(at ^ key, len(compiled) ^ key, b"")]}
    first = f"RPA-3.0 {at + len(compiled):016x} {key:08x}\n".encode()
    return first.ljust(at, b" ") + compiled + zlib.compress(pickle.dumps(index, protocol=2))


def godot(text: str) -> bytes:
    """Return a Godot pack with one compressed resource: blocks of zstd under RSCC."""
    block = zstandard.ZstdCompressor().compress(text.encode())
    held = b"RSCC" + struct.pack("<IIII", 2, 4096, len(text), len(block)) + block + b"RSCC"
    name = b"res://scenes/tower.scn".ljust(24, b"\0")
    start = 4 + 16 + 4 + 8 + 64 + 4 + 4 + len(name) + 8 + 8 + 16 + 4
    head = b"GDPC" + struct.pack("<IIII", 2, 4, 3, 0) + struct.pack("<IQ", 0, 0) + bytes(64)
    return (
        head
        + struct.pack("<II", 1, len(name))
        + name
        + struct.pack("<QQ", start, len(held))
        + bytes(20)
        + held
    )


def lz4_block(data: bytes) -> bytes:
    """Return an LZ4 block: sequences of literals and matches found greedily."""
    out, at, start, seen = bytearray(), 0, 0, {}

    def length(value: int) -> bytes:
        return b"" if value < 15 else b"\xff" * ((value - 15) // 255) + bytes([(value - 15) % 255])

    while at < len(data) - 12:
        key = data[at : at + 4]
        back = seen.get(key)
        seen[key] = at
        if back is None or at - back > 65535:
            at += 1
            continue
        more = 4
        while at + more < len(data) - 5 and data[back + more] == data[at + more]:
            more += 1
        held = data[start:at]
        out.append(min(len(held), 15) << 4 | min(more - 4, 15))
        out += length(len(held)) + held + struct.pack("<H", at - back) + length(more - 4)
        at = start = at + more
    held = data[start:]
    out.append(min(len(held), 15) << 4)
    return bytes(out + length(len(held)) + held)


def unity(text: str) -> bytes:
    """Return a UnityFS bundle: its table of blocks and its one block are packed by LZ4."""
    data = struct.pack(">I", len(text)) + text.encode()
    block = lz4_block(data)
    table = bytes(16) + struct.pack(">IIIH", 1, len(data), len(block), 3)
    table += struct.pack(">IQQI", 1, 0, len(data), 4) + b"CAB-3f2a\0"
    packed = lz4_block(table)
    head = b"UnityFS\0" + struct.pack(">I", 6) + b"5.x.x\0" + b"2021.3.5f1\0"
    total = len(head) + 20 + len(packed) + len(block)
    return head + struct.pack(">QIII", total, len(packed), len(table), 0x43) + packed + block


def database(rows: list[tuple[str, bytes]]) -> bytes:
    """Return a SQLite database whose one table holds names and blobs."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "a.db")
        base = sqlite3.connect(place)
        base.execute("create table strings (name text, body blob)")
        base.executemany("insert into strings values (?, ?)", rows)
        base.commit()
        base.close()
        return place.read_bytes()


def fbx(path: str) -> bytes:
    """Return a binary FBX whose one node tells where the scene was saved."""
    said = path.encode()
    value = (
        b"S" + struct.pack("<I", 11) + b"DocumentUrl" + b"S" + struct.pack("<I", len(said)) + said
    )
    head = b"Kaydara FBX Binary  \0\x1a\0" + struct.pack("<I", 7400)
    node = struct.pack("<IIIB", len(head) + 13 + 1 + len(value), 2, len(value), 1) + b"P" + value
    return head + node + bytes(13)


def message_pack(data: object) -> bytes:
    """Return MessagePack of maps, texts, whole and broken numbers."""
    if isinstance(data, dict):
        return bytes([0x80 | len(data)]) + b"".join(
            message_pack(each) for pair in data.items() for each in pair
        )
    if isinstance(data, str):
        said = data.encode()
        return (
            bytes([0xA0 | len(said)]) if len(said) < 32 else b"\xd9" + bytes([len(said)])
        ) + said
    if isinstance(data, float):
        return b"\xcb" + struct.pack(">d", data)
    assert isinstance(data, int)
    return b"\xce" + struct.pack(">I", data)


def asar(files: dict[str, bytes]) -> bytes:
    """Return an Electron archive: a table in JSON behind four sizes, then the files."""
    table, at = {}, 0
    for name, body in files.items():
        table[name] = {"size": len(body), "offset": str(at)}
        at += len(body)
    said = json.dumps({"files": table}).encode()
    padded = said + bytes(-len(said) % 4)
    sizes = struct.pack("<IIII", 4, len(padded) + 8, len(padded) + 4, len(said))
    return sizes + padded + b"".join(files.values())


def program(more: bytes) -> bytes:
    """Return the head of a Windows program with something behind it."""
    return b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0" + bytes(188) + more


def fused(files: dict[str, bytes]) -> bytes:
    """Return a game as LÖVE fuses it: the player and a zip behind it."""
    return program(zipped(files))


def installer(text: str) -> bytes:
    """Return an installer as NSIS makes it: LZMA without a size behind a mark of its own."""
    settings = {"id": lzma.FILTER_LZMA1, "dict_size": 1 << 23, "lc": 3, "lp": 0, "pb": 2}
    packed = lzma.compress(text.encode(), lzma.FORMAT_RAW, filters=[settings])
    mark = (
        struct.pack("<I", 0)
        + b"\xef\xbe\xad\xdeNullsoftInst"
        + struct.pack("<II", len(text), len(packed) + 33)
    )
    return program(mark + b"\x5d" + struct.pack("<I", 1 << 23) + packed)


def blend(text: str) -> bytes:
    """Return a Blender file as it is saved now: frames of zstd, and a table of them in a frame that is skipped."""
    data = b"BLENDER-v403REND" + bytes(400) + text.encode() + bytes(400) + b"ENDB"
    middle = len(data) // 3
    frames = [zstandard.ZstdCompressor().compress(one) for one in (data[:middle], data[middle:])]
    sizes = ((len(frames[0]), middle), (len(frames[1]), len(data) - middle))
    table = b"".join(struct.pack("<II", *one) for one in sizes) + struct.pack(
        "<IBI", 2, 0, 0x8F92EAB1
    )
    return b"".join(frames) + struct.pack("<II", 0x184D2A5E, len(table)) + table


def pack(blobs: list[bytes]) -> bytes:
    """Return a pack of git with some blobs."""
    out = b"PACK" + struct.pack(">II", 2, len(blobs))
    for blob in blobs:
        size = len(blob)
        head = bytearray([0x30 | size & 15])
        size >>= 4
        while size:
            head[-1] |= 0x80
            head.append(size & 0x7F)
            size >>= 7
        out += bytes(head) + zlib.compress(blob)
    return out + hashlib.sha1(out).digest()


def package(texts: list[str]) -> bytes:
    """Return an APK whose table of resources has its texts in UTF-16."""
    body, places = b"", []
    for text in texts:
        places.append(len(body))
        body += struct.pack("<H", len(text)) + text.encode("utf-16-le") + b"\0\0"
    body += bytes(-len(body) % 4)
    size = 28 + 4 * len(texts) + len(body)
    pool = struct.pack("<HHIIIIII", 1, 28, size, len(texts), 0, 0, 28 + 4 * len(texts), 0)
    pool += b"".join(struct.pack("<I", at) for at in places) + body
    table = struct.pack("<HHII", 2, 12, 12 + len(pool), 0) + pool
    return zipped({"classes.dex": b"dex\n035\0" + bytes(104), "resources.arsc": table})


def library(path: str) -> bytes:
    """Return the head of an ELF library and the text of an assertion in it."""
    head = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 0, 64, 0, 0)
    )
    return (
        head
        + bytes(range(256))
        + b"\0waves >= 0\0"
        + path.encode()
        + b"\0"
        + bytes(range(255, -1, -1))
    )


def quake(files: dict[str, bytes]) -> bytes:
    """Return a Quake PAK."""
    body, table = b"", b""
    for name, data in files.items():
        table += name.encode().ljust(56, b"\0") + struct.pack("<II", 12 + len(body), len(data))
        body += data
    return b"PACK" + struct.pack("<II", 12 + len(body), len(table)) + body + table


def lottie(picture: bytes) -> bytes:
    """Return a Lottie animation with a picture in it."""
    uri = "data:image/png;base64," + base64.b64encode(picture).decode()
    return json.dumps(
        {
            "v": "5.7.4",
            "fr": 30,
            "layers": [],
            "assets": [{"id": "pier", "u": "", "p": uri, "e": 1}],
        }
    ).encode()


def cbor(data: object) -> bytes:
    """Return CBOR of maps, texts, whole and broken numbers."""

    def head(kind: int, size: int) -> bytes:
        if size < 24:
            return bytes([kind << 5 | size])
        return (
            bytes([kind << 5 | 24, size])
            if size < 256
            else bytes([kind << 5 | 27]) + struct.pack(">Q", size)
        )

    if isinstance(data, dict):
        return head(5, len(data)) + b"".join(cbor(each) for pair in data.items() for each in pair)
    if isinstance(data, str):
        return head(3, len(data.encode())) + data.encode()
    if isinstance(data, float):
        return b"\xfb" + struct.pack(">d", data)
    assert isinstance(data, int)
    return head(0, data)


def catalogue(words: dict[str, str]) -> bytes:
    """Return a compiled gettext catalogue."""
    pairs = sorted((key.encode(), value.encode()) for key, value in words.items())
    at = 28 + 16 * len(pairs)
    tables, body = [b"", b""], b""
    for which in range(2):
        for pair in pairs:
            tables[which] += struct.pack("<II", len(pair[which]), at + len(body))
            body += pair[which] + b"\0"
    return (
        struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
        + b"".join(tables)
        + body
    )
