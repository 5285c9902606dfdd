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
from collections.abc import Iterator
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
_Done = subprocess.CompletedProcess


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
    """Run the blocks of a page in a folder; raise AssertionError at the first that is not as it says.

    Commands run through a shell for each block. Where a page holds nothing but commands of twice, they are
    forks of a loaded process: a record that one of the two makes differs for the other in its environment.
    """
    blocks = [each for each in page.blocks if each.why_not is None]
    commands = [line for each in blocks for line in _list_commands(each)]
    is_forked = all(re.match(r"twice [^|&;<>$`(){}*~]*$", _drop_comment(each)) for each in commands)
    for block in blocks:
        if block.title is not None:
            path = folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
        elif block.language in {"console", "python"}:
            run = _fork_commands if is_forked else _run_in_shell
            for command, done in run(_list_commands(block), folder):
                code = int(found["code"]) if (found := _EXIT_CODE.search(command)) else 0
                at = f"the block in line {block.line}: {command}"
                printed = f"{done.stdout}{done.stderr or ''}"
                assert done.returncode == code, f"{at}\nexit code {done.returncode}:\n{printed}"
            if block.output is not None:
                assert any(matches_output(block.output, each) for each in (printed, done.stdout)), (
                    f"{at}\nthe page shows:\n{block.output}\nit prints:\n{printed}"
                )


def _list_commands(block: Block) -> list[str]:
    if block.title is None and block.language == "python":
        return [f"python - <<'END-OF-BLOCK'\n{block.text}END-OF-BLOCK\n"]
    if block.title is not None or block.language != "console":
        return []
    lines = re.sub(r"\\\n\s*", "", block.text).splitlines()
    return [each for each in lines if each.strip() and not each.lstrip().startswith("#")]


def _drop_comment(command: str) -> str:
    return re.sub(r"\s+#.*", "", command) if "\n" not in command else command


def _fork_commands(commands: list[str], folder: Path) -> Iterator[tuple[str, _Done]]:
    for command in commands:
        words = shlex.split(_drop_comment(command))
        yield command, cli(*words[1:], cwd=folder, env=_variables())


def _run_in_shell(commands: list[str], folder: Path) -> Iterator[tuple[str, _Done]]:
    """Run commands in one shell, so that its folder and variables stay; the output of each goes to a file."""
    with tempfile.TemporaryDirectory() as outside:
        script = "\n".join(
            f"{{ {_drop_comment(each)}\n}} >{outside}/{at} 2>&1; echo $? >{outside}/{at}.code"
            for at, each in enumerate(commands)
        )
        subprocess.run(
            ["bash", "-c", script],
            cwd=folder,
            env=environ(_variables()),
            timeout=HANGS_AFTER_S,
            check=False,
        )
        for at, command in enumerate(commands):
            code = int(Path(outside, f"{at}.code").read_text("utf-8"))
            yield command, _Done([], code, Path(outside, str(at)).read_text("utf-8"), "")


def _variables() -> dict[str, str | None]:
    """Return the variables of a terminal in which twice is installed.

    A client of MCP hands on no XDG folder, and no variable that jax set when another test imported it here.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    dropped = dict.fromkeys(each for each in os.environ if each.startswith(("XDG_", "TF_CPP_")))
    return {"PATH": path, **dropped}


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
