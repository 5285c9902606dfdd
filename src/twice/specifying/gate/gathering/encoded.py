"""The canonical form and RFC 8785, run on known answers.

Invariant: the answers of RFC 8785 are those of the document, not of a library.

Source: RFC 8785, sections 3.2.2 and 3.2.3 and appendix B.
"""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import rfc8785

from twice.errors import TwiceError
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.encoding import encode
from twice.specifying.gate.evidence import Encoded
from twice.specifying.gate.facts import Unavailable
from twice.specifying.gate.gathering.bench import Bench

_ANSWERS: Final = (
    (
        (
            '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],'
            '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}'
        ),
        (
            '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
            '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
        ),
    ),
    (
        '{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}',
        '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}',
    ),
    ("[-0.0,5e-324,1.7976931348623157e308]", "[0,5e-324,1.7976931348623157e+308]"),
    ("[9007199254740992.0,295147905179352830000.0]", "[9007199254740992,295147905179352830000]"),
    ("[1e21,0.000001,9.999999999999997e-7]", "[1e+21,0.000001,9.999999999999997e-7]"),
    ('[[],{},"",0,false]', '[[],{},"",0,false]'),
)


def gather_encoded(bench: Bench) -> Encoded | Unavailable:
    """Run the answers of RFC 8785, and the vectors of sheet 11."""
    bench.doing("running the vectors of the canonical form")
    wrong = tuple(given for given, expected in _ANSWERS if _written(given) != expected)
    return Encoded(
        rfc8785=len(_ANSWERS),
        wrong=wrong,
        vectors={value: _digests(value) for value in bench.plan.vectors},
        versions={name: _version(name) for name in bench.plan.libraries},
    )


def _written(document: str) -> str:
    loaded: Any = json.loads(document)
    return rfc8785.dumps(loaded).decode()


def _digests(document: str) -> tuple[str, ...]:
    try:
        encoded = encode(json.loads(document))
    except (ValueError, RecursionError, TwiceError):
        return ()
    return tuple(str(digest_bytes(encoded, algorithm)) for algorithm in Algorithm)


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"
