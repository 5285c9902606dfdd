"""Labelled programs that read and write files through native libraries.

A label is the verdict that ``twice verify`` owes, written before any program was recorded. Where
two verdicts are honest they stand with a bar between them. A FAIL must name one of ``names``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from native_kits import KITS, Kit

NUMBERS = "[(i * i) % 8191 for i in range(2000)]"
OTHERS = "[(i * i) % 8191 + 5 for i in range(2000)]"
MOVE = "MOVE"


@dataclass(frozen=True)
class Case:
    """One program, what stands before it, what is done after its recording, and its label."""

    name: str
    kind: str
    needs: tuple[str, ...]
    program: str
    expect: str
    names: tuple[str, ...] = ()
    setup: str = ""
    change: str = ""
    options: tuple[str, ...] = ()


def delete(*paths: str) -> str:
    """Text of a script that removes files and folders."""
    return f"""import os, shutil
for p in {list(paths)!r}:
    shutil.rmtree(p) if os.path.isdir(p) and not os.path.islink(p) else os.unlink(p)
"""


def junk(*paths: str) -> str:
    """Text of a script that overwrites files, and all files of folders, with junk."""
    return f"""import os
for p in {list(paths)!r}:
    inside = [os.path.join(d, f) for d, _, fs in os.walk(p) for f in fs] if os.path.isdir(p) else [p]
    for f in inside:
        with open(f, "wb") as handle:
            handle.write(b"junk" * 999)
"""


@dataclass(frozen=True)
class Noise:
    """Text that binds ``noise``, an integer that differs between executions unless it is served."""

    name: str
    needs: tuple[str, ...]
    expect: str
    code: str


def _noise(name: str, needs: str, expect: str, code: str) -> Noise:
    return Noise(name, tuple(needs.split()), expect, code.strip() + "\nnoise = noise % 1000003\n")


NOISES: tuple[Noise, ...] = (
    _noise(
        "sqlite_random",
        "sqlite3",
        "PASS",
        """
import sqlite3
noise = sqlite3.connect(":memory:").execute("select abs(random() / 2)").fetchone()[0]
""",
    ),
    _noise(
        "libc_getrandom",
        "",
        "FAIL",
        """
import ctypes
_b = ctypes.create_string_buffer(8)
ctypes.CDLL(None).getrandom(_b, 8, 0)
noise = int.from_bytes(_b.raw, "little")
""",
    ),
    _noise(
        "libc_clock",
        "",
        "FAIL",
        """
import ctypes
_b = (ctypes.c_long * 2)()
ctypes.CDLL("libc.so.6").clock_gettime(1, _b)
noise = _b[1]
""",
    ),
    _noise(
        "duckdb_uuid",
        "duckdb",
        "FAIL",
        """
import duckdb
noise = duckdb.connect().execute("select uuid()").fetchone()[0].int
""",
    ),
    _noise(
        "pyarrow_random",
        "pyarrow",
        "FAIL",
        """
import pyarrow.compute as _pc
noise = int(_pc.random(1)[0].as_py() * 2**53)
""",
    ),
    _noise(
        "openssl_random",
        "ssl",
        "PASS",
        """
import ssl
noise = int.from_bytes(ssl.RAND_bytes(8), "little")
""",
    ),
    _noise(
        "kernel_uuid_read_by_duckdb",
        "duckdb",
        "FAIL",
        """
import duckdb
_q = "select content from read_text('/proc/sys/kernel/random/uuid')"
noise = int(duckdb.connect().execute(_q).fetchone()[0].replace("-", "")[:12], 16)
""",
    ),
    _noise(
        "kernel_uuid_read_by_libc",
        "",
        "FAIL",
        """
import ctypes
_c = ctypes.CDLL(None)
_c.fopen.restype = ctypes.c_void_p
_f = _c.fopen(b"/proc/sys/kernel/random/uuid", b"r")
_b = ctypes.create_string_buffer(64)
_c.fread(_b, 1, 36, ctypes.c_void_p(_f))
noise = int(_b.value.decode().replace("-", "")[:12], 16)
""",
    ),
    _noise(
        "opencv_ticks",
        "cv2",
        "FAIL",
        """
import cv2
noise = cv2.getTickCount()
""",
    ),
    _noise(
        "numpy_now",
        "numpy",
        "FAIL",
        """
import numpy as _np
noise = int(_np.datetime64("now").astype("int64"))
""",
    ),
    _noise(
        "sodium_random",
        "nacl",
        "FAIL",
        """
from nacl import bindings as _bindings
noise = int.from_bytes(_bindings.randombytes(8), "little")
""",
    ),
    _noise(
        "torch_seed",
        "torch",
        "PASS",
        """
import torch as _torch
noise = _torch.Generator().seed()
""",
    ),
    _noise(
        "apsw_now",
        "apsw",
        "FAIL",
        """
import apsw as _apsw
_q = "select cast(1e8 * julianday('now') as integer)"
noise = list(_apsw.Connection(":memory:").execute(_q))[0][0]
""",
    ),
    _noise(
        "polars_shuffle",
        "polars",
        "FAIL",
        """
import polars as _pl
_s = _pl.select(_pl.int_range(0, 1000).shuffle().alias("x"))["x"]
noise = sum(a * b for a, b in enumerate(_s.to_list()))
""",
    ),
    _noise("hash_of_object", "", "FAIL|PASS", "noise = hash(object()) // 16"),
    _noise(
        "address_of_array",
        "numpy",
        "FAIL|PASS",
        """
import numpy as _np
noise = _np.zeros(1 << 20).__array_interface__["data"][0] // 16
""",
    ),
    _noise(
        "thread_number",
        "",
        "FAIL|PASS",
        """
import threading
noise = threading.get_native_id()
""",
    ),
    _noise("uuid1", "", "FAIL|PASS", "import uuid\nnoise = uuid.uuid1().time"),
    _noise(
        "usage",
        "",
        "FAIL|PASS",
        """
import resource
noise = int(resource.getrusage(resource.RUSAGE_SELF).ru_utime * 1e6)
""",
    ),
    _noise(
        "pandas_now",
        "pandas",
        "FAIL|PASS",
        """
import pandas as _pd
noise = _pd.Timestamp.now().value // 1000
""",
    ),
    _noise("time_served", "", "PASS", "import time\nnoise = time.time_ns() // 1000"),
    _noise("urandom_served", "", "PASS", "import os\nnoise = int.from_bytes(os.urandom(8))"),
    _noise("uuid4_served", "", "PASS", "import uuid\nnoise = uuid.uuid4().int"),
    _noise(
        "proc_served",
        "",
        "PASS",
        """
with open("/proc/self/schedstat") as _f:
    noise = int(_f.read().split()[0])
""",
    ),
    _noise(
        "process_served",
        "",
        "PASS",
        """
import subprocess
noise = int(subprocess.run(["date", "+%s%N"], capture_output=True, check=True).stdout) // 1000
""",
    ),
)
NOISE = {noise.name: noise for noise in NOISES}
KIT = {kit.name: kit for kit in KITS}
_SAME = [kit for kit in KITS if not kit.differs]

_START = {
    "spawn": """
if __name__ == "__main__":
    import multiprocessing
    p = multiprocessing.get_context("spawn").Process(target=work)
    p.start()
    p.join()
    print("child", p.exitcode)
""",
    "fork": """
if __name__ == "__main__":
    import multiprocessing
    p = multiprocessing.get_context("fork").Process(target=work)
    p.start()
    p.join()
    print("child", p.exitcode)
""",
    "pool": """
if __name__ == "__main__":
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        print(pool.submit(work).result())
""",
    "osfork": """
import os
child = os.fork()
if child == 0:
    work()
    os._exit(0)
print("child", os.waitpid(child, 0)[1])
""",
    "subprocess": """
import subprocess, sys
if "child" in sys.argv:
    work()
else:
    print(subprocess.run([sys.executable, __file__, "child"]).returncode)
""",
    "system": """
import os, sys
if "child" in sys.argv:
    work()
else:
    print(os.system(f"{sys.executable} {__file__} child"))
""",
    "thread": """
import threading
t = threading.Thread(target=work)
t.start()
t.join()
print("joined")
""",
}


def _remake(kit: Kit, path: str, numbers: str) -> str:
    """Text of a script that makes a library's file anew."""
    return (
        f"import os, shutil\nif os.path.isdir({path!r}):\n    shutil.rmtree({path!r})\n"
        f"{kit.code}save({path!r}, {numbers})\n"
    )


def _written(place: int, kit: Kit) -> Case:
    out = "out" + kit.suffix
    real = kit.name != "rtree"
    # What differs is a time in whole seconds: the replay may not fall into the recording's.
    later = "import time\ntime.sleep(1.1)\n" if kit.differs else ""
    return Case(
        f"write_{kit.name}",
        "write",
        kit.needs,
        f"{kit.code}save({out!r}, {NUMBERS})\nprint('saved')\n",
        "FAIL" if kit.differs else "PASS",
        (kit.differs,) if kit.differs else (),
        change=later + (delete, junk)[place % 2](out if real else out + ".dat"),
    )


def _read(place: int, kit: Kit) -> Case:
    path = "in" + kit.suffix
    real = path if kit.name != "rtree" else path + ".dat"
    how = place % 3
    changed = (delete(real), _remake(kit, path, OTHERS), junk(real))[how]
    return Case(
        f"read_{kit.name}_{('deleted', 'changed', 'junk')[how]}",
        "input",
        kit.needs,
        f"{kit.code}print(load({path!r}))\n",
        "FAIL",
        (path,),
        setup=f"{kit.code}save({path!r}, {NUMBERS})\n",
        change=changed,
    )


def _planted(kit: Kit, noise: Noise) -> Case:
    out = "out" + kit.suffix
    return Case(
        f"planted_{kit.name}_{noise.name}",
        "planted",
        kit.needs + noise.needs,
        f"{noise.code}{kit.code}save({out!r}, [noise + i for i in range(2000)])\nprint('saved')\n",
        noise.expect,
        (out,) if "FAIL" in noise.expect else (),
    )


def _updated(place: int, kit: Kit) -> Case:
    path = "state" + kit.suffix
    real = path if kit.name != "rtree" else path + ".dat"
    return Case(
        f"update_{kit.name}",
        "update",
        kit.needs,
        f"{kit.code}v = int(load({path!r})) % 8191\nprint(v)\n"
        f"save({path!r}, [v + i for i in range(2000)])\nprint(load({path!r}))\n",
        "PASS",
        setup=f"{kit.code}save({path!r}, {NUMBERS})\n",
        change=("", delete(real), junk(real))[place % 3],
    )


def _child(kit: Kit, start: str) -> Case:
    out = "out" + kit.suffix
    return Case(
        f"child_{kit.name}_{start}",
        "child",
        kit.needs,
        f"{kit.code}def work():\n    save({out!r}, {NUMBERS})\n    return 7\n{_START[start]}",
        "PASS",
        change=delete(out),
    )


def _kit_cases() -> list[Case]:
    starts = list(_START)
    groups = [
        [_planted(kit, NOISES[i % len(NOISES)]) for i, kit in enumerate(_SAME[::2])],
        [_child(kit, starts[i % len(starts)]) for i, kit in enumerate(_SAME[::4])],
        [_updated(i, kit) for i, kit in enumerate(_SAME[1::3])],
        [_read(i, kit) for i, kit in enumerate(KITS) if i % 4 != 3],
        [_written(i, kit) for i, kit in enumerate(KITS) if kit.differs or i % 4 != 1],
    ]
    rows = zip_longest(*groups)  # one of each kind in turn: a run that is cut short has seen all
    return [case for row in rows for case in row if case is not None]


_TRAINER = """
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
c = BertConfig(vocab_size=40, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
               intermediate_size=16, max_position_embeddings=16)
data = [{"input_ids": [i, i + 1, 3], "attention_mask": [1, 1, 1], "labels": i % 2}
        for i in range(8)]
a = TrainingArguments("out", max_steps=2, per_device_train_batch_size=4, report_to=[],
                      save_steps=1, use_cpu=True, disable_tqdm=True, logging_steps=1)
t = Trainer(BertForSequenceClassification(c), a, train_dataset=data)
t.train()
"""
_H5 = KIT["h5py"]
_ARROW = KIT["pyarrow_parquet"]
_CSV = "for k in 'ab':\n    open(f'in/{k}.csv', 'w').write('x\\n1\\n2\\n')\n"
_LIBC = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
_WAL = """
import sqlite3
c = sqlite3.connect("a.sqlite")
c.execute("pragma journal_mode=wal")
c.execute("create table if not exists t(x)")
with c:
    c.executemany("insert into t values(?)", [(i,) for i in range(500)])
"""

SPECIAL: tuple[Case, ...] = (
    Case(
        "sqlite_wal_grown_by_run_and_later",
        "update",
        ("sqlite3",),
        _WAL + "print(c.execute('select count(*) from t').fetchone())\nc.close()\n",
        "PASS",
        setup=_WAL + "c.close()\n",
        change=_WAL + "c.close()\n",
    ),
    # FAIL until SQLite's own generator, which salts the log, was seeded from the record.
    Case(
        "sqlite_wal_left_behind",
        "update",
        ("sqlite3",),
        _WAL + "import os\nos._exit(0)\n",
        "PASS",
    ),
    Case(
        "sqlite_read_only_grown_later",
        "input",
        ("sqlite3",),
        "import sqlite3\nprint(sqlite3.connect('a.sqlite').execute('select count(*) from t')"
        ".fetchone())\n",
        "FAIL",
        ("a.sqlite",),
        setup=_WAL + "c.execute('pragma journal_mode=delete')\nc.close()\n",
        change=_WAL + "c.close()\n",
    ),
    Case(
        "duckdb_existing_database_appended",
        "update",
        ("duckdb",),
        "import duckdb\nwith duckdb.connect('a.duckdb') as c:\n"
        "    c.execute('insert into t select range from range(500)')\n"
        "    print(c.execute('select sum(x) from t').fetchone())\n",
        "PASS",
        setup="import duckdb\nwith duckdb.connect('a.duckdb') as c:\n"
        "    c.execute('create table t as select range as x from range(500)')\n",
        change="import duckdb\nwith duckdb.connect('a.duckdb') as c:\n"
        "    c.execute('insert into t select range from range(900)')\n",
    ),
    Case(
        "h5py_dataset_appended",
        "update",
        ("h5py",),
        "import h5py\nwith h5py.File('a.h5', 'r+') as f:\n    d = f['x']\n"
        "    d.resize((len(d) + 100,))\n    d[-100:] = 7\n    print(d[:].sum())\n",
        "PASS",
        setup="import h5py\nwith h5py.File('a.h5', 'w') as f:\n"
        "    f.create_dataset('x', data=[1.0] * 500, maxshape=(None,), chunks=(64,))\n",
        change=delete("a.h5"),
    ),
    Case(
        "mmap_edited",
        "update",
        (),
        "import mmap\nwith open('a.bin', 'r+b') as f, mmap.mmap(f.fileno(), 0) as m:\n"
        "    print(sum(m[:100]))\n    m[5000:5005] = b'hello'\n",
        "PASS",
        setup="open('a.bin', 'wb').write(bytes(range(256)) * 64)\n",
        change=junk("a.bin"),
    ),
    Case(
        "memmap_part_edited_twice_removed",
        "update",
        ("numpy",),
        "import numpy as np\nm = np.memmap('a.dat', dtype='f8', mode='r+')\nm[3:9] += m.sum()\n"
        "m.flush()\nprint(m[:10].sum())\n",
        "PASS",
        setup="import numpy as np\nnp.arange(4000.0).tofile('a.dat')\n",
        change=delete("a.dat"),
    ),
    Case(
        "libc_appends_to_existing",
        "update",
        (),
        _LIBC + "libc.fopen.restype = ctypes.c_void_p\nf = libc.fopen(b'log.txt', b'a')\n"
        "libc.fputs(b'line\\n', ctypes.c_void_p(f))\nlibc.fclose(ctypes.c_void_p(f))\n",
        "PASS",
        setup="open('log.txt', 'w').write('first\\n')\n",
        change="open('log.txt', 'a').write('later\\n')\n",
    ),
    Case(
        "zarr_chunk_edited",
        "update",
        ("zarr", "numpy"),
        "import zarr\na = zarr.open_array('a.zarr', mode='r+')\na[10:20] = a[:10]\n"
        "print(a[:].sum())\n",
        "PASS",
        setup="import numpy as np, zarr\n"
        "a = zarr.create_array('a.zarr', shape=(1000,), chunks=(100,), dtype='f8')\n"
        "a[:] = np.arange(1000.0)\n",
        change=delete("a.zarr/c/0"),
    ),
    Case(
        "zarr_one_chunk_missing",
        "input",
        ("zarr", "numpy"),
        "import zarr\nprint(zarr.open_array('a.zarr', mode='r')[:].sum())\n",
        "FAIL",
        ("a.zarr",),
        setup="import numpy as np, zarr\n"
        "a = zarr.create_array('a.zarr', shape=(1000,), chunks=(100,), dtype='f8')\n"
        "a[:] = np.arange(1000.0)\n",
        change=delete("a.zarr/c/3"),
    ),
    Case(
        "lmdb_existing_grown_later",
        "update",
        ("lmdb",),
        KIT["lmdb"].code + "save('a.lmdb', range(600))\nprint(load('a.lmdb'))\n",
        "PASS",
        setup=KIT["lmdb"].code + "save('a.lmdb', range(300))\n",
        change=KIT["lmdb"].code + "save('a.lmdb', range(1200))\n",
    ),
    Case(
        "lmdb_with_its_lock_file",
        "write",
        ("lmdb",),
        KIT["lmdb"].code.replace("map_size=1 << 22, lock=False", "map_size=1 << 22")
        + f"save('out.lmdb', {NUMBERS})\n",
        "PASS|FAIL",
        ("lock.mdb",),
        change=delete("out.lmdb"),
    ),
    Case(
        "trainer_outputs_deleted",
        "write",
        ("transformers", "accelerate", "torch"),
        _TRAINER + "t.save_model('final')\n",
        "PASS",
        change=delete("out", "final"),
    ),
    Case(
        "trainer_with_served_noise",
        "planted",
        ("transformers", "accelerate", "torch", "sqlite3"),
        _TRAINER
        + NOISE["sqlite_random"].code
        + "with torch.no_grad():\n    next(t.model.parameters())[0, 0] = noise\n"
        "t.save_model('final')\n",
        "PASS",
    ),
    Case(
        "dataloader_workers_input_changed",
        "input",
        ("torch", "h5py"),
        "import torch, h5py\nclass D(torch.utils.data.Dataset):\n    def __len__(self):\n"
        "        return 6\n    def __getitem__(self, i):\n"
        "        with h5py.File(f'in/{i}.h5') as f:\n            return f['x'][:].sum()\n"
        "if __name__ == '__main__':\n"
        "    d = torch.utils.data.DataLoader(D(), batch_size=2, num_workers=2)\n"
        "    print([b.tolist() for b in d])\n",
        "FAIL",
        ("in/4.h5",),
        setup="import os, h5py\nos.mkdir('in')\nfor i in range(6):\n"
        "    with h5py.File(f'in/{i}.h5', 'w') as f:\n        f['x'] = [float(i)] * 50\n",
        change="import h5py\nwith h5py.File('in/4.h5', 'r+') as f:\n    f['x'][3] = 11\n",
    ),
    Case(
        "dataloader_workers_pass",
        "child",
        ("torch", "h5py"),
        "import torch, h5py\nclass D(torch.utils.data.Dataset):\n    def __len__(self):\n"
        "        return 6\n    def __getitem__(self, i):\n"
        "        with h5py.File(f'in/{i}.h5') as f:\n            return f['x'][:].sum()\n"
        "if __name__ == '__main__':\n"
        "    d = torch.utils.data.DataLoader(D(), batch_size=2, num_workers=2)\n"
        "    torch.save([b for b in d], 'all.pt')\n",
        "PASS",
        setup="import os, h5py\nos.mkdir('in')\nfor i in range(6):\n"
        "    with h5py.File(f'in/{i}.h5', 'w') as f:\n        f['x'] = [float(i)] * 50\n",
        change=junk("all.pt"),
    ),
    Case(
        "fork_child_input_deleted",
        "input",
        ("pyarrow",),
        _ARROW.code
        + "def work():\n    save('out.parquet', [load('in.parquet')])\n"
        + _START["osfork"],
        "FAIL",
        ("in.parquet",),
        setup=_ARROW.code + f"save('in.parquet', {NUMBERS})\n",
        change=delete("in.parquet"),
    ),
    Case(
        "spawn_child_hidden_noise",
        "planted",
        ("h5py", "sqlite3"),
        _H5.code
        + "def work():\n"
        + "".join(f"    {line}\n" for line in NOISE["sqlite_random"].code.splitlines())
        + "    save('out.h5', [noise])\n"
        + _START["spawn"],
        "UNKNOWN|FAIL",
        ("out.h5",),
    ),
    Case(
        "subprocess_child_noise_served",
        "child",
        ("h5py", "sqlite3"),
        _H5.code
        + "def work():\n"
        + "".join(f"    {line}\n" for line in NOISE["sqlite_random"].code.splitlines())
        + "    save('out.h5', [noise])\n"
        + _START["subprocess"],
        "PASS",
        change=delete("out.h5"),
    ),
    Case(
        "shell_copies_input_deleted",
        "input",
        (),
        "import os\nprint(os.system('cp in.txt out.txt'))\n",
        "PASS",  # the child is served, and what it read stands in the record as what it wrote
        setup="open('in.txt', 'w').write('hello')\n",
        change=delete("in.txt", "out.txt"),
    ),
    Case(
        "shell_writes_clock",
        "planted",
        (),
        "import os\nprint(os.system('date +%s%N > out.txt'))\n",
        "PASS",
    ),
    Case(
        "ffmpeg_writes_video",
        "child",
        ("imageio_ffmpeg", "numpy"),
        "import imageio_ffmpeg, numpy as np\n"
        "w = imageio_ffmpeg.write_frames('out.mp4', (64, 64), fps=5)\nw.send(None)\n"
        "for i in range(5):\n    w.send(np.full((64, 64, 3), i * 40, dtype=np.uint8))\nw.close()\n",
        "PASS",
        change=delete("out.mp4"),
    ),
    Case(
        "folder_moved_h5py",
        "moved",
        ("h5py",),
        _H5.code + f"print(load('in.h5'))\nsave('out.h5', {NUMBERS})\n",
        "PASS|UNKNOWN",
        setup=_H5.code + f"save('in.h5', {NUMBERS})\n",
        change=MOVE,
    ),
    Case(
        "folder_moved_sqlite_update",
        "moved",
        ("sqlite3",),
        _WAL + "print(c.execute('select count(*) from t').fetchone())\nc.close()\n",
        "PASS|UNKNOWN",
        setup=_WAL + "c.close()\n",
        change=MOVE,
    ),
    Case(
        "new_file_seen_by_duckdb_glob",
        "added",
        ("duckdb",),
        "import duckdb\nprint(duckdb.connect().execute(\"select sum(x) from 'in/*.csv'\")"
        ".fetchone())\n",
        "PASS|FAIL",
        ("in/z.csv",),
        setup="import os\nos.mkdir('in')\n" + _CSV,
        change="open('in/z.csv', 'w').write('x\\n50\\n')\n",
    ),
    Case(
        "new_file_seen_by_polars_glob",
        "added",
        ("polars",),
        "import polars as pl\nd = pl.scan_csv('in/*.csv').collect()\nd.write_parquet('o.parquet')\n",
        "PASS|FAIL",
        ("in/z.csv", "o.parquet"),
        setup="import os\nos.mkdir('in')\n" + _CSV,
        change="open('in/z.csv', 'w').write('x\\n50\\n')\n",
    ),
    Case(
        "new_file_seen_by_arrow_dataset",
        "added",
        ("pyarrow",),
        "import pyarrow.dataset as ds, pyarrow.parquet as pq\n"
        "pq.write_table(ds.dataset('in', format='csv').to_table(), 'o.parquet')\n",
        "PASS|FAIL",
        ("in/z.csv", "o.parquet"),
        setup="import os\nos.mkdir('in')\n" + _CSV,
        change="open('in/z.csv', 'w').write('x\\n50\\n')\n",
    ),
    Case(
        "new_file_hidden_from_python_listing",
        "added",
        ("polars",),
        "import os, polars as pl\nfor p in sorted(os.listdir('in')):\n"
        "    print(p, pl.read_csv('in/' + p)['x'].sum())\n",
        "PASS",
        setup="import os\nos.mkdir('in')\n" + _CSV,
        change="open('in/z.csv', 'w').write('x\\n50\\n')\n",
    ),
    Case(
        "new_output_name_taken_later",
        "added",
        ("h5py",),
        "import h5py, os\ntry:\n    h5py.File('settings.h5', 'r')\n    print('there')\n"
        "except OSError:\n    print('absent')\n",
        "PASS|FAIL",
        ("settings.h5",),
        change=_H5.code + "save('settings.h5', [1.0])\n",
    ),
    Case(
        "symlink_retargeted",
        "input",
        ("lxml",),
        KIT["lxml"].code + "print(load('now.xml'))\n",
        "PASS",
        setup=KIT["lxml"].code + f"save('a.xml', {NUMBERS})\nsave('b.xml', {OTHERS})\nimport os\n"
        "os.symlink('a.xml', 'now.xml')\n",
        change="import os\nos.unlink('now.xml')\nos.symlink('b.xml', 'now.xml')\n",
    ),
    Case(
        "input_replaced_by_equal_copy",
        "input",
        ("pyarrow",),
        _ARROW.code + "print(load('in.parquet'))\n",
        "PASS",
        setup=_ARROW.code + f"save('in.parquet', {NUMBERS})\n",
        change="import os, shutil\nshutil.copyfile('in.parquet', 'x')\nos.chmod('x', 0o600)\n"
        "os.replace('x', 'in.parquet')\n",
    ),
    Case(
        "byte_never_read_changed",
        "input",
        ("numpy",),
        "import numpy as np\nprint(np.memmap('a.dat', dtype='u1', mode='r')[:10].sum())\n",
        "FAIL",
        ("a.dat",),
        setup="import numpy as np\nnp.zeros(1 << 20, dtype='u1').tofile('a.dat')\n",
        change="with open('a.dat', 'r+b') as f:\n    f.seek(1 << 19)\n    f.write(b'x')\n",
    ),
    Case(
        "over_the_copy_limit",
        "update",
        ("h5py",),
        "import h5py\nwith h5py.File('a.h5', 'r+') as f:\n    f['x'][5] = f['x'][:].sum()\n",
        "UNKNOWN",
        ("a.h5",),
        setup="import h5py\nwith h5py.File('a.h5', 'w') as f:\n    f['x'] = [1.0] * 50000\n",
        options=("--copy-limit", "64K"),
    ),
    Case(
        "written_aside_then_renamed",
        "write",
        ("pyarrow",),
        _ARROW.code + f"import os\nsave('.t', {NUMBERS})\nos.replace('.t', 'out.parquet')\n",
        "PASS",
        setup="open('out.parquet', 'w').write('old')\n",
        change=delete("out.parquet"),
    ),
    Case(
        "input_eaten",
        "update",
        ("duckdb",),
        "import duckdb, os\nprint(duckdb.connect().execute(\"select sum(x) from 'a.csv'\")"
        ".fetchone())\nos.unlink('a.csv')\n",
        "PASS",
        setup="open('a.csv', 'w').write('x\\n1\\n2\\n')\n",
    ),
    Case(
        "input_renamed_by_libc",
        "update",
        ("polars",),
        _LIBC + "import polars as pl\nprint(pl.read_csv('a.csv')['x'].sum())\n"
        "print(libc.rename(b'a.csv', b'done.csv'))\n",
        "PASS",
        setup="open('a.csv', 'w').write('x\\n1\\n2\\n')\n",
        change=delete("done.csv"),
    ),
    Case(
        "python_temporary_folder",
        "write",
        ("h5py",),
        _H5.code + "import tempfile\nwith tempfile.TemporaryDirectory() as d:\n"
        f"    save(d + '/x.h5', {NUMBERS})\n    print(load(d + '/x.h5'))\n",
        "PASS",
    ),
    Case(
        "libc_mkstemp_in_temporary_folder",
        "write",
        (),
        _LIBC + "b = ctypes.create_string_buffer((os.environ['TMPDIR'] + '/nXXXXXX').encode())\n"
        "f = libc.mkstemp(b)\nlibc.write(f, b'same', 4)\nlibc.close(f)\n",
        "PASS",
    ),
    Case(
        "libc_mkstemp_beside_program",
        "planted",
        (),
        _LIBC + "b = ctypes.create_string_buffer(b'./nXXXXXX')\n"
        "f = libc.mkstemp(b)\nlibc.write(f, b'same', 4)\nlibc.close(f)\n",
        "FAIL",
        ("written only in the replay",),
    ),
    Case(
        "contents_of_native_input_deleted",
        "input",
        ("h5py",),
        _H5.code + "print(load('in.h5'))\n",
        "FAIL",  # contents are carried of what Python reads
        ("in.h5",),
        setup=_H5.code + f"save('in.h5', {NUMBERS})\n",
        change=delete("in.h5"),
        options=("--files", "contents"),
    ),
    Case(
        "policy_leaves_log_out",
        "write",
        ("plyvel",),
        KIT["plyvel"].code + f"save('out.level', {NUMBERS})\n",
        "PASS",
        change=delete("out.level"),
        options=("--file-policy", "**/LOG=existence"),
    ),
    Case(
        "both_h5py",
        "both",
        ("h5py", "sqlite3"),
        NOISE["sqlite_random"].code + _H5.code + "save('out.h5', [load('in.h5') + noise])\n",
        "FAIL",
        ("in.h5", "out.h5"),
        setup=_H5.code + f"save('in.h5', {NUMBERS})\n",
        change=_H5.code + f"save('in.h5', {OTHERS})\n",
    ),
    Case(
        "both_update_and_noise",
        "both",
        ("netCDF4", "pyarrow"),
        NOISE["pyarrow_random"].code + "import netCDF4\nwith netCDF4.Dataset('a.nc', 'a') as f:\n"
        "    f['x'][7] = noise\n",
        "FAIL",
        ("a.nc",),
        setup=KIT["netcdf3"].code + f"save('a.nc', {NUMBERS})\n",
    ),
    Case(
        "both_sqlite_update_and_noise",
        "both",
        ("apsw",),
        "import apsw\nc = apsw.Connection('a.sqlite')\n"
        "c.execute('insert into t values(random())')\nc.close()\n",
        "FAIL",
        ("a.sqlite",),
        setup=KIT["apsw"].code + f"save('a.sqlite', {NUMBERS})\n",
        change=delete("a.sqlite"),
    ),
    Case(
        "whole_output_folder_deleted",
        "write",
        ("cv2", "numpy"),
        "import os, cv2, numpy as np\nos.makedirs('o/p', exist_ok=True)\nfor i in range(20):\n"
        "    cv2.imwrite(f'o/p/{i}.png', np.full((9, 9), i, dtype=np.uint8))\n",
        "PASS",
        change=delete("o"),
    ),
    Case(
        "output_folder_replaced_by_file",
        "write",
        ("zarr", "numpy"),
        KIT["zarr"].code + f"save('o.zarr', {NUMBERS})\n",
        "PASS",
        change=delete("o.zarr") + "open('o.zarr', 'w').write('a file now')\n",
    ),
    Case(
        "output_is_now_link_to_precious",
        "write",
        ("h5py",),
        _H5.code + f"save('out.h5', {NUMBERS})\n",
        "PASS",
        setup="open('precious.txt', 'w').write('do not touch')\n",
        change=delete("out.h5") + "os.symlink('precious.txt', 'out.h5')\n",
    ),
    Case(
        "output_is_now_hard_link_to_precious",
        "write",
        ("soundfile", "numpy"),
        KIT["soundfile_wav"].code + f"save('out.wav', {NUMBERS})\n",
        "PASS",
        setup="open('precious.txt', 'w').write('do not touch')\n",
        change=delete("out.wav") + "os.link('precious.txt', 'out.wav')\n",
    ),
    Case(
        "output_outside_work_folder",
        "write",
        ("lxml",),
        KIT["lxml"].code + f"save('../outside/out.xml', {NUMBERS})\n",
        "PASS",
        change=junk("../outside/out.xml"),
    ),
    Case(
        "odd_file_names",
        "write",
        ("pyarrow",),
        _ARROW.code + "save('naïve name ; \\'q\\'.parquet', [1, 2])\nsave('line\\nbreak', [3])\n",
        "PASS",
        change=delete("line\nbreak"),
    ),
    Case(
        "changed_folder_then_relative",
        "write",
        ("torch",),
        KIT["torch"].code + "import os\nos.mkdir('deep')\nos.chdir('deep')\n"
        f"save('out.pt', {NUMBERS})\nprint(load('out.pt'))\n",
        "PASS",
        change=delete("deep"),
    ),
    Case(
        "threads_write_natively",
        "write",
        ("pyarrow",),
        _ARROW.code + "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(4) as p:\n"
        "    list(p.map(lambda i: save(f'o{i}.parquet', [i] * 500), range(12)))\n",
        "PASS",
        change=delete("o3.parquet", "o7.parquet"),
    ),
    Case(
        "shared_memory_between_processes",
        "child",
        ("numpy",),
        "import numpy as np\nfrom multiprocessing import get_context, shared_memory\n"
        "def work(name):\n    s = shared_memory.SharedMemory(name)\n"
        "    np.ndarray((10,), buffer=s.buf)[:] = 4\n    s.close()\n"
        "if __name__ == '__main__':\n    s = shared_memory.SharedMemory(create=True, size=80)\n"
        "    p = get_context('spawn').Process(target=work, args=(s.name,))\n"
        "    p.start()\n    p.join()\n"
        "    np.array(np.ndarray((10,), buffer=s.buf)).tofile('o.bin')\n"
        "    s.close()\n    s.unlink()\n",
        "PASS",
        change=delete("o.bin"),
    ),
    Case(
        "sparse_and_truncated",
        "update",
        (),
        _LIBC + "f = libc.open(b'a.bin', 2)\nlibc.ftruncate(f, ctypes.c_long(3 << 20))\n"
        "libc.pwrite(f, b'end', 3, ctypes.c_long(2 << 20))\nlibc.close(f)\n"
        "libc.truncate(b'b.bin', ctypes.c_long(2))\nprint(os.path.getsize('a.bin'))\n",
        "PASS",
        setup="open('a.bin', 'w').write('start')\nopen('b.bin', 'w').write('shortened')\n",
        change=junk("a.bin", "b.bin"),
    ),
    Case(
        "sentencepiece_trained",
        "write",
        ("sentencepiece",),
        "import sentencepiece as sp\nsp.SentencePieceTrainer.train(input='a.txt', "
        "model_prefix='m', vocab_size=60, minloglevel=2, num_threads=1)\n"
        "print(len(sp.SentencePieceProcessor(model_file='m.model').encode('the cat')))\n",
        "PASS",
        setup="open('a.txt', 'w').write('\\n'.join(f'the cat {i} sat on mat {i * 7}' "
        "for i in range(300)))\n",
        change=delete("m.model"),
    ),
    Case(
        "sentencepiece_text_changed",
        "input",
        ("sentencepiece",),
        "import sentencepiece as sp\nsp.SentencePieceTrainer.train(input='a.txt', "
        "model_prefix='m', vocab_size=60, minloglevel=2, num_threads=1)\n",
        "FAIL",
        ("a.txt",),
        setup="open('a.txt', 'w').write('\\n'.join(f'the cat {i} sat on mat {i * 7}' "
        "for i in range(300)))\n",
        change="open('a.txt', 'a').write('\\nmore of it')\n",
    ),
)

CASES: tuple[Case, ...] = (*SPECIAL, *_kit_cases())
