"""A test module that runs itself under pytest: fixtures, a temporary path, captured output, a failure, a skip."""
import os
import sys
import time

import pytest


@pytest.fixture
def clock():
    begin = time.perf_counter()
    yield begin
    assert time.perf_counter() >= begin


@pytest.mark.parametrize("number", [1, 2, 3])
def test_numbers(number, tmp_path, clock):
    (tmp_path / "n.txt").write_text(str(number))
    assert int((tmp_path / "n.txt").read_text()) == number


def test_output(capsys, monkeypatch):
    monkeypatch.setenv("BS_TEST", "1")
    print(os.environ["BS_TEST"])
    assert capsys.readouterr().out == "1\n"


@pytest.mark.skip(reason="not today")
def test_skipped():
    assert 0


@pytest.mark.xfail(strict=True)
def test_known():
    assert {1, 2} == {1, 3}


def test_wrong():
    words = ["left", "right"]
    assert words == ["left", f"drawn {os.urandom(3).hex()}"]


if __name__ == "__main__":
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    sys.exit(pytest.main([os.path.basename(__file__), "-v", "--basetemp=base", "-p", "no:cacheprovider", "--durations=2", "--durations-min=0"]))
