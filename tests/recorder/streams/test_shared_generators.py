"""The shared generators, in fresh processes: what is imported when is the point."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from programs import HANGS_AFTER_S

pytestmark = pytest.mark.integration


def run(code: str) -> str:
    prelude = """
        import sys
        from twice.foundation.seeds import Seed, derive
        from twice.recorder.streams import Streams, draws
        streams = Streams(Seed(42))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(prelude) + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS_AFTER_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_numpy_is_governed_before_the_line_after_its_import():
    code = """
        assert "numpy" not in sys.modules
        streams.govern_globals()
        assert streams.names() == ["global/random"]
        import numpy as np
        print(np.random.rand(), streams.names())
    """

    assert run(code) == run(code)
    assert "global/numpy" in run(code)


@pytest.mark.parametrize("library", ["numpy", pytest.param("torch", marks=pytest.mark.heavy)])
def test_a_stream_may_be_the_first_to_import_its_library(library):
    pytest.importorskip(library, reason=f"needs {library}")
    code = f"""
        streams.govern_globals()
        assert "{library}" not in sys.modules
        streams.{library}("own")
        print(streams.names())
    """

    assert f"'global/{library}'" in run(code)


@pytest.mark.parametrize("order", ["before", "after", "from"])
def test_the_legacy_functions_draw_from_the_sub_seed_whenever_numpy_comes(order):
    imports = {
        "before": ("import numpy.random", ""),
        "after": ("", "import numpy.random"),
        "from": ("", "from numpy.random import rand"),
    }[order]
    code = f"""
        {imports[0]}
        streams.govern_globals()
        {imports[1]}
        import numpy as np
        value = derive(Seed(42), "global/numpy").value
        words = [value >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)]
        assert np.random.rand() == np.random.RandomState(words).rand()
        print(streams.globals_used())
    """

    assert run(code) == "['global/numpy']\n"


def test_the_module_functions_of_random_draw_from_the_sub_seed():
    code = """
        import random
        streams.govern_globals()
        assert streams.globals_used() == []
        assert random.random() == random.Random(derive(Seed(42), "global/random").value).random()
        print(streams.globals_used())
    """

    assert run(code) == "['global/random']\n"


def test_shared_generators_are_restored_in_place_and_are_the_same_after_a_late_import():
    code = """
        import random
        streams.govern_globals()
        import numpy as np
        random.gauss(0, 1); np.random.standard_normal()
        saved, position = streams.snapshot(), streams.positions()
        first = (random.gauss(0, 1), np.random.standard_normal())
        assert streams.positions() != position
        streams.restore(saved)
        assert streams.positions() == position
        assert (random.gauss(0, 1), np.random.standard_normal()) == first
        print(draws(saved, streams.snapshot()))
    """

    assert run(code) == "{'global/numpy': 0, 'global/random': 0}\n"


def test_a_stored_position_waits_for_numpy_to_come():
    code = """
        streams.govern_globals()
        import numpy as np
        np.random.rand(5)
        state = streams.snapshot()
        print(repr((state, np.random.rand())))
    """
    state, expected = eval(run(code))
    again = f"""
        streams.govern_globals()
        streams.restore({state!r})
        import numpy as np
        print(repr(np.random.rand()))
    """

    assert eval(run(again)) == expected


def test_releasing_puts_the_shared_generators_back():
    code = """
        import random
        import numpy as np
        before = random.getstate(), repr(np.random.get_state())
        finders = list(sys.meta_path)
        streams.govern_globals()
        random.random(); np.random.rand()
        streams.release_globals()
        assert (random.getstate(), repr(np.random.get_state())) == before
        assert sys.meta_path == finders
        print("back")
    """

    assert run(code) == "back\n"


def test_bits_put_under_the_legacy_functions_are_seen():
    code = """
        import numpy as np
        streams.govern_globals()
        before = streams.positions()
        np.random.set_bit_generator(np.random.MT19937(5))
        replaced = streams.positions()
        np.random.rand()
        print(len({before, replaced, streams.positions()}))
    """

    assert run(code) == "3\n"


def test_the_finder_changes_neither_spec_nor_loader():
    code = """
        streams.govern_globals()
        import numpy.random
        loader = numpy.random.__spec__.loader
        print(type(loader).__name__, "exec_module" in vars(loader), numpy.random.__loader__ is loader)
        import importlib.util
        assert importlib.util.find_spec("numpy.random") is numpy.random.__spec__
    """

    assert run(code) == "SourceFileLoader False True\n"


def test_asking_for_a_spec_without_importing_changes_nothing():
    code = """
        import importlib.util
        streams.govern_globals()
        assert importlib.util.find_spec("numpy.random") is not None
        import numpy as np
        np.random.rand()
        print(streams.globals_used())
    """

    assert run(code) == "['global/numpy']\n"


def test_governing_twice_is_governing_once():
    code = """
        import random
        streams.govern_globals()
        random.random()
        streams.govern_globals()
        print(streams.globals_used(), len(sys.meta_path) == len(set(map(id, sys.meta_path))))
    """

    assert run(code) == "['global/random'] True\n"
