"""Which callables read the world, draw, seed, or compute in an order: the vocabulary of attribution.

For: one table of names, resolved through imports by ``source_facts``. A tag says what kind of
difference a call can bring in, not that it did.

Invariant: data alone; a name stands under one tag, except where a call does two things.
"""

from __future__ import annotations

import re

CLOCK = "clock"
ENTROPY = "entropy"
ENVIRONMENT = "environment"
VARIABLE = "variable of the environment"
LISTING = "listing order"
HASH = "hash"
ADDRESS = "address"
PICKLE = "pickle"
REPR = "repr"
TEXT = "text in the encoding of the locale"
MATMUL = "matmul"
SUM = "sum"
DRAW = "draw"
SHARED_DRAW = "draw from a shared generator"
UNSEEDED = "generator without a seed"
SEEDING = "seeding"
ITERATION = "iteration"
RESTORING = "puts back what was saved"

WORLD = frozenset({CLOCK, ENTROPY, ENVIRONMENT, VARIABLE, LISTING, HASH, ADDRESS, UNSEEDED})
"""Tags of what can differ although everything the program holds agrees."""

_TIME = ("time", "perf_counter", "monotonic", "process_time", "thread_time")
EXACT: dict[str, str] = {
    **{f"time.{name}": CLOCK for name in _TIME},
    **{f"time.{name}_ns": CLOCK for name in _TIME},
    **{f"time.{name}": CLOCK for name in ("localtime", "gmtime", "ctime", "strftime", "asctime")},
    "time.clock_gettime": CLOCK,
    "time.clock_gettime_ns": CLOCK,
    **{f"datetime.datetime.{name}": CLOCK for name in ("now", "utcnow", "today")},
    "datetime.date.today": CLOCK,
    "os.times": CLOCK,
    **{
        f"datetime.{name}.fromtimestamp": ENVIRONMENT for name in ("datetime", "date")
    },  # the time zone
    **{
        f"time.{name}": ENVIRONMENT for name in ("mktime", "tzset", "tzname", "timezone", "altzone")
    },
    "os.urandom": ENTROPY,
    "os.getrandom": ENTROPY,
    "ssl.RAND_bytes": ENTROPY,
    **{
        f"tempfile.{name}": ENTROPY
        for name in ("mkdtemp", "mkstemp", "mktemp", "NamedTemporaryFile")
    },
    "tempfile.TemporaryDirectory": ENTROPY,
    "uuid.uuid1": ENTROPY,
    "uuid.uuid4": ENTROPY,
    "random.SystemRandom": ENTROPY,
    "os.environ": VARIABLE,
    "os.getenv": VARIABLE,
    "os.environb": VARIABLE,
    "os.getpid": ENVIRONMENT,
    "os.getppid": ENVIRONMENT,
    "os.getcwd": ENVIRONMENT,
    "os.cpu_count": ENVIRONMENT,
    "os.sched_getaffinity": ENVIRONMENT,
    "os.getloadavg": ENVIRONMENT,
    "os.uname": ENVIRONMENT,
    "os.getlogin": ENVIRONMENT,
    "os.get_terminal_size": ENVIRONMENT,
    "os.path.expanduser": ENVIRONMENT,
    "os.path.expandvars": ENVIRONMENT,
    "os.statvfs": ENVIRONMENT,
    **{f"os.path.get{name}time": ENVIRONMENT for name in "mca"},
    **{f"shutil.{name}": ENVIRONMENT for name in ("disk_usage", "get_terminal_size", "which")},
    "sys.getrefcount": ENVIRONMENT,
    "gc.get_count": ENVIRONMENT,
    "tempfile.gettempdir": ENVIRONMENT,
    "uuid.getnode": ENVIRONMENT,
    "multiprocessing.cpu_count": ENVIRONMENT,
    "socket.gethostname": ENVIRONMENT,
    "getpass.getuser": ENVIRONMENT,
    "pathlib.Path.home": ENVIRONMENT,
    "pathlib.Path.cwd": ENVIRONMENT,
    "sys.argv": ENVIRONMENT,
    "threading.get_ident": ENVIRONMENT,
    "threading.get_native_id": ENVIRONMENT,
    **{f"locale.{name}": ENVIRONMENT for name in ("getlocale", "localeconv", "setlocale")},
    **{
        f"locale.{name}": TEXT
        for name in ("getpreferredencoding", "strcoll", "strxfrm", "getencoding")
    },
    "os.listdir": LISTING,
    "os.scandir": LISTING,
    "os.walk": LISTING,
    "glob.glob": LISTING,
    "glob.iglob": LISTING,
    "hash": HASH,
    "id": ADDRESS,
    "repr": REPR,
    "pickle.dumps": PICKLE,
    "pickle.dump": PICKLE,
    **{f"{name}.loads": RESTORING for name in ("json", "marshal", "pickle")},
    **{f"{name}.load": RESTORING for name in ("joblib", "json", "numpy", "pickle", "torch")},
    "sum": SUM,
    "numpy.sum": SUM,
    "numpy.mean": SUM,
    "numpy.cumsum": SUM,
    "functools.reduce": SUM,
    **{
        f"numpy.{name}": MATMUL
        for name in ("dot", "matmul", "inner", "outer", "vdot", "tensordot", "einsum", "convolve")
    },
    **{f"torch.{name}": MATMUL for name in ("matmul", "mm", "bmm", "einsum", "addmm", "conv2d")},
}
PREFIXES: tuple[tuple[str, str], ...] = (
    ("secrets.", ENTROPY),
    ("platform.", ENVIRONMENT),
    ("numpy.linalg.", MATMUL),
    ("scipy.linalg.", MATMUL),
    ("torch.linalg.", MATMUL),
)
_SAVED = ("state", "snapshot", "checkpoint", "save", "dump", "backup")
METHODS: dict[str, str] = {
    "spawn": SEEDING,
    "dot": MATMUL,
    "sum": SUM,
    "mean": SUM,
    "astimezone": ENVIRONMENT,
    "glob": LISTING,
    "iterdir": LISTING,
    "rglob": LISTING,
    "clock_gettime": CLOCK,  # of the C library, by ctypes or cffi
    "gettimeofday": CLOCK,
    "getentropy": ENTROPY,
    "getrandom": ENTROPY,
    **dict.fromkeys(("load", "restore", "resume", "rewind", "rollback", "revive"), RESTORING),
    **{f"{verb}_state_dict": RESTORING for verb in ("load", "set")},
    **{f"{verb}_{what}": RESTORING for verb in ("load", "restore", "from") for what in _SAVED},
    **dict.fromkeys(("set_state", "setstate", "__setstate__", "reload", "rebuild"), RESTORING),
    **dict.fromkeys(("from_dict", "from_json", "loads"), RESTORING),
    **dict.fromkeys(("model_validate", "model_validate_json"), RESTORING),
}
SQL = (
    (re.compile(r"'now'|\bcurrent_(time|date|timestamp)\b|\bnow\(\)", re.IGNORECASE), CLOCK),
    (re.compile(r"'localtime'", re.IGNORECASE), ENVIRONMENT),
)
"""What a statement of SQL asks of the world."""
IS_SQL = re.compile(r"\s*(select|insert|update|delete|create|with)\b", re.IGNORECASE)
OPENS_TEXT = frozenset({"open", "io.open", "codecs.open"})
OPENING_METHODS = frozenset({"read_text", "write_text"})
DRAWS = frozenset(
    (
        *("random", "integers", "randint", "randrange", "normal", "standard_normal"),
        *("uniform", "choice", "choices", "sample", "shuffle", "permutation", "permuted"),
        *("gauss", "normalvariate", "expovariate", "exponential", "poisson", "binomial"),
        *("beta", "gamma", "getrandbits", "randbytes", "bytes", "rand", "randn"),
        *("random_sample", "lognormal", "laplace", "multivariate_normal", "geometric"),
        *("dirichlet", "triangular", "vonmises", "multinomial", "standard_exponential"),
        "betavariate",
    )
)
SEEDED = frozenset(
    {
        "random.Random",
        "random.seed",
        "numpy.random.default_rng",
        "numpy.random.RandomState",
        "numpy.random.SeedSequence",
        "numpy.random.seed",
        "numpy.random.PCG64",
        "numpy.random.PCG64DXSM",
        "numpy.random.MT19937",
        "numpy.random.Philox",
        "numpy.random.SFC64",
        "torch.manual_seed",
        "torch.seed",
        "jax.random.PRNGKey",
        "jax.random.key",
    }
)
SEEDING_METHODS = frozenset({"seed", "manual_seed", "reset_seed"})


def tags_of(name: str, *, arguments: int, is_method: bool) -> tuple[str, ...]:
    """Tags of a call or of an attribute that is read.

    Args:
        name: dotted name, resolved through the module's imports.
        arguments: number of arguments given; 0 for an attribute that is not called.
        is_method: the first part of the name is not a module.
    """
    if name in EXACT:
        return (EXACT[name],)
    if name in SEEDED:
        return (SEEDING,) if arguments else (UNSEEDED, ENTROPY)
    for prefix, tag in PREFIXES:
        if name.startswith(prefix):
            return (tag,)
    last = name.rpartition(".")[2]
    if name.startswith(("random.", "numpy.random.")) and last in DRAWS:
        return (DRAW, SHARED_DRAW)
    if not is_method or "." not in name:
        return ()
    if last in DRAWS:
        return (DRAW,)
    if last in SEEDING_METHODS:
        return (SEEDING,) if arguments else (UNSEEDED, ENTROPY)
    known = METHODS.get(last)
    return () if known is None or (known is RESTORING and not arguments) else (known,)
