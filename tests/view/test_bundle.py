"""The page of ``twice view`` is the one that its sources make, and markup comes from no string."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
SOURCES = REPOSITORY / "frontend" / "src"
STATIC = REPOSITORY / "src" / "twice" / "view" / "static"
MADE_OF = [
    REPOSITORY / "frontend" / "build.mjs",
    REPOSITORY / "frontend" / "package-lock.json",
    REPOSITORY / "src" / "twice" / "report" / "templates" / "style.css",
    *SOURCES.iterdir(),
]
BUNDLES = ("view.js", "view.css")


def seal(paths: list[Path]) -> str:
    """Return the digest that ``frontend/build.mjs`` writes into a bundle."""
    named = sorted((path.relative_to(REPOSITORY).as_posix(), path) for path in paths)
    lines = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n" for name, path in named)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def bundle(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def test_the_bundle_is_as_new_as_its_sources() -> None:
    expected = f"/* sources sha256:{seal(MADE_OF)}\n"

    assert [name for name in BUNDLES if not bundle(name).startswith(expected)] == [], (
        "cd frontend && npm ci && npm run build"
    )
    assert bundle("index.html") == (SOURCES / "index.html").read_text(encoding="utf-8")


def test_the_licence_of_the_library_inside_is_kept() -> None:
    assert [name for name in BUNDLES if "Permission is hereby granted" not in bundle(name)] == []


def test_no_source_makes_markup_or_code_of_a_string() -> None:
    dangerous = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setHTML"
    )

    assert [
        path.name for path in SOURCES.glob("*.js") if dangerous.search(path.read_text("utf-8"))
    ] == []


def test_the_page_keeps_the_policy_of_its_server() -> None:
    """Scripts and styles are files of the server, and nothing is fetched from elsewhere."""
    page = bundle("index.html")

    assert re.findall(r"<style|style=|<script>|\son\w+=", page) == []
    assert re.findall(r'(?:src|href)="([^"]*)"', page) == [
        "data:,",
        "view.css?token=__TOKEN__",
        "view.js?token=__TOKEN__",
    ]
    assert re.findall(r"url\(|@import", bundle("view.css")) == []


def test_the_page_is_small() -> None:
    assert (STATIC / "view.js").stat().st_size < 150_000
