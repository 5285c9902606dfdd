"""What each library needs to keep numbers in a file: a ``save`` and a ``load``, as program text.

A kit whose library writes its own clock or entropy into its files says in ``differs`` which file
two runs of one program do not share.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kit:
    """One library: ``code`` defines ``save(path, numbers)`` and ``load(path)``, which gives a sum."""

    name: str
    needs: tuple[str, ...]
    suffix: str
    code: str
    differs: str = ""


def _kit(name: str, needs: str, suffix: str, code: str, differs: str = "") -> Kit:
    return Kit(name, tuple(needs.split()), suffix, code.strip() + "\n", differs)


KITS: tuple[Kit, ...] = (
    _kit(
        "numpy_memmap",
        "numpy",
        ".dat",
        """
import numpy as np
def save(path, numbers):
    m = np.memmap(path, dtype="float64", mode="w+", shape=(len(numbers),))
    m[:] = numbers
    m.flush()
def load(path):
    return float(np.memmap(path, dtype="float64", mode="r").sum())
""",
    ),
    _kit(
        "numpy_tofile",
        "numpy",
        ".bin",
        """
import numpy as np
def save(path, numbers):
    np.asarray(numbers, dtype="float64").tofile(path)
def load(path):
    return float(np.fromfile(path, dtype="float64").sum())
""",
    ),
    _kit(
        "torch",
        "torch",
        ".pt",
        """
import torch
def save(path, numbers):
    torch.save({"x": torch.tensor(numbers, dtype=torch.float64)}, path)
def load(path):
    return float(torch.load(path, mmap=True)["x"].sum())
""",
    ),
    _kit(
        "torch_jit",
        "torch",
        ".pts",
        """
import torch
class Keep(torch.nn.Module):
    def __init__(self, numbers):
        super().__init__()
        self.register_buffer("x", torch.tensor(numbers, dtype=torch.float64))
    def forward(self):
        return self.x.sum()
def save(path, numbers):
    torch.jit.trace(Keep(numbers), ()).save(path)
def load(path):
    return float(torch.jit.load(path)())
""",
    ),
    _kit(
        "xgboost",
        "xgboost numpy",
        ".ubj",
        """
import numpy as np, xgboost as xgb
def save(path, numbers):
    y = np.asarray(numbers, dtype="float64")
    x = np.arange(len(y), dtype="float64").reshape(-1, 1)
    xgb.train({"nthread": 1}, xgb.DMatrix(x, y), 3).save_model(path)
def load(path):
    b = xgb.Booster(model_file=path)
    return float(b.predict(xgb.DMatrix(np.arange(9.0).reshape(-1, 1))).sum())
""",
    ),
    _kit(
        "lightgbm",
        "lightgbm numpy",
        ".txt",
        """
import lightgbm as lgb, numpy as np
def save(path, numbers):
    y = np.asarray(numbers, dtype="float64")
    x = np.arange(len(y), dtype="float64").reshape(-1, 1)
    d = lgb.Dataset(x, y, params={"verbose": -1, "min_data_in_bin": 1})
    p = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 1}
    lgb.train(p, d, 3).save_model(path)
def load(path):
    return float(lgb.Booster(model_file=path).predict(np.arange(9.0).reshape(-1, 1)).sum())
""",
    ),
    _kit(
        "catboost",
        "catboost numpy",
        ".cbm",
        """
import catboost, numpy as np
def save(path, numbers):
    y = np.asarray(numbers, dtype="float64")
    x = np.arange(len(y), dtype="float64").reshape(-1, 1)
    m = catboost.CatBoostRegressor(iterations=3, depth=2, verbose=False, thread_count=1)
    m.fit(x, y)
    m.save_model(path)
def load(path):
    m = catboost.CatBoostRegressor()
    m.load_model(path)
    return float(m.predict(np.arange(9.0).reshape(-1, 1)).sum())
""",
        "catboost_info",
    ),
    _kit(
        "polars_parquet",
        "polars",
        ".parquet",
        """
import polars as pl
def save(path, numbers):
    pl.DataFrame({"x": [float(n) for n in numbers]}).write_parquet(path)
def load(path):
    return pl.scan_parquet(path).select(pl.col("x").sum()).collect().item()
""",
    ),
    _kit(
        "polars_csv",
        "polars",
        ".csv",
        """
import polars as pl
def save(path, numbers):
    pl.LazyFrame({"x": [float(n) for n in numbers]}).sink_csv(path)
def load(path):
    return pl.scan_csv(path).select(pl.col("x").sum()).collect().item()
""",
    ),
    _kit(
        "pyarrow_parquet",
        "pyarrow",
        ".parquet",
        """
import pyarrow as pa, pyarrow.parquet as pq
def save(path, numbers):
    pq.write_table(pa.table({"x": [float(n) for n in numbers]}), path)
def load(path):
    return sum(pq.read_table(path, memory_map=True)["x"].to_pylist())
""",
    ),
    _kit(
        "pyarrow_ipc",
        "pyarrow",
        ".arrow",
        """
import pyarrow as pa
def save(path, numbers):
    t = pa.table({"x": [float(n) for n in numbers]})
    with pa.OSFile(path, "wb") as f, pa.ipc.new_file(f, t.schema) as w:
        w.write_table(t)
def load(path):
    with pa.memory_map(path) as f:
        return sum(pa.ipc.open_file(f).read_all()["x"].to_pylist())
""",
    ),
    _kit(
        "pyarrow_orc",
        "pyarrow",
        ".orc",
        """
import pyarrow as pa
from pyarrow import orc
def save(path, numbers):
    orc.write_table(pa.table({"x": [float(n) for n in numbers]}), path)
def load(path):
    return sum(orc.read_table(path)["x"].to_pylist())
""",
    ),
    _kit(
        "duckdb_csv",
        "duckdb",
        ".csv",
        """
import duckdb
def save(path, numbers):
    c = duckdb.connect()
    c.execute("create table t as select unnest(?) as x", [[float(n) for n in numbers]])
    c.execute(f"copy t to '{path}' (header)")
def load(path):
    return float(duckdb.connect().execute(f"select sum(x) from '{path}'").fetchone()[0])
""",
    ),
    _kit(
        "duckdb_database",
        "duckdb",
        ".duckdb",
        """
import duckdb
def save(path, numbers):
    with duckdb.connect(path) as c:
        c.execute("create or replace table t as select unnest(?) as x", [[float(n) for n in numbers]])
def load(path):
    with duckdb.connect(path, read_only=True) as c:
        return float(c.execute("select sum(x) from t").fetchone()[0])
""",
        ".duckdb",
    ),
    _kit(
        "h5py",
        "h5py",
        ".h5",
        """
import h5py
def save(path, numbers):
    with h5py.File(path, "w") as f:
        f.create_dataset("x", data=[float(n) for n in numbers], chunks=True, compression="gzip")
def load(path):
    with h5py.File(path, "r") as f:
        return float(f["x"][:].sum())
""",
    ),
    _kit(
        "netcdf4",
        "netCDF4",
        ".nc",
        """
import netCDF4
def save(path, numbers):
    with netCDF4.Dataset(path, "w") as f:
        f.createDimension("n", len(numbers))
        f.createVariable("x", "f8", ("n",))[:] = [float(n) for n in numbers]
def load(path):
    with netCDF4.Dataset(path) as f:
        return float(f["x"][:].sum())
""",
    ),
    _kit(
        "netcdf3",
        "netCDF4",
        ".nc",
        """
import netCDF4
def save(path, numbers):
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as f:
        f.createDimension("n", len(numbers))
        f.createVariable("x", "f8", ("n",))[:] = [float(n) for n in numbers]
def load(path):
    with netCDF4.Dataset(path) as f:
        return float(f["x"][:].sum())
""",
    ),
    _kit(
        "tables",
        "tables",
        ".h5",
        """
import tables
def save(path, numbers):
    with tables.open_file(path, "w") as f:
        f.create_array("/", "x", [float(n) for n in numbers], track_times=False)
def load(path):
    with tables.open_file(path) as f:
        return float(sum(f.root.x.read()))
""",
    ),
    _kit(
        "tables_times",
        "tables",
        ".h5",
        """
import tables
def save(path, numbers):
    with tables.open_file(path, "w") as f:
        f.create_carray("/", "x", obj=[float(n) for n in numbers])
def load(path):
    with tables.open_file(path) as f:
        return float(sum(f.root.x.read()))
""",
        ".h5",
    ),
    _kit(
        "opencv",
        "cv2 numpy",
        ".png",
        """
import cv2, numpy as np
def save(path, numbers):
    a = np.frombuffer(np.asarray(numbers, dtype="<i8").tobytes(), dtype=np.uint8)
    cv2.imwrite(path, a.reshape(-1, 8))
def load(path):
    return float(cv2.imread(path, cv2.IMREAD_GRAYSCALE).sum())
""",
    ),
    _kit(
        "opencv_storage",
        "cv2 numpy",
        ".yml.gz",
        """
import cv2, numpy as np
def save(path, numbers):
    f = cv2.FileStorage(path, cv2.FILE_STORAGE_WRITE)
    f.write("x", np.asarray(numbers, dtype="float64"))
    f.release()
def load(path):
    f = cv2.FileStorage(path, cv2.FILE_STORAGE_READ)
    return float(f.getNode("x").mat().sum())
""",
    ),
    _kit(
        "safetensors",
        "safetensors numpy",
        ".safetensors",
        """
import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file
def save(path, numbers):
    save_file({"x": np.asarray(numbers, dtype="float64")}, path)
def load(path):
    with safe_open(path, framework="numpy") as f:
        return float(f.get_tensor("x").sum())
""",
    ),
    _kit(
        "zarr",
        "zarr numpy",
        ".zarr",
        """
import numpy as np, zarr
def save(path, numbers):
    a = np.asarray(numbers, dtype="float64")
    zarr.create_array(path, data=a, overwrite=True)
def load(path):
    return float(zarr.load(path).sum())
""",
    ),
    _kit(
        "lmdb",
        "lmdb",
        ".lmdb",
        """
import lmdb
def save(path, numbers):
    with lmdb.open(path, map_size=1 << 22, lock=False) as e, e.begin(write=True) as t:
        for i, n in enumerate(numbers):
            t.put(b"%06d" % i, b"%d" % n)
def load(path):
    with lmdb.open(path, readonly=True, lock=False) as e, e.begin() as t:
        return float(sum(int(v) for _, v in t.cursor()))
""",
    ),
    _kit(
        "soundfile_wav",
        "soundfile numpy",
        ".wav",
        """
import numpy as np, soundfile
def save(path, numbers):
    soundfile.write(path, np.asarray([int(n) % 30000 for n in numbers], dtype="int16"), 8000)
def load(path):
    return float(soundfile.read(path, dtype="int16")[0].astype(float).sum())
""",
    ),
    _kit(
        "soundfile_flac",
        "soundfile numpy",
        ".flac",
        """
import numpy as np, soundfile
def save(path, numbers):
    soundfile.write(path, np.asarray([int(n) % 30000 for n in numbers], dtype="int16"), 8000)
def load(path):
    return float(soundfile.read(path, dtype="int16")[0].astype(float).sum())
""",
    ),
    _kit(
        "soundfile_ogg",
        "soundfile numpy",
        ".ogg",
        """
import numpy as np, soundfile
def save(path, numbers):
    soundfile.write(path, np.asarray([int(n) % 30000 for n in numbers], dtype="int16"), 8000)
def load(path):
    return float(len(soundfile.read(path)[0]))
""",
        ".ogg",
    ),
    _kit(
        "pillow",
        "PIL",
        ".tiff",
        """
from PIL import Image
def save(path, numbers):
    i = Image.new("L", (len(numbers), 1))
    i.putdata([int(n) % 251 for n in numbers])
    i.save(path, compression="tiff_lzw")
def load(path):
    with Image.open(path) as i:
        return float(sum(i.tobytes()))
""",
    ),
    _kit(
        "lxml",
        "lxml",
        ".xml",
        """
from lxml import etree
def save(path, numbers):
    r = etree.Element("r")
    for n in numbers:
        etree.SubElement(r, "n").text = str(int(n))
    etree.ElementTree(r).write(path)
def load(path):
    return float(sum(int(e.text) for e in etree.parse(path).getroot()))
""",
    ),
    _kit(
        "tifffile",
        "tifffile numpy",
        ".tif",
        """
import numpy as np, tifffile
def save(path, numbers):
    tifffile.imwrite(path, np.asarray(numbers, dtype="float64").reshape(1, -1))
def load(path):
    return float(tifffile.memmap(path, mode="r").sum())
""",
    ),
    _kit(
        "rasterio",
        "rasterio numpy",
        ".tif",
        """
import numpy as np, rasterio
from rasterio.transform import from_origin
def save(path, numbers):
    a = np.asarray(numbers, dtype="float64").reshape(1, 1, -1)
    with rasterio.open(path, "w", driver="GTiff", width=a.shape[2], height=1, count=1,
                       dtype="float64", transform=from_origin(0, 0, 1, 1)) as f:
        f.write(a)
def load(path):
    with rasterio.open(path) as f:
        return float(f.read(1).sum())
""",
    ),
    _kit(
        "fiona_shapefile",
        "fiona",
        ".shp",
        """
import fiona
def save(path, numbers):
    s = {"geometry": "Point", "properties": {"n": "int:18"}}
    with fiona.open(path, "w", driver="ESRI Shapefile", schema=s) as f:
        f.writerecords([{"type": "Feature", "geometry": {"type": "Point", "coordinates": (0.0, 1.0)},
                         "properties": {"n": int(n)}} for n in numbers[:50]])
def load(path):
    with fiona.open(path) as f:
        return float(sum(r["properties"]["n"] for r in f))
""",
    ),
    _kit(
        "fiona_gpkg",
        "fiona",
        ".gpkg",
        """
import fiona
def save(path, numbers):
    s = {"geometry": "Point", "properties": {"n": "int"}}
    with fiona.open(path, "w", driver="GPKG", schema=s) as f:
        f.writerecords([{"type": "Feature", "geometry": {"type": "Point", "coordinates": (0.0, 1.0)},
                         "properties": {"n": int(n)}} for n in numbers[:50]])
def load(path):
    with fiona.open(path) as f:
        return float(sum(r["properties"]["n"] for r in f))
""",
        ".gpkg",
    ),
    _kit(
        "pyogrio",
        "pyogrio numpy",
        ".fgb",
        """
import numpy as np, pyogrio
from pyogrio import raw
POINT = bytes.fromhex("0101000000000000000000f03f0000000000000040")
def save(path, numbers):
    a = np.asarray(numbers, dtype="float64")
    g = np.array([POINT] * len(a), dtype=object)
    raw.write(path, g, [a], ["n"], geometry_type="Point", crs="EPSG:4326", driver="FlatGeobuf")
def load(path):
    return float(raw.read(path)[3][0].sum())
""",
    ),
    _kit(
        "fastparquet",
        "fastparquet pandas",
        ".parquet",
        """
import fastparquet, pandas as pd
def save(path, numbers):
    fastparquet.write(path, pd.DataFrame({"x": [float(n) for n in numbers]}))
def load(path):
    return float(fastparquet.ParquetFile(path).to_pandas()["x"].sum())
""",
    ),
    _kit(
        "pandas_hdf",
        "pandas tables",
        ".h5",
        """
import pandas as pd
def save(path, numbers):
    pd.Series([float(n) for n in numbers]).to_hdf(path, key="x", mode="w")
def load(path):
    return float(pd.read_hdf(path, "x").sum())
""",
        ".h5",
    ),
    _kit(
        "blosc2",
        "blosc2 numpy",
        ".b2nd",
        """
import blosc2, numpy as np
def save(path, numbers):
    blosc2.asarray(np.asarray(numbers, dtype="float64"), urlpath=path, mode="w")
def load(path):
    return float(blosc2.open(path)[:].sum())
""",
    ),
    _kit(
        "rocksdict",
        "rocksdict",
        ".rocks",
        """
from rocksdict import Rdict
def save(path, numbers):
    d = Rdict(path)
    for i, n in enumerate(numbers[:100]):
        d[i] = int(n)
    d.close()
def load(path):
    d = Rdict(path)
    total = float(sum(d.values()))
    d.close()
    return total
""",
        ".rocks",
    ),
    _kit(
        "plyvel",
        "plyvel",
        ".level",
        """
import plyvel
def save(path, numbers):
    with plyvel.DB(path, create_if_missing=True) as d:
        for i, n in enumerate(numbers):
            d.put(b"%06d" % i, b"%d" % n)
def load(path):
    with plyvel.DB(path) as d:
        return float(sum(int(v) for _, v in d))
""",
        "LOG",
    ),
    _kit(
        "matplotlib",
        "matplotlib",
        ".png",
        """
import matplotlib
matplotlib.use("Agg")
from matplotlib import image, pyplot as plt
def save(path, numbers):
    figure = plt.figure(figsize=(2, 2))
    figure.gca().plot([int(n) % 997 for n in numbers])
    figure.savefig(path)
def load(path):
    return float(image.imread(path).sum())
""",
    ),
    _kit(
        "skimage",
        "skimage numpy",
        ".png",
        """
import numpy as np
from skimage import io
def save(path, numbers):
    a = np.frombuffer(np.asarray(numbers, dtype="<i8").tobytes(), dtype=np.uint8)
    io.imsave(path, a.reshape(-1, 8), check_contrast=False)
def load(path):
    return float(io.imread(path).sum())
""",
    ),
    _kit(
        "pysam",
        "pysam",
        ".bam",
        """
import pysam
def save(path, numbers):
    h = {"HD": {"VN": "1.0"}, "SQ": [{"LN": 100000, "SN": "chr1"}]}
    with pysam.AlignmentFile(path, "wb", header=h) as f:
        for i, n in enumerate(numbers[:100]):
            a = pysam.AlignedSegment(f.header)
            a.query_name, a.query_sequence, a.reference_start = f"r{n}", "ACGT", i
            f.write(a)
def load(path):
    with pysam.AlignmentFile(path, "rb") as f:
        return float(sum(int(a.query_name[1:]) for a in f.fetch(until_eof=True)))
""",
    ),
    _kit(
        "sqlite3",
        "sqlite3",
        ".sqlite",
        """
import sqlite3
def save(path, numbers):
    c = sqlite3.connect(path)
    with c:
        c.execute("create table if not exists t(x real)")
        c.execute("delete from t")
        c.executemany("insert into t values(?)", [(float(n),) for n in numbers])
    c.close()
def load(path):
    c = sqlite3.connect(path)
    total = c.execute("select sum(x) from t").fetchone()[0]
    c.close()
    return total
""",
    ),
    _kit(
        "apsw",
        "apsw",
        ".sqlite",
        """
import apsw
def save(path, numbers):
    c = apsw.Connection(path)
    with c:
        c.execute("create table if not exists t(x real)")
        c.execute("delete from t")
        c.executemany("insert into t values(?)", [(float(n),) for n in numbers])
    c.close()
def load(path):
    c = apsw.Connection(path)
    total = c.execute("select sum(x) from t").fetchone()[0]
    c.close()
    return total
""",
    ),
    _kit(
        "tantivy",
        "tantivy",
        ".tantivy",
        """
import os, tantivy
def save(path, numbers):
    b = tantivy.SchemaBuilder()
    b.add_integer_field("n", stored=True, indexed=True)
    os.makedirs(path, exist_ok=True)
    w = tantivy.Index(b.build(), path=path).writer(15_000_000, 1)
    for n in numbers[:50]:
        w.add_document(tantivy.Document(n=int(n)))
    w.commit()
    w.wait_merging_threads()
def load(path):
    i = tantivy.Index.open(path)
    i.reload()
    return float(i.searcher().num_docs)
""",
        ".tantivy",
    ),
    _kit(
        "deltalake",
        "deltalake pyarrow",
        ".delta",
        """
import deltalake, pyarrow as pa
def save(path, numbers):
    t = pa.table({"x": [float(n) for n in numbers]})
    deltalake.write_deltalake(path, t, mode="overwrite")
def load(path):
    return float(sum(deltalake.DeltaTable(path).to_pyarrow_table()["x"].to_pylist()))
""",
        ".delta",
    ),
    _kit(
        "pyreadstat",
        "pyreadstat pandas",
        ".sav",
        """
import pandas as pd, pyreadstat
def save(path, numbers):
    pyreadstat.write_sav(pd.DataFrame({"x": [float(n) for n in numbers]}), path)
def load(path):
    return float(pyreadstat.read_sav(path)[0]["x"].sum())
""",
        ".sav",
    ),
    _kit(
        "tokenizers",
        "tokenizers",
        ".json",
        """
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
def save(path, numbers):
    words = {str(int(n)): i for i, n in enumerate(dict.fromkeys(numbers))}
    Tokenizer(WordLevel(words, unk_token=next(iter(words)))).save(path)
def load(path):
    return float(sum(int(w) for w in Tokenizer.from_file(path).get_vocab()))
""",
    ),
    _kit(
        "onnxruntime",
        "onnx onnxruntime numpy",
        ".onnx",
        """
import numpy as np, onnx, onnxruntime as ort
from onnx import helper, numpy_helper
def save(path, numbers):
    c = numpy_helper.from_array(np.asarray(numbers, dtype="float64"), "c")
    d = onnx.TensorProto.DOUBLE
    g = helper.make_graph([helper.make_node("Add", ["a", "c"], ["y"])], "g",
        [helper.make_tensor_value_info("a", d, [1])],
        [helper.make_tensor_value_info("y", d, [len(numbers)])], [c])
    m = helper.make_model(g, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    o = ort.SessionOptions()
    o.optimized_model_filepath = path
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    ort.InferenceSession(m.SerializeToString(), o, providers=["CPUExecutionProvider"])
def load(path):
    s = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    return float(s.run(None, {"a": np.zeros(1)})[0].sum())
""",
    ),
    _kit(
        "faiss",
        "faiss numpy",
        ".faiss",
        """
import faiss, numpy as np
def save(path, numbers):
    i = faiss.IndexFlatL2(8)
    i.add(np.asarray([int(n) % 9973 for n in numbers[:1000]], dtype="float32").reshape(-1, 8))
    faiss.write_index(i, path)
def load(path):
    return float(faiss.read_index(path).reconstruct_n(0, 5).sum())
""",
    ),
    _kit(
        "pymupdf",
        "pymupdf",
        ".pdf",
        """
import pymupdf
def save(path, numbers):
    d = pymupdf.open()
    d.new_page().insert_text((50, 50), " ".join(str(int(n)) for n in numbers[:12]))
    d.save(path, no_new_id=True)
def load(path):
    return float(sum(int(w) for w in pymupdf.open(path)[0].get_text().split()))
""",
    ),
    _kit(
        "pikepdf",
        "pikepdf",
        ".pdf",
        """
import pikepdf
def save(path, numbers):
    d = pikepdf.new()
    d.add_blank_page()
    d.Root.Numbers = pikepdf.Array([int(n) % 1000000 for n in numbers])
    d.save(path, deterministic_id=True)
def load(path):
    with pikepdf.open(path) as d:
        return float(sum(int(n) for n in d.Root.Numbers))
""",
    ),
    _kit(
        "reportlab",
        "reportlab",
        ".pdf",
        """
from reportlab.pdfgen import canvas
def save(path, numbers):
    c = canvas.Canvas(path)
    c.drawString(50, 50, " ".join(str(int(n)) for n in numbers[:12]))
    c.save()
def load(path):
    with open(path, "rb") as f:
        return float(len(f.read()))
""",
    ),
    _kit(
        "xlsxwriter",
        "xlsxwriter",
        ".xlsx",
        """
import zipfile, xlsxwriter
def save(path, numbers):
    with xlsxwriter.Workbook(path) as b:
        b.add_worksheet().write_column(0, 0, [int(n) for n in numbers])
def load(path):
    with zipfile.ZipFile(path) as z:
        return float(len(z.read("xl/worksheets/sheet1.xml")))
""",
    ),
    _kit(
        "av",
        "av numpy",
        ".mkv",
        """
import av, numpy as np
def save(path, numbers):
    with av.open(path, "w", options={"fflags": "+bitexact"}) as c:
        s = c.add_stream("mpeg4", rate=10)
        s.width, s.height, s.pix_fmt, s.thread_count = 64, 64, "yuv420p", 1
        for n in numbers[:10]:
            f = np.full((64, 64, 3), int(n) % 251, dtype=np.uint8)
            for p in s.encode(av.VideoFrame.from_ndarray(f, format="rgb24")):
                c.mux(p)
        for p in s.encode():
            c.mux(p)
def load(path):
    with av.open(path) as c:
        return float(sum(int(f.to_ndarray(format="gray").sum()) for f in c.decode(video=0)))
""",
    ),
    _kit(
        "lancedb",
        "lancedb pyarrow",
        ".lancedb",
        """
import lancedb, pyarrow as pa
def save(path, numbers):
    t = pa.table({"x": [float(n) for n in numbers]})
    lancedb.connect(path).create_table("t", t, mode="overwrite")
def load(path):
    return float(sum(lancedb.connect(path).open_table("t").to_arrow()["x"].to_pylist()))
""",
        ".lancedb",
    ),
    _kit(
        "tiledb",
        "tiledb numpy",
        ".tiledb",
        """
import numpy as np, tiledb
def save(path, numbers):
    tiledb.from_numpy(path, np.asarray(numbers, dtype="float64")).close()
def load(path):
    with tiledb.open(path) as a:
        return float(a[:].sum())
""",
        ".tiledb",
    ),
    _kit(
        "dbm",
        "_gdbm",
        ".gdbm",
        """
import _gdbm
def save(path, numbers):
    d = _gdbm.open(path, "n")
    for i, n in enumerate(numbers[:200]):
        d[str(i)] = str(int(n))
    d.close()
def load(path):
    d = _gdbm.open(path, "r")
    total = float(sum(int(d[k]) for k in d.keys()))
    d.close()
    return total
""",
    ),
    _kit(
        "simpleitk",
        "SimpleITK",
        ".mha",
        """
import SimpleITK as sitk
def save(path, numbers):
    i = sitk.Image(len(numbers), 1, sitk.sitkFloat64)
    for k, n in enumerate(numbers[:200]):
        i[k, 0] = float(n)
    sitk.WriteImage(i, path)
def load(path):
    f = sitk.StatisticsImageFilter()
    f.Execute(sitk.ReadImage(path))
    return f.GetSum()
""",
    ),
    _kit(
        "usearch",
        "usearch numpy",
        ".usearch",
        """
import numpy as np
from usearch.index import Index
def save(path, numbers):
    i = Index(ndim=4, metric="l2sq")
    v = np.asarray([int(n) % 9973 for n in numbers[:40]], dtype="float32").reshape(-1, 4)
    for k, row in enumerate(v):
        i.add(k, row)
    i.save(path)
def load(path):
    i = Index.restore(path, view=True)
    return float(sum(i.get(k).sum() for k in range(3)))
""",
    ),
    _kit(
        "rtree",
        "rtree",
        ".rtree",
        """
from rtree import index
def save(path, numbers):
    i = index.Index(path, overwrite=True)
    for k, n in enumerate(numbers[:50]):
        i.insert(k, (k, int(n) % 997, k + 1, int(n) % 997 + 1))
    i.close()
def load(path):
    i = index.Index(path)
    total = float(sum(i.intersection((0, 0, 100, 1000))))
    i.close()
    return total
""",
    ),
    _kit(
        "nibabel",
        "nibabel numpy",
        ".nii",
        """
import nibabel, numpy as np
def save(path, numbers):
    a = np.asarray(numbers, dtype="float64").reshape(-1, 1, 1)
    nibabel.save(nibabel.Nifti1Image(a, np.eye(4)), path)
def load(path):
    return float(np.asarray(nibabel.load(path, mmap=True).dataobj).sum())
""",
    ),
    _kit(
        "gmsh",
        "gmsh",
        ".msh",
        """
import gmsh
def save(path, numbers):
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    for n in numbers[:20]:
        gmsh.model.geo.addPoint(float(int(n) % 997), 0, 0)
    gmsh.model.geo.synchronize()
    gmsh.option.setNumber("Mesh.SaveAll", 1)
    gmsh.model.mesh.generate(1)
    gmsh.write(path)
    gmsh.finalize()
def load(path):
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.open(path)
    total = float(gmsh.model.mesh.getNodes()[1].sum())
    gmsh.finalize()
    return total
""",
    ),
    _kit(
        "laspy",
        "laspy lazrs numpy",
        ".laz",
        """
import laspy, numpy as np
def save(path, numbers):
    las = laspy.LasData(laspy.LasHeader(point_format=0, version="1.2"))
    las.x = np.asarray([int(n) % 9973 for n in numbers], dtype="float64")
    las.y = las.z = las.x * 0
    las.write(path)
def load(path):
    return float(np.asarray(laspy.read(path).x).sum())
""",
    ),
    _kit(
        "astropy",
        "astropy numpy",
        ".fits",
        """
import numpy as np
from astropy.io import fits
def save(path, numbers):
    fits.PrimaryHDU(np.asarray(numbers, dtype="float64")).writeto(path, overwrite=True)
def load(path):
    with fits.open(path, memmap=True) as f:
        return float(f[0].data.sum())
""",
    ),
)
