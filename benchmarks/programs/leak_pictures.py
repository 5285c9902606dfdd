"""Pictures and films of one pixel, or none, with what is said about them.

The sets of ``*_leaks.py`` are made of them, each by the specification of its format. Nothing here is read by the package.
"""

from __future__ import annotations

import base64
import gzip
import struct
import zlib

from programs.leak_sounds import chunk

# XMP with INFOTEXT of ``public_leaks.py``, packed by Brotli, as JPEG XL keeps it.
PACKED_XMP = base64.b85decode(
    "8*~9cjMHT{<T1()x0NaqRgQOy-%#Js2Eikfy52&r{_j4bVrCPliZ0lcA{I#$i;(RuD#=HF*BaZTg|5d{P}NpZ@4XZ?wx)Wk0gnYc"
    "f!eH47{g8%7)YzYV>pUzwv5n-vLMTx*>QNOdvE4yOrsddV^scuE$x6xm%>1xAPW*N)xU-TkmEL<(vCtR#fZ*;)^j9Xi<+wK!Sje|"
    "V_F4@%>E<!8iCXA%`k-gCY~Nb9%dacS3<-AXppBU3W20crl=^E$zH7d6Uc`oiBRng{r}~R)=FrcUkRj29&-=k!fU$$"
)


def piece(name: bytes, body: bytes) -> bytes:
    """Return a chunk of PNG."""
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(*texts: bytes) -> bytes:
    """Return a PNG of one grey pixel with further chunks, each with its name before its contents."""
    head = piece(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    more = b"".join(piece(one[:4], one[4:]) for one in texts)
    return (
        b"\x89PNG\r\n\x1a\n"
        + head
        + more
        + piece(b"IDAT", zlib.compress(b"\0\x80"))
        + piece(b"IEND", b"")
    )


def jpeg(marker: int, body: bytes) -> bytes:
    """Return the frame of a JPEG with one segment."""
    return (
        b"\xff\xd8\xff" + bytes([marker]) + struct.pack(">H", len(body) + 2) + body
        + b"\xff\xda\0\x08\x01\x01\0\0?\0\0\xff\xd9"
    )  # fmt: skip


def jpeg_exif(comment: str) -> bytes:
    """Return the frame of a JPEG with a user comment in its EXIF, in UTF-16."""
    value = b"UNICODE\0" + comment.encode("utf-16-be")
    exif = b"MM\0*" + struct.pack(">I", 8) + struct.pack(">HHHIII", 1, 0x8769, 4, 1, 26, 0)
    exif += struct.pack(">HHHIII", 1, 0x9286, 7, len(value), 44, 0) + value
    body = b"Exif\0\0" + exif
    return (
        b"\xff\xd8\xff\xe1"
        + struct.pack(">H", len(body) + 2)
        + body
        + b"\xff\xda\0\x08\x01\x01\0\0?\0\0\xff\xd9"
    )


def exif(comment: str) -> bytes:
    """Return EXIF whose user comment is in ASCII."""
    value = b"ASCII\0\0\0" + comment.encode()
    tags = struct.pack("<HHHIII", 1, 0x8769, 4, 1, 26, 0) + struct.pack(
        "<HHHIII", 1, 0x9286, 7, len(value), 44, 0
    )
    return b"II*\0" + struct.pack("<I", 8) + tags + value


def caption(words: str) -> bytes:
    """Return the segment in which IPTC keeps a caption."""
    said = words.encode()
    record = b"\x1c\x02\x78" + struct.pack(">H", len(said)) + said
    return (
        b"Photoshop 3.0\x008BIM\x04\x04\0\0"
        + struct.pack(">I", len(record))
        + record
        + bytes(len(record) % 2)
    )


def gif_xmp(tool: str) -> bytes:
    """Return a GIF with XMP in an application extension, as one run of bytes with its magic trailer."""
    packet = (
        '<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF '
        'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc='
        f'"http://purl.org/dc/elements/1.1/"><dc:description>{tool}</dc:description></rdf:Description>'
        "</rdf:RDF></x:xmpmeta>"
    )
    trailer = b"\x01" + bytes(range(255, -1, -1)) + b"\0"
    head = b"GIF89a" + struct.pack("<HHBBB", 1, 1, 0x80, 0, 0) + bytes(6)
    image = b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\0"
    return head + b"\x21\xff\x0bXMP DataXMP" + packet.encode() + trailer + image + b"\x3b"


def icon(picture: bytes) -> bytes:
    """Return an ICO that holds one PNG."""
    entry = struct.pack("<BBBBHHII", 1, 1, 0, 0, 1, 32, len(picture), 22)
    return struct.pack("<HHH", 0, 1, 1) + entry + picture


def apple_icon(picture: bytes) -> bytes:
    """Return an ICNS of one PNG."""
    entry = b"ic08" + struct.pack(">I", 8 + len(picture)) + picture
    return b"icns" + struct.pack(">I", 8 + len(entry)) + entry


def texture(key: str, value: str) -> bytes:
    """Return a KTX2 texture of one pixel with one pair of key and value."""
    pair = key.encode() + b"\0" + value.encode() + b"\0"
    pairs = struct.pack("<I", len(pair)) + pair
    pairs += bytes(-len(pairs) % 4)
    start = 80 + 24
    head = b"\xabKTX 20\xbb\r\n\x1a\n" + struct.pack("<9I", 37, 1, 1, 1, 0, 0, 1, 1, 0)
    head += struct.pack("<IIIIQQ", 0, 0, start, len(pairs), 0, 0)
    level = struct.pack("<QQQ", start + len(pairs), 4, 4)
    return head + level + pairs + b"\x10\x20\x30\xff"


def photoshop(history: str) -> bytes:
    """Return a PSD of one pixel with XMP among its resources and a layer's name in UTF-16."""
    xmp = (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><photoshop:History xmlns:photoshop="http://ns.adobe.com/">'
        + history.replace("&", "&amp;").replace("<", "&lt;").replace("\n", "&#xA;")
        + "</photoshop:History></x:xmpmeta>"
    ).encode()
    resource = b"8BIM" + struct.pack(">HHI", 1060, 0, len(xmp)) + xmp + bytes(len(xmp) % 2)
    head = b"8BPS" + struct.pack(">H6xHIIHH", 1, 1, 1, 1, 8, 1)
    return (
        head + struct.pack(">II", 0, len(resource)) + resource + struct.pack(">I", 0) + b"\0\0\x80"
    )


def big_tiff(description: str) -> bytes:
    """Return a BigTIFF of one pixel with a description."""
    text = description.encode() + b"\0"
    places = [(256, 3, 1, 1), (257, 3, 1, 1), (258, 3, 1, 8), (262, 3, 1, 1)]
    after = 16 + 8 + 20 * 7 + 8
    places += [(270, 2, len(text), after), (273, 16, 1, after + len(text)), (279, 4, 1, 1)]
    entries = b"".join(struct.pack("<HHQQ", *one) for one in places)
    return b"II" + struct.pack("<HHHQQ", 43, 8, 0, 16, 7) + entries + bytes(8) + text + b"\x80"


def gimp(xmp: str) -> bytes:
    """Return the head of an XCF with a parasite of metadata."""
    body = xmp.encode() + b"\0"
    parasite = struct.pack(">I", 14) + b"gimp-metadata\0" + struct.pack(">II", 1, len(body)) + body
    return (
        b"gimp xcf v011\0"
        + struct.pack(">IIII", 1, 1, 0, 150)
        + struct.pack(">II", 21, len(parasite))
        + parasite
        + bytes(16)
    )


def aseprite(words: str) -> bytes:
    """Return an Aseprite sprite of one pixel, whose cel has a text of its user."""
    said = words.encode()
    cel = (
        struct.pack("<HhhBHh5x", 0, 0, 0, 255, 2, 0)
        + struct.pack("<HH", 1, 1)
        + zlib.compress(b"\x10\x20\x30\xff")
    )
    user = struct.pack("<IH", 1, len(said)) + said
    chunks = b"".join(
        struct.pack("<IH", 6 + len(one), kind) + one
        for kind, one in ((0x2005, cel), (0x2020, user))
    )
    frame = struct.pack("<IHHH2xI", 16 + len(chunks), 0xF1FA, 2, 100, 2) + chunks
    head = struct.pack("<IHHHHHIH", 128 + len(frame), 0xA5E0, 1, 1, 1, 32, 1, 100)
    return head.ljust(128, b"\0") + frame


def radiance(words: str) -> bytes:
    """Return a Radiance picture of one pixel with a line of comment."""
    return (
        b"#?RADIANCE\n# "
        + words.encode()
        + b"\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\n\x80\x80\x80\x81"
    )


def box(name: bytes, body: bytes) -> bytes:
    """Return a box of ISO base media."""
    return struct.pack(">I", 8 + len(body)) + name + body


def jpeg_xl() -> bytes:
    """Return a JPEG XL container with XMP in a box packed by Brotli."""
    start = box(b"JXL ", b"\r\n\x87\n") + box(b"ftyp", b"jxl \0\0\0\0jxl ")
    return start + box(b"brob", b"xml " + PACKED_XMP) + box(b"jxlc", bytes.fromhex("ff0a00100a00"))


def avif(xmp: str) -> bytes:
    """Return the boxes of an AVIF whose second item is XMP, kept among the coded data."""
    said = xmp.encode()
    entries = box(b"infe", b"\2\0\0\0\0\1\0\0av01\0") + box(
        b"infe", b"\2\0\0\1\0\2\0\0mime\0application/rdf+xml\0"
    )
    start = box(b"ftyp", b"avif\0\0\0\0avifmif1")

    def meta(first: int) -> bytes:
        places = struct.pack(">HHHII", 1, 0, 1, first, 4) + struct.pack(
            ">HHHII", 2, 0, 1, first + 4, len(said)
        )
        return box(
            b"meta",
            bytes(4)
            + box(b"hdlr", bytes(8) + b"pict" + bytes(13))
            + box(b"pitm", b"\0\0\0\0\0\1")
            + box(b"iinf", b"\0\0\0\0\0\2" + entries)
            + box(b"iloc", b"\0\0\0\0\x44\0\0\2" + places),
        )

    first = len(start) + len(meta(0)) + 8
    return start + meta(first) + box(b"mdat", b"\x12\0\x0a\0" + said)


def targa(comment: str) -> bytes:
    """Return a TGA 2.0 of one pixel with an author's comment in its extension area."""
    head = struct.pack("<BBBHHBHHHHBB", 0, 0, 2, 0, 0, 0, 0, 0, 1, 1, 32, 8) + b"\x10\x20\x30\xff"
    lines = b"".join(comment[at : at + 80].encode().ljust(81, b"\0") for at in range(0, 320, 80))
    area = struct.pack("<H", 495) + b"noor".ljust(41, b"\0") + lines
    return head + area.ljust(495, b"\0") + struct.pack("<II", len(head), 0) + b"TRUEVISION-XFILE.\0"


def webp(exif_block: bytes) -> bytes:
    """Return a WebP container with EXIF."""
    pixels = bytes.fromhex("2f00000000071011fd0f4444ff03")

    def chunk(name: bytes, body: bytes) -> bytes:
        return name + struct.pack("<I", len(body)) + body + bytes(len(body) % 2)

    body = (
        b"WEBP"
        + chunk(b"VP8X", b"\x08" + bytes(9))
        + chunk(b"VP8L", pixels)
        + chunk(b"EXIF", exif_block)
    )
    return b"RIFF" + struct.pack("<I", len(body)) + body


def drawing(place: str) -> bytes:
    """Return a compressed SVG as Inkscape exports it."""
    return gzip.compress(
        (
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape">'
            f'<path d="M0 0h9v9z" inkscape:export-filename="{place}"/></svg>'
        ).encode(),
        mtime=0,
    )


def avi(comment: str) -> bytes:
    """Return the headers of an AVI with a list of INFO behind its header list."""
    top = chunk(b"LIST", b"hdrl" + chunk(b"avih", bytes(56)))
    info = chunk(b"LIST", b"INFO" + chunk(b"ISRC", comment.encode() + b"\0"))
    return chunk(b"RIFF", b"AVI " + top + info + chunk(b"LIST", b"movi"))


def element(number: str, body: bytes) -> bytes:
    """Return an element of EBML with its size in eight bytes."""
    return bytes.fromhex(number) + (1 << 56 | len(body)).to_bytes(8, "big") + body


def webm(words: str) -> bytes:
    """Return a WebM of no clusters whose tags have a comment."""
    tag = element("67c8", element("45a3", b"COMMENT") + element("4487", words.encode()))
    tags = element("1254c367", element("7373", element("63c0", b"") + tag))
    info = element("1549a966", element("2ad7b1", b"\x0f\x42\x40"))
    return element("1a45dfa3", element("4282", b"webm")) + element("18538067", info + tags)
