"""The public build: one page and one EPUB of the same story, from cold copies alone."""

import html
import zipfile
from pathlib import Path

STORY = (
    ("chart", "The lamp on Skerry had not been lit for eleven winters."),
    ("lighthouse", "Tonight somebody was climbing the stairs, and the glass began to glow."),
    ("sky", "Over the sound the weather was making up its mind."),
    ("buoy", "The old buoy rang once, as if it had been asked."),
)
TITLE = "The Skerry Lamp"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time that every member of the EPUB names: the same files come to the same book."""

CONTAINER = """<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""
PACKAGE = """<?xml version="1.0" encoding="UTF-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">the-skerry-lamp</dc:identifier><dc:title>{title}</dc:title><dc:language>en</dc:language>
<meta property="dcterms:modified">1980-01-01T00:00:00Z</meta>
</metadata>
<manifest>
<item id="page" href="page.xhtml" media-type="application/xhtml+xml" properties="nav"/>
{items}
</manifest>
<spine><itemref idref="page"/></spine>
</package>
"""


def page(pictures, sounds, *, nav):
    """Write the story as XHTML that is valid as HTML too.

    Args:
        pictures: alternative texts by name, only of the rendered ones.
        sounds: the same of sounds.
        nav: whether to include the table of contents of an EPUB.
    """
    contents = f'<nav epub:type="toc"><ol><li><a href="#story">{TITLE}</a></li></ol></nav>'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>' if nav else "<!DOCTYPE html>",
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">',
        f'<head><title>{TITLE}</title></head><body>{contents if nav else ""}<h1 id="story">{TITLE}</h1>',
    ]
    for name, said in STORY:
        if name in pictures:
            lines.append(f'<p><img src="{name}.png" alt="{html.escape(pictures[name])}"/></p>')
        lines.append(f"<p>{html.escape(said)}</p>")
    for name, said in sounds.items():
        heard = f'<audio controls="controls" src="{name}.wav"></audio>'
        lines.append(f"<p>{heard} {html.escape(said)}</p>")
    return "\n".join([*lines, "</body></html>", ""])


def write(public: Path, pictures: dict[str, str], sounds: dict[str, str]) -> None:
    """Write page and book beside the cold copies."""
    (public / "index.html").write_text(page(pictures, sounds, nav=False), encoding="utf-8")
    files = {
        **{f"{name}.png": "image/png" for name in pictures},
        **{f"{name}.wav": "audio/wav" for name in sounds},
    }
    items = "\n".join(
        f'<item id="{name.partition(".")[0]}" href="{name}" media-type="{kind}"/>'
        for name, kind in files.items()
    )
    members = {
        "mimetype": b"application/epub+zip",
        "META-INF/container.xml": CONTAINER.encode(),
        "book.opf": PACKAGE.format(title=TITLE, items=items).encode(),
        "page.xhtml": page(pictures, sounds, nav=True).encode(),
        **{name: (public / name).read_bytes() for name in files},
    }
    with zipfile.ZipFile(public / "skerry.epub", "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in members.items():
            packing = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            book.writestr(zipfile.ZipInfo(name, EPOCH), content, packing)
