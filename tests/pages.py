"""Pages of the documentation, run: their files are written, their commands typed, their outputs compared.

What a block is, CONTRIBUTING.md says. ``python tests/pages.py PAGE...`` runs pages by hand.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path

from programs import HANGS_AFTER_S, cli, environ

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>[a-z]*)(?P<about>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
_NOT_RUN = re.compile(r"<!-- not run: (?P<why>[^\n]+?) -->\n *\Z")
_HEAD = re.compile(r"^<!-- (?P<key>needs|tier): (?P<value>[^\n]+?) -->$", re.MULTILINE)
_EXIT_CODE = re.compile(r"#.*\bexit code (?P<code>\d+)")
_SHELL = frozenset("|&;<>$`(){}*~=")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; ``title`` is the file that it is written to, ``why_not`` why it does not run."""

    language: str
    title: str | None
    text: str
    line: int
    why_not: str | None
    output: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """The blocks of a page, the libraries that it needs, and the tier of its test."""

    blocks: tuple[Block, ...]
    needs: tuple[str, ...]
    tier: str | None


def read_page(path: Path) -> Page:
    """Read a page; a ``text`` block right after a command belongs to it, as its output."""
    page, blocks, end = path.read_text("utf-8"), list[Block](), 0
    for match in _FENCE.finditer(page):
        between, language = page[end : match.start()], match["language"]
        text = textwrap.dedent(match["text"])
        title = re.search(r'title="([^"]+)"', match["about"])
        why_not = _NOT_RUN.search(page[: match.start()])
        block = Block(
            language,
            title and title[1],
            text,
            page.count("\n", 0, match.start()) + 1,
            why_not and why_not["why"],
        )
        if language == "text" and title is None and not between.strip() and blocks:
            blocks[-1] = replace(blocks[-1], output=text)
        else:
            blocks.append(block)
        end = match.end()
    head = {each["key"]: each["value"] for each in _HEAD.finditer(page)}
    needs = tuple(filter(None, re.split(r"[,\s]+", head.get("needs", ""))))
    return Page(tuple(blocks), needs, head.get("tier"))


def assert_as_shown(page: Page, folder: Path) -> None:
    """Run the blocks of a page in a folder; raise AssertionError at the first that is not as it says."""
    for block in page.blocks:
        if block.why_not is not None:
            continue
        if block.title is not None:
            path = folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
        elif block.language == "python":
            done = subprocess.run(
                [sys.executable, "-"], input=block.text, cwd=folder, **_process_options()
            )
            _check(block, block.text, done, 0)
        elif block.language == "console":
            _run_commands(block, folder)


def _run_commands(block: Block, folder: Path) -> None:
    """Run the commands of a block; through one shell if any needs one, so that folders and variables stay."""
    lines = [each for each in re.sub(r"\\\n\s*", "", block.text).splitlines() if each.strip()]
    commands = [each for each in lines if not each.lstrip().startswith("#")]
    plain = [re.sub(r"\s+#.*", "", each) for each in commands]
    codes = [int(found["code"]) if (found := _EXIT_CODE.search(each)) else 0 for each in commands]
    if not any(_SHELL & set(each) or each.startswith(("cd ", "export ")) for each in plain):
        for command, code, is_last in zip(plain, codes, _mark_last(plain), strict=True):
            words = shlex.split(command)
            if words[0] == "twice":
                done = cli(*words[1:], cwd=folder)
            else:
                done = subprocess.run(["bash", "-c", command], cwd=folder, **_process_options())
            _check(block if is_last else replace(block, output=None), command, done, code)
        return
    # Each command's output goes to a file of its own, so that the last one's can be compared.
    outside = Path(tempfile.mkdtemp())
    script = "\n".join(
        f"{{ {command.removesuffix('&')} {'& ' if command.endswith('&') else '; '}}} "
        f">{outside}/{at} 2>&1; echo $? >{outside}/{at}.code"
        for at, command in enumerate(plain)
    )
    subprocess.run(["bash", "-c", script], cwd=folder, **_process_options())
    for at, (command, code, is_last) in enumerate(
        zip(plain, codes, _mark_last(plain), strict=True)
    ):
        done = subprocess.CompletedProcess(
            command, int((outside / f"{at}.code").read_text()), (outside / f"{at}").read_text(), ""
        )
        _check(block if is_last else replace(block, output=None), command, done, code)


def _mark_last(commands: list[str]) -> list[bool]:
    return [False] * (len(commands) - 1) + [True]


def _process_options() -> dict[str, object]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {
        "env": environ({"PATH": path}),
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
        "text": True,
        "timeout": HANGS_AFTER_S,
        "check": False,
    }


def _check(block: Block, command: str, done: subprocess.CompletedProcess[str], code: int) -> None:
    printed = f"{done.stdout}{done.stderr or ''}"
    at = f"the block in line {block.line}: {command}"
    assert done.returncode == code, f"{at}\nexit code {done.returncode}, not {code}:\n{printed}"
    if block.output is not None:
        assert matches_output(block.output, printed) or matches_output(block.output, done.stdout), (
            f"{at}\nthe page shows:\n{block.output}\nit prints:\n{printed}"
        )


def matches_output(shown: str, printed: str) -> bool:
    """Return whether an output is as a page shows it: a line ``...`` is any lines, inside a line any text."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else
        r".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ \t]*\n"
        for line in shown.rstrip().splitlines()
    )  # fmt: skip
    return re.fullmatch(pattern + r"\s*", printed.rstrip() + "\n") is not None


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as empty:
            try:
                assert_as_shown(read_page(Path(name)), Path(empty))
            except AssertionError as error:
                sys.exit(f"{name}: {error}")
            print(f"{name}: as it says")
