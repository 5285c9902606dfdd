"""What the guide to testing shows works as it is shown."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from programs import environ

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guides" / "testing.md"


def test_the_functions_and_the_plugin_of_the_guide_work(tmp_path: Path) -> None:
    blocks = re.findall(
        r"^```python\n(.*?)^```", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    wanted = [block for block in blocks if "\ndef test_" in f"\n{block}"]
    (tmp_path / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "swarm.py", tmp_path / "examples")
    header = "import pytest\nfrom twice.testing import properties\n"
    (tmp_path / "test_guide.py").write_text(header + "\n".join(wanted), encoding="utf-8")
    given = {name: value for name, value in environ().items() if name != "CI"}
    plugin = "-p no:twice -p twice.testing.plugin -p no:cacheprovider --basetemp=base".split()

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugin],
        cwd=tmp_path,
        env=given,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout
    assert "twice: 3 recorded" in ran.stdout
    assert "5 passed" in ran.stdout
    assert len(wanted) == 3
