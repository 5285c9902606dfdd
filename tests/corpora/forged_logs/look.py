"""Build every store, or those that are named, and print what the gate and the verification say of each."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from forgeries import Case, list_cases
from stores import run_twice


def look(case: Case) -> dict[str, Any]:
    """Build one store, and let it be judged."""
    folder = Path(tempfile.mkdtemp(prefix="twice-forgery-"))
    try:
        hot = case.build(folder / "case")
        code, printed = run_twice("gate", hot, *case.arguments, "--json")
        verified, also = run_twice("verify", hot, "--json")
        rows = json.loads(printed)["rows"] if printed.startswith("{") else []
        found = [row for row in rows if row["status"] != "green"]
        return {
            "name": case.name,
            "expected": case.expected,
            "refutable": bool(case.refuted_by),
            "gate": {0: "pass", 1: "block", 2: "conditional"}.get(code, str(code)),
            "verify": verified,
            "rows": [f"{each['status']} {each['check']}: {each['evidence']}" for each in found],
            **({} if rows else {"refused": printed or also}),
        }
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    for each in list_cases():
        if not sys.argv[1:] or each.name in sys.argv[1:]:
            try:
                print(json.dumps(look(each), ensure_ascii=False), flush=True)
            except Exception as error:  # the next one is looked at all the same
                print(json.dumps({"name": each.name, "error": repr(error)[:2000]}), flush=True)
