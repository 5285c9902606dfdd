"""What names stand for across files, and how many of them are asked for on the way."""

from __future__ import annotations

from twice.checker.analysis.project_names import ProjectNames


def facts(**files: dict[str, object]) -> dict[str, dict[str, object]]:
    empty: dict[str, object] = {
        "lent": {},
        "stars": [],
        "imported": [],
        "classes": {},
        "defined": [],
    }
    return {
        name.replace("__", "/") + ".py": {**empty, "module": name.replace("__", "."), **given}
        for name, given in files.items()
    }


def test_a_star_lends_what_its_file_defines():
    names = ProjectNames(
        facts(
            pkg={"stars": ["pkg.first", "pkg.second"], "module": "pkg"},
            pkg__first={"stars": ["pkg.second"]},
            pkg__second={"stars": ["pkg.first"], "defined": ["read"]},
            use={"lent": {"read": "pkg.read"}},
        )
    )

    assert names.find("use.py", "read") is None
    assert names.find("use.py", "pkg.read") == ("pkg/second.py", "read")
    assert names.find("use.py", "pkg.absent") == ("pkg.py", "absent")


def test_stars_of_modules_that_are_no_files_are_not_asked_within_each_other():
    stars = [f"pkg.compiled_{n}" for n in range(40)]
    names = ProjectNames(facts(pkg={"stars": stars, "module": "pkg"}))

    assert names.find("use.py", "pkg.read") == ("pkg.py", "read")
    assert len(names._found) <= 2 * len(stars)


def test_a_package_that_lends_from_itself_stands_for_nothing_else():
    names = ProjectNames(facts(pkg={"lent": {"read": "pkg.read.read"}, "module": "pkg"}))

    assert names.find("use.py", "pkg.read") is not None
