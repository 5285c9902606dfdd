"""Sounds and music in containers of little contents.

The sets of ``*_leaks.py`` are made of them, each by the specification of its format. Nothing here is read by the package.
"""

from __future__ import annotations

import base64
import struct


def chunk(name: bytes, body: bytes, order: str = "<") -> bytes:
    """Return a chunk of RIFF (order "<") or of AIFF (order ">"), padded to even."""
    return name + struct.pack(order + "I", len(body)) + body + b"\0" * (len(body) % 2)


def wave(*more: bytes) -> bytes:
    """Return a Broadcast-less WAV of eight silent samples with further chunks."""
    form = chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16))
    return chunk(b"RIFF", b"WAVE" + form + chunk(b"data", bytes(16)) + b"".join(more))


def aiff(comment: str) -> bytes:
    """Return an AIFF whose ID3 chunk has one comment in UTF-16."""
    frame = b"\x02" + b"note".decode().encode("utf-16-be") + b"\0\0" + comment.encode("utf-16-be")
    body = b"TXXX" + struct.pack(">I", len(frame)) + b"\0\0" + frame
    size = len(body)
    synch = bytes((size >> shift) & 0x7F for shift in (21, 14, 7, 0))
    common = struct.pack(">hIh", 1, 8, 16) + b"\x40\x0b\xfa\0\0\0\0\0\0\0"
    sound = chunk(b"SSND", bytes(8 + 16), ">")
    tag = chunk(b"ID3 ", b"ID3\x03\0\0" + synch + body, ">")
    return chunk(b"FORM", b"AIFF" + chunk(b"COMM", common, ">") + sound + tag, ">")


def wav_note(note: str) -> bytes:
    """Return a WAV with a cue point and a note at it."""
    cue = struct.pack("<IIIIIII", 1, 1, 0, 0x61746164, 0, 0, 0)
    text = struct.pack("<I", 1) + note.encode("latin-1") + b"\0"
    return wave(chunk(b"cue ", cue), chunk(b"LIST", b"adtl" + chunk(b"note", text)))


def mp3_ape(comment: str) -> bytes:
    """Return frames of MPEG sound with an APEv2 tag behind them."""
    frames = (b"\xff\xfb\x90\xc0" + bytes(413)) * 3
    value = comment.encode()
    item = struct.pack("<II", len(value), 0) + b"Comment\0" + value
    end = b"APETAGEX" + struct.pack("<IIII", 2000, len(item) + 32, 1, 0) + bytes(8)
    return frames + item + end


def midi(text: str) -> bytes:
    """Return a MIDI file with a text event before its one note."""
    body = text.encode()
    size = bytes([0x80 | len(body) >> 7, len(body) & 0x7F])
    track = b"\0\xff\x01" + size + body + b"\0\x90\x3c\x40\x60\x80\x3c\0\0\xff\x2f\0"
    return (
        b"MThd"
        + struct.pack(">IHHH", 6, 0, 1, 96)
        + b"MTrk"
        + struct.pack(">I", len(track))
        + track
    )


def soundfont(comment: str) -> bytes:
    """Return the INFO and the (empty) samples of a SoundFont."""
    info = chunk(b"ifil", struct.pack("<HH", 2, 1)) + chunk(b"INAM", b"Bells\0")
    info += chunk(b"ICMT", comment.encode() + b"\0")
    return chunk(b"RIFF", b"sfbk" + chunk(b"LIST", b"INFO" + info) + chunk(b"LIST", b"sdta"))


def tracker(names: list[str]) -> bytes:
    """Return an XM module whose instruments' names are its only words, as trackers have them."""
    head = b"Extended Module: " + b"undertow".ljust(20) + b"\x1a" + b"FastTracker v2.00   "
    head += struct.pack("<HI", 0x104, 276) + struct.pack(
        "<HHHHHHHH", 1, 0, 2, 0, len(names), 1, 6, 125
    )
    head += bytes(256)
    for name in names:
        head += struct.pack("<I", 33) + name.encode().ljust(22, b"\0")[:22] + bytes(7)
    return head


def flac(picture: bytes) -> bytes:
    """Return a FLAC of no frames with a front cover."""
    info = struct.pack(">HH", 4096, 4096) + bytes(6) + bytes.fromhex("0ac44070") + bytes(4 + 16)
    cover = (
        struct.pack(">I", 3) + struct.pack(">I", 9) + b"image/png" + struct.pack(">I", 5) + b"front"
    )
    cover += struct.pack(">IIII", 1, 1, 8, 0) + struct.pack(">I", len(picture)) + picture
    return (
        b"fLaC\0"
        + len(info).to_bytes(3, "big")
        + info
        + b"\x86"
        + len(cover).to_bytes(3, "big")
        + cover
    )


def wavpack(comment: str) -> bytes:
    """Return a WavPack block of silence and an APEv2 tag with a head and a foot."""
    block = (
        b"wvpk"
        + struct.pack("<IHBBIIIIII", 24 + 8, 0x410, 0, 0, 8, 0, 8, 0x04800008, 0, 0)[:28]
        + bytes(8)
    )
    value = comment.encode()
    item = struct.pack("<II", len(value), 0) + b"Comment\0" + value
    frame = struct.pack("<III", 2000, len(item) + 32, 1)
    head = b"APETAGEX" + frame + struct.pack("<I", 0xA0000000) + bytes(8)
    return block + head + item + b"APETAGEX" + frame + struct.pack("<I", 0x80000000) + bytes(8)


def dsf(comment: str) -> bytes:
    """Return a DSF of one block of silence, with an ID3 tag where its head points."""
    form = b"fmt " + struct.pack("<QIIIIIIQII", 52, 1, 0, 1, 1, 2822400, 1, 4096, 4096, 0)
    data = b"data" + struct.pack("<Q", 12 + 4096) + b"\x69" * 4096
    said = b"\x01eng" + "\ufeff\0".encode("utf-16-le") + b"\xff\xfe" + comment.encode("utf-16-le")
    frame = b"COMM" + struct.pack(">I", len(said)) + b"\0\0" + said
    tag = b"ID3\x03\0\0" + bytes((len(frame) >> shift) & 0x7F for shift in (21, 14, 7, 0)) + frame
    at = 28 + len(form) + len(data)
    return b"DSD " + struct.pack("<QQQ", 28, at + len(tag), at) + form + data + tag


def ogg(comment: bytes) -> bytes:
    """Return the first pages of an Ogg Vorbis stream."""

    def page(kind: int, number: int, packets: list[bytes]) -> bytes:
        lacing = b"".join(b"\xff" * (len(one) // 255) + bytes([len(one) % 255]) for one in packets)
        head = b"OggS\0" + struct.pack("<BQIIIB", kind, 0, 7, number, 0, len(lacing)) + lacing
        whole = head + b"".join(packets)
        total = 0
        for each in whole:
            total ^= each << 24
            for _ in range(8):
                total = (total << 1 ^ (0x04C11DB7 if total & 0x80000000 else 0)) & 0xFFFFFFFF
        return whole[:22] + struct.pack("<I", total) + whole[26:]

    first = b"\x01vorbis" + struct.pack("<IBIIIIBB", 0, 1, 44100, 0, 80000, 0, 0xB8, 1)
    second = (
        b"\x03vorbis"
        + struct.pack("<I", 4)
        + b"Xiph"
        + struct.pack("<II", 1, len(comment))
        + comment
        + b"\1"
    )
    return page(2, 0, [first]) + page(4, 1, [second, b"\x05vorbis" + bytes(32)])


def picture_comment(picture: bytes) -> bytes:
    """Return a comment that holds a front cover in base64."""
    block = struct.pack(">II", 3, 10) + b"image/jpeg" + struct.pack(">I", 0)
    block += struct.pack(">IIIII", 1, 1, 24, 0, len(picture)) + picture
    return b"METADATA_BLOCK_PICTURE=" + base64.b64encode(block)


def field_recording(note: str) -> bytes:
    """Return a WAV with iXML."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return name + struct.pack("<I", len(body)) + body + bytes(len(body) % 2)

    said = (
        f'<?xml version="1.0"?><BWFXML><PROJECT>pier</PROJECT><NOTE>{note}</NOTE></BWFXML>'.encode()
    )
    form = chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16))
    return chunk(b"RIFF", b"WAVE" + form + chunk(b"data", bytes(16)) + chunk(b"iXML", said))


def impulse(message: str) -> bytes:
    """Return an Impulse Tracker module without notes, with its message."""
    said = message.encode() + b"\0"
    head = (
        b"IMPM"
        + b"pier at night".ljust(26, b"\0")
        + bytes(2)
        + struct.pack("<HHHHHHHH", 1, 0, 0, 0, 0x214, 0x200, 9, 1)
    )
    head += bytes([128, 48, 6, 125, 128, 0]) + struct.pack("<HI", len(said), 193) + bytes(4)
    return head.ljust(192, b"\0") + b"\xff" + said


def sampled(tool: str) -> bytes:
    """Return a WAV with a list of INFO that names a tool."""
    said = tool.encode() + b"\0"
    said += bytes(len(said) % 2)
    info = (
        b"LIST"
        + struct.pack("<I", 12 + len(said))
        + b"INFOISFT"
        + struct.pack("<I", len(said))
        + said
    )
    form = b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    body = b"WAVE" + form + b"data" + struct.pack("<I", 8) + b"\x80" * 8 + info
    return b"RIFF" + struct.pack("<I", len(body)) + body
