"""Games, books and fonts as a small maker uploads them.

``blind_leaks.py`` is made of them, each by the specification of its format. Nothing here is read by the package.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import pickle
import sqlite3
import struct
import tarfile
import tempfile
import zlib
from pathlib import Path

from PIL import ImageFont
from programs.leak_games import zipped


def program() -> bytes:
    """Return a Windows program of one section that does nothing."""
    code = (b"\x55\x8b\xec\x83\xec\x10\x6a\x00\xff\x15\x00\x20\x40\x00\xc9\xc3" * 32)[:512]
    dos = (b"MZ" + b"\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0\xb8").ljust(60, b"\0")
    dos += struct.pack("<I", 0x80) + b"\x0e\x1f\xba\x0e\0\xb4\x09\xcd\x21\xb8\x01\x4c\xcd\x21"
    dos += b"This program cannot be run in DOS mode.\r\r\n$"
    coff = struct.pack("<HHIIIHH", 0x14C, 1, 0x65A0B0C0, 0, 0, 0xE0, 0x102)
    sizes = (0, 512, 0, 0, 0x1000, 0x1000, 0x2000, 0x400000, 0x1000, 0x200)
    more = (6, 0, 0, 0, 6, 0, 0, 0x2000, 0x200, 0, 2, 0x8140)
    stack = (0x100000, 0x1000, 0x100000, 0x1000, 0, 16)
    optional = struct.pack("<HBB9I", 0x10B, 14, *sizes)
    optional += struct.pack("<6HIIIIHH6I", *more, *stack) + bytes(128)
    section = b".text\0\0\0"
    section += struct.pack("<IIIIIIHHI", 512, 0x1000, 512, 0x200, 0, 0, 0, 0, 0x60000020)
    head = dos.ljust(0x80, b"\0") + b"PE\0\0" + coff + optional + section
    return head.ljust(0x200, b"\0") + code


def tables(script: str, rows: list[tuple[str, tuple[object, ...]]]) -> bytes:
    """Return a SQLite database made by a script and filled by statements with their values."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "a.db")
        base = sqlite3.connect(place)
        base.executescript(script)
        for statement, values in rows:
            base.execute(statement, values)
        base.commit()
        base.close()
        return place.read_bytes()


class PyCode:
    """A block of Python as Ren'Py keeps it."""

    def __init__(self, source: str, location: tuple[str, int]) -> None:
        self.source, self.location, self.mode, self.bytecode = source, location, "exec", None


class Python:
    """A statement of Ren'Py that runs Python."""

    def __init__(self, code: PyCode, line: int) -> None:
        self.code, self.filename, self.linenumber = code, "game/gallery.rpy", line
        self.name = ("game/gallery.rpy", 1700000000, line)


class Say:
    """A statement of Ren'Py in which somebody speaks."""

    def __init__(self, who: str, what: str, line: int) -> None:
        self.who, self.what, self.filename, self.linenumber = who, what, "game/gallery.rpy", line


def script(line: str, source: str) -> bytes:
    """Return a compiled script of Ren'Py: a spoken line and a block of Python, pickled under Ren'Py's own names."""
    tree = [Say("i", line, 1), Python(PyCode(source, ("game/gallery.rpy", 2)), 2)]
    data = pickle.dumps(({"version": 5003000, "key": "unlocked"}, tree), 2)
    data = data.replace(f"c{PyCode.__module__}\n".encode(), b"crenpy.ast\n")
    packed = zlib.compress(data, 3)
    slots = struct.pack("<IIIIII", 1, 34, len(packed), 0, 0, 0)
    return b"RENPY RPC2" + slots + packed + hashlib.md5(data).digest()


def stream(named: bytes, data: bytes) -> bytes:
    """Return a stream of a PDF, packed by deflate."""
    packed = zlib.compress(data, 9)
    head = b"<< " + named + b" /Filter /FlateDecode /Length %d >>\nstream\n" % len(packed)
    return head + packed + b"\nendstream"


def rules(text: bytes, name: bytes, attached: bytes) -> bytes:
    """Return a PDF of one page with a file attached."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Names [(%b) 6 0 R] >> >> >>"
        % name,
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 420 595] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        stream(b"", b"BT /F1 18 Tf 60 500 Td (%b) Tj ET" % text),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>",
        b"<< /Type /Filespec /F (%b) /UF (%b) /EF << /F 7 0 R >> >>" % (name, name),
        stream(b"/Type /EmbeddedFile /Params << /Size %d >>" % len(attached), attached),
    ]
    out, places = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", b""
    for number, each in enumerate(objects, start=1):
        places += b"%010d 00000 n \n" % len(out)
        out += b"%d 0 obj\n" % number + each + b"\nendobj\n"
    size, start = len(objects) + 1, len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size + places
    return out + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, start)


def manuscript(words: str, place: str, picture: bytes) -> bytes:
    """Return a DOCX of one paragraph and one picture, whose alternative text is where it was taken from."""
    xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    formats, drawing = "http://schemas.openxmlformats.org", "drawingml/2006"
    package, office = f"{formats}/package/2006", f"{formats}/officeDocument/2006/relationships"

    def related(kind: str, target: str) -> bytes:
        one = f'<Relationship Id="rId1" Type="{office}/{kind}" Target="{target}"/>'
        return f'{xml}<Relationships xmlns="{package}/relationships">{one}</Relationships>'.encode()

    body = (
        f'<w:document xmlns:w="{formats}/wordprocessingml/2006/main" xmlns:wp="{formats}/{drawing}/wordprocessingDrawing" '
        f'xmlns:a="{formats}/{drawing}/main" xmlns:pic="{formats}/{drawing}/picture" xmlns:r="{office}"><w:body><w:p><w:r>'
        f"<w:t>{words}</w:t></w:r></w:p><w:p><w:r><w:drawing>"
        '<wp:inline><wp:extent cx="914400" cy="609600"/><wp:docPr id="1" name="Picture 1"/><a:graphic>'
        f'<a:graphicData uri="{formats}/{drawing}/picture"><pic:pic>'
        f'<pic:nvPicPr><pic:cNvPr id="1" name="Picture 1" descr="{place}"/><pic:cNvPicPr/></pic:nvPicPr>'
        '<pic:blipFill><a:blip r:embed="rId1"/></pic:blipFill>'
        '<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="914400" cy="609600"/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr>'
        "</pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p></w:body></w:document>"
    )
    types = (
        f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="png" ContentType="image/png"/><Override PartName="/word/document.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
    )
    return zipped(
        {
            "[Content_Types].xml": (xml + types).encode(),
            "_rels/.rels": related("officeDocument", "word/document.xml"),
            "word/_rels/document.xml.rels": related("image", "media/image1.png"),
            "word/document.xml": (xml + body).encode(),
            "word/media/image1.png": picture,
        }
    )


def names(said: list[tuple[int, str]]) -> bytes:
    """Return a font's table of names by their numbers."""
    held, rows = b"", b""
    for number, text in said:
        wide = text.encode("utf-16-be")
        rows += struct.pack(">HHHHHH", 3, 1, 0x409, number, len(wide), len(held))
        held += wide
    return struct.pack(">HHH", 0, len(said), 6 + len(rows)) + rows + held


def web_font(said: list[tuple[int, str]]) -> bytes:
    """Return the font that Pillow brings along as a WOFF with other names, each table packed by zlib."""
    font = ImageFont.load_default(20)
    face = getattr(font, "font_bytes", None) or font.path.getvalue()
    held = []
    for each in range(struct.unpack_from(">H", face, 4)[0]):
        tag, _, at, size = struct.unpack_from(">4sIII", face, 12 + 16 * each)
        held.append((tag, names(said) if tag == b"name" else face[at : at + size]))
    held.sort()
    start, rows, body = 44 + 20 * len(held), b"", b""
    for tag, table in held:
        packed = min(zlib.compress(table, 9), table, key=len)
        padded = table + bytes(-len(table) % 4)
        total = sum(struct.unpack(f">{len(padded) // 4}I", padded)) & 0xFFFFFFFF
        rows += struct.pack(">4sIIII", tag, start + len(body), len(packed), len(table), total)
        body += packed + bytes(-len(packed) % 4)
    whole = 12 + 16 * len(held) + sum(len(table) + -len(table) % 4 for _, table in held)
    sizes = (start + len(body), len(held), 0, whole, 1, 0, 0, 0, 0, 0, 0)
    return b"wOFF" + face[:4] + struct.pack(">IHHIHHIIIII", *sizes) + rows + body


def repository(page: bytes, message: str) -> dict[str, bytes]:
    """Return a page beside a folder of git, with the three loose objects of its one commit."""
    files = {}

    def loose(kind: bytes, body: bytes) -> str:
        whole = kind + b" %d\0" % len(body) + body
        name = hashlib.sha1(whole).hexdigest()
        files[f".git/objects/{name[:2]}/{name[2:]}"] = zlib.compress(whole)
        return name

    blob = loose(b"blob", page)
    tree = loose(b"tree", b"100644 index.html\0" + bytes.fromhex(blob))
    who = "M <m@millrun.example> 1793000000 +0000"
    said = f"tree {tree}\nauthor {who}\ncommitter {who}\n\n{message}\n"
    commit = loose(b"commit", said.encode())
    return {
        ".git/HEAD": b"ref: refs/heads/main\n",
        ".git/refs/heads/main": f"{commit}\n".encode(),
        ".git/config": b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
    } | files


def folder_view(listed: list[str]) -> bytes:
    """Return a .DS_Store that has the places of icons for some names."""
    rows = b""
    for name in sorted(listed, key=str.lower):
        rows += struct.pack(">I", len(name)) + name.encode("utf-16-be") + b"Ilocblob"
        rows += struct.pack(">IIIII", 16, 100, 80, 0xFFFFFFFF, 0xFFFF0000)
    root = struct.pack(">II", 3, 0)
    root += struct.pack(">III", 0x800 | 11, 0x20 | 5, 0x1000 | 12).ljust(1024, b"\0")
    root += struct.pack(">I", 1) + b"\x04DSDB" + struct.pack(">I", 1)
    for power in range(32):
        free = 6 <= power < 11 or 13 <= power < 31
        root += struct.pack(">II", 1, 1 << power) if free else bytes(4)
    out = bytearray(4 + 0x2000)
    out[:24] = struct.pack(">I4sIIII", 1, b"Bud1", 0x800, 0x800, 0x800, 0x100C)
    out[0x24:0x38] = struct.pack(">IIIII", 2, 0, len(listed), 1, 0x1000)
    out[0x804 : 0x804 + len(root)] = root
    out[0x1004:] = (struct.pack(">II", 0, len(listed)) + rows).ljust(4096, b"\0")
    return bytes(out)


def tar_xz(files: dict[str, bytes]) -> bytes:
    """Return a tar packed by xz, with every folder on the way to its files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        told = set()
        for name, body in files.items():
            for above in reversed(Path(name).parents):
                if above not in told:
                    entry = tarfile.TarInfo("./" if above == Path() else f"./{above}/")
                    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                    entry.uname = entry.gname = "root"
                    archive.addfile(entry)
                    told.add(above)
            entry = tarfile.TarInfo(f"./{name}")
            entry.size, entry.uname, entry.gname = len(body), "root", "root"
            archive.addfile(entry, io.BytesIO(body))
    return lzma.compress(out.getvalue())


def debian(control: str, files: dict[str, bytes]) -> bytes:
    """Return a package of Debian: an ar of its version, its description and its files."""
    members = {
        "debian-binary": b"2.0\n",
        "control.tar.xz": tar_xz({"control": control.encode()}),
        "data.tar.xz": tar_xz(files),
    }
    out = b"!<arch>\n"
    for name, body in members.items():
        out += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(body):<10}`\n".encode() + body
        out += b"\n" * (len(body) % 2)
    return out


def idol(extras: dict[str, object]) -> bytes:
    """Return a GLB of one triangle whose extras are those of the whole asset."""
    points = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
    corners = {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}
    told = {
        "asset": {"version": "2.0", "extras": extras},
        "buffers": [{"byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [corners | {"min": [0, 0, 0], "max": [1, 1, 0]}],
        "meshes": [{"name": "Idol", "primitives": [{"attributes": {"POSITION": 0}}]}],
        "nodes": [{"mesh": 0, "name": "Idol"}],
        "scenes": [{"nodes": [0]}],
        "scene": 0,
    }
    said = json.dumps(told).encode()
    said += b" " * (-len(said) % 4)
    head = struct.pack("<4sIIII", b"glTF", 2, 28 + len(said) + len(points), len(said), 0x4E4F534A)
    return head + said + struct.pack("<I4s", len(points), b"BIN\0") + points


def novel(parts: dict[str, bytes]) -> bytes:
    """Return an EPUB of parts below OEBPS, of which ``b.opf`` tells what they are."""
    xml = '<?xml version="1.0" encoding="utf-8"?>\n'
    held = (
        '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/b.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    files = {"mimetype": b"application/epub+zip", "META-INF/container.xml": (xml + held).encode()}
    for name, body in parts.items():
        files[f"OEBPS/{name}"] = body if name.endswith(".jpg") else xml.encode() + body
    return zipped(files)
