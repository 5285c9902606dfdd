"""Makers of ordinary published files for the third blind set: see third_blind_leaks.

Pictures, sounds, films, books, fonts and archives, made by the libraries that people use where
there is one. Dates are fixed and nothing is drawn at random, so that two runs write equal bytes.
"""

import base64
import hashlib
import io
import json
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Mapping

import av
import numpy as np
import soundfile
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from PIL import Image, PngImagePlugin
from pypdf import PdfWriter
from pypdf.generic import DictionaryObject, NameObject, StreamObject


def picture(size: tuple[int, int] = (64, 48), mode: str = "RGB") -> Image.Image:
    grey = Image.linear_gradient("L")
    bands = (grey, grey.rotate(90), Image.radial_gradient("L"))
    return Image.merge("RGB", bands).resize(size).convert(mode)


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def png(texts: Mapping[str, str], *, packed: bool = False, language: str = "") -> bytes:
    """Return a PNG with texts: tEXt or zTXt, or iTXt where a language is given."""
    info = PngImagePlugin.PngInfo()
    for key, text in texts.items():
        if language:
            info.add_itxt(key, text, language, zip=packed)
        else:
            info.add_text(key, text, zip=packed)
    return saved(picture(), "PNG", pnginfo=info)


def exif(tags: Mapping[int, object], details: Mapping[int, object] | None = None) -> bytes:
    made = Image.Exif()
    for tag, value in tags.items():
        made[tag] = value
    if details:
        made.get_ifd(0x8769).update(details)
    return made.tobytes()


def xmp(body: str) -> bytes:
    """Return an XMP packet around the given properties."""
    spaces = {
        "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "dc": "http://purl.org/dc/elements/1.1/",
        "xmp": "http://ns.adobe.com/xap/1.0/",
        "creatorAtom": "http://ns.adobe.com/creatorAtom/1.0/",
        "Iptc4xmpExt": "http://iptc.org/std/Iptc4xmpExt/2008-02-29/",
    }
    names = " ".join(f'xmlns:{key}="{value}"' for key, value in spaces.items())
    text = (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'
        f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF {names}>'
        f'<rdf:Description rdf:about="">{body}</rdf:Description>'
        '</rdf:RDF></x:xmpmeta><?xpacket end="w"?>'
    )
    return text.encode()


def samples(rate: int, seconds: float = 0.5) -> np.ndarray:
    time = np.arange(int(rate * seconds)) / rate
    return (8000 * np.sin(2 * np.pi * 220 * time) * np.exp(-3 * time)).astype(np.int16)


def sound(kind: str, *, comment: str = "", rate: int = 44100, **texts: str) -> bytes:
    """Return a sound as libsndfile writes it: WAV, AIFF, CAF, FLAC, MP3."""
    out = io.BytesIO()
    depth = None if kind == "MP3" else "PCM_16"
    with soundfile.SoundFile(out, "w", rate, 1, depth, format=kind) as made:
        for key, text in {"comment": comment, **texts}.items():
            if text:
                setattr(made, key, text)
        made.write(samples(rate))
    return out.getvalue()


def coded(container: str, codec: str, rate: int = 48000, **tags: str) -> bytes:
    """Return a sound as FFmpeg writes it: Ogg Opus, M4A."""
    out = io.BytesIO()
    with av.open(out, "w", format=container, options={"fflags": "+bitexact"}) as made:
        made.metadata.update(tags)
        stream = made.add_stream(codec, rate=rate, layout="mono")
        frame = av.AudioFrame.from_ndarray(samples(rate)[None], format="s16", layout="mono")
        frame.sample_rate = rate
        made.mux(stream.encode(frame))
        made.mux(stream.encode(None))
    return out.getvalue()


def film(
    container: str, codec: str, attached: Mapping[str, bytes] | None = None, **tags: str
) -> bytes:
    out = io.BytesIO()
    with av.open(out, "w", format=container, options={"fflags": "+bitexact"}) as made:
        made.metadata.update(tags)
        stream = made.add_stream(codec, rate=12)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        stream.codec_context.thread_count = 1
        for name, body in (attached or {}).items():
            made.add_attachment(name, "application/json", body)
        for turn in range(6):
            made.mux(stream.encode(av.VideoFrame.from_image(picture().rotate(turn * 9))))
        made.mux(stream.encode(None))
    return out.getvalue()


def with_chunk(wave: bytes, name: bytes, body: bytes) -> bytes:
    """Put a chunk before the others of a RIFF file."""
    body += b"\0" * (len(body) % 2)
    rest = wave[8:12] + name + struct.pack("<I", len(body)) + body + wave[12:]
    return b"RIFF" + struct.pack("<I", len(rest)) + rest


def bext(description: str, reference: str = "") -> bytes:
    """Return the body of a Broadcast Wave's bext chunk, version 1."""
    head = struct.pack("256s32s32s", description.encode(), b"Lamp Studio", reference.encode())
    return head + b"2026-02-0311:20:00" + bytes(8) + b"\1\0" + bytes(64 + 190)


def id3(frames: Mapping[str, bytes], version: int = 3) -> bytes:
    """Return an ID3v2 tag, of version 2.2 or 2.3."""
    body = b""
    for name, content in frames.items():
        size = struct.pack(">I", len(content))
        body += name.encode() + (size[1:] if version == 2 else size + b"\0\0") + content
    length = bytes(len(body) >> shift & 127 for shift in (21, 14, 7, 0))
    return b"ID3" + bytes((version, 0, 0)) + length + body


def zipped(members: Mapping[str, bytes | str], comment: str = "") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name, body in members.items():
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            made.writestr(zipfile.ZipInfo(name, (2026, 2, 3, 11, 20, 0)), body, kind)
        made.comment = comment.encode()
    return out.getvalue()


def tarred(members: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        for name, body in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(body)
            made.addfile(member, io.BytesIO(body))
    return out.getvalue()


def epub(title: str, body: str) -> bytes:
    """Return a book of one chapter."""
    container = (
        '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfiles><rootfile full-path="OEBPS/book.opf" '
        'media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:identifier id='i'>urn:isbn:9780000000002</dc:identifier><dc:title>{title}</dc:title>"
        '<dc:language>en</dc:language></metadata><manifest><item id="c1" href="c1.xhtml" '
        'media-type="application/xhtml+xml"/><item id="p1" href="plate.png" '
        'media-type="image/png"/></manifest><spine><itemref idref="c1"/></spine></package>'
    )
    page = f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{title}</title></head><body>'
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "OEBPS/book.opf": package,
            "OEBPS/c1.xhtml": f"{page}{body}</body></html>",
            "OEBPS/plate.png": png({}),
        }
    )


def office(main: str, parts: Mapping[str, str]) -> bytes:
    """Return an Office Open XML package; `main` is the first part's place."""
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    links = "http://schemas.openxmlformats.org/package/2006/relationships"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{types}"><Default Extension="xml" '
            'ContentType="application/xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{links}"><Relationship Id="r1" Type="{kind}" '
            f'Target="{main}"/></Relationships>',
            **parts,
        }
    )


def pdf_page(writer: PdfWriter, content: str) -> None:
    """Add a page that shows text by the given operators, packed by Flate."""
    page = writer.add_blank_page(420, 595)
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    named = DictionaryObject({NameObject(k): NameObject(v) for k, v in font.items()})
    fonts = DictionaryObject({NameObject("/F1"): writer._add_object(named)})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    stream = StreamObject()
    stream.set_data(f"BT /F1 12 Tf 40 520 Td 16 TL {content} ET".encode("latin-1"))
    page[NameObject("/Contents")] = writer._add_object(stream.flate_encode())


def pdf(writer: PdfWriter, **metadata: str) -> bytes:
    writer.add_metadata({f"/{key}": text for key, text in metadata.items()})
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def glb(material: Mapping[str, object]) -> bytes:
    """Return a triangle with one material."""
    points = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
    document = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": "Crate"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "material": 0}]}],
        "materials": [material],
        "accessors": [
            {
                "bufferView": 0,
                "componentType": 5126,
                "count": 3,
                "type": "VEC3",
                "min": [0, 0, 0],
                "max": [1, 1, 0],
            }
        ],
        "bufferViews": [{"buffer": 0, "byteLength": len(points)}],
        "buffers": [{"byteLength": len(points)}],
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    chunks += struct.pack("<I4s", len(points), b"BIN\0") + points
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def font(names: Mapping[str, str], flavor: str | None = None) -> bytes:
    builder = FontBuilder(1000)
    builder.setupGlyphOrder([".notdef", "A"])
    builder.setupCharacterMap({65: "A"})
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    pen.lineTo((300, 700))
    pen.lineTo((600, 0))
    pen.closePath()
    drawn = pen.glyph()
    builder.setupGlyf({".notdef": drawn, "A": drawn})
    builder.setupHorizontalMetrics({".notdef": (600, 0), "A": (600, 0)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"styleName": "Regular", **names})
    builder.setupOS2()
    builder.setupPost()
    builder.updateHead(created=3852000000, modified=3852000000)
    builder.font.recalcTimestamp = False
    builder.font.flavor = flavor
    out = io.BytesIO()
    builder.save(out)
    return out.getvalue()


def token(what: str, length: int) -> str:
    """Return letters and digits that look drawn at random, always the same for one purpose."""
    text = base64.b64encode(hashlib.sha512(what.encode()).digest()).decode()
    return "".join(letter for letter in text if letter.isalnum())[:length]


def github_token() -> str:
    """Return a personal token in GitHub's form: its last six characters are a checksum."""
    secret = token("github", 30)
    rest, letters = zlib.crc32(secret.encode()), ""
    for _ in range(6):
        rest, digit = divmod(rest, 62)
        letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[digit] + letters
    return "ghp_" + secret + letters
