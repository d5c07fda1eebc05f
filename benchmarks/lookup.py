"""Cost of a lookup in a compiled image: one create in C, and tables of them from Python.

    python -m benchmarks.lookup --train DAY... --test DAY [--kinds KIND...] [--json OUT]

A day is a trace or an ingested dataset. Models are trained on some and compiled; the creates of
another are asked, all predicates at once, in C (``lookup.c`` beside this: call by call, with what
the timer itself takes separate and included; and in a stream, by the whole), and a table of them
in Rust from Python, by the wall clock and by what two processors would do by the CPU time. The peer
is LightGBM (100 trees of 63 leaves, mode, owner and pieces of the name as native categories),
predicting one row for one predicate through its C interface, made ready once for fast prediction
(a call through ctypes, whose own cost, measured with an empty function, is given separately).
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import json
import shutil
import struct
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.table import Table

from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.ingest.run import ingest
from birthmark.layout_hint import INCLUDE
from birthmark.predictor import FILE_PREDICATES, TrainedModel, births
from birthmark.predictor.models.able.set import AbleModels
from birthmark.predictor.models.compile import compile_models
from birthmark.predictor.models.kinds import KINDS
from birthmark_native import Image, fnv1a

PEER_PREDICATE = "lifespan<=5"
ROWS = 2_000_000
CREATES = 20_000


def dataset(day: Path, scratch: Path) -> Path:
    """Return a day's dataset; a trace is ingested."""
    if day.is_dir():
        return day
    ingest([day], scratch)
    return scratch


def packed(creates: pa.Table) -> bytes:
    """Return creates as ``lookup.c`` reads them."""
    out = bytearray()
    for create in creates.to_pylist():
        host, when = create["client"], create["time"]
        numbers = [create["mode"], create["uid"], create["gid"]]
        numbers += [host and fnv1a(host.encode()), when and when.hour]
        known = sum(1 << place for place, n in enumerate(numbers) if n is not None)
        out += struct.pack("<6I", known, *(n or 0 for n in numbers))
        for text in (create["name"], create["history"]):
            out += struct.pack("<I", 0 if text is None else len(text) + 1) + (text or b"")
    return bytes(out)


def in_c(program: Path, image: Path, creates: Path, rounds: int) -> dict[str, Any]:
    """Return the C program's measurements."""
    command = [program, image, creates, str(rounds)]
    result: dict[str, Any] = json.loads(subprocess.check_output(command))
    return result


def batch(image: Image, creates: pa.Table) -> dict[str, float]:
    """Return rows per second, the best of three runs."""
    repeated = pa.concat_tables([creates] * (ROWS // len(creates) + 1)).slice(0, ROWS)
    rows = repeated.combine_chunks().to_batches()[0]
    best = {"rows_per_second": 0.0, "rows_per_second_by_cpu": 0.0}
    for _ in range(3):
        wall, cpu = time.perf_counter(), time.process_time()
        image.predict(rows)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        best["rows_per_second"] = max(best["rows_per_second"], ROWS / wall)
        best["rows_per_second_by_cpu"] = max(best["rows_per_second_by_cpu"], 2 * ROWS / cpu)
    return best


def coded(table: pa.Table, like: pa.Table) -> npt.NDArray[np.float64]:
    """Return the attributes of ``table`` as codes of the values that ``like`` has."""
    columns = [
        np.asarray(pc.index_in(table[c], value_set=like[c].unique()), dtype=np.float64)
        for c in table.column_names
    ]
    return np.column_stack(columns)


def lightgbm_single(train: pa.Table, labels: pa.Array, test: pa.Table) -> dict[str, float]:
    """Return LightGBM's time for one prediction of one row for one predicate, in nanoseconds."""
    from lightgbm import LGBMClassifier, basic

    library = basic._LIB

    known = labels.is_valid()
    seen = AbleModels.columns(train)
    X, y = coded(seen.filter(known), seen), np.asarray(labels.filter(known))
    model = LGBMClassifier(n_estimators=100, num_leaves=63, n_jobs=1, verbose=-1)
    model.fit(X, y, categorical_feature=list(range(X.shape[1])))
    rows = np.ascontiguousarray(coded(AbleModels.columns(test), seen)[:CREATES])
    fast, n, out = ctypes.c_void_p(), ctypes.c_int64(), (ctypes.c_double * 2)()
    width, double, normal = rows.shape[1], 1, 0
    library.LGBM_BoosterPredictForMatSingleRowFastInit(
        model.booster_._handle, normal, 0, -1, double, width, b"num_threads=1", ctypes.byref(fast)
    )
    predict, begin = library.LGBM_BoosterPredictForMatSingleRowFast, rows.ctypes.data
    pointers = [ctypes.c_void_p(begin + rows.strides[0] * i) for i in range(len(rows))]
    size, nothing = ctypes.byref(n), ctypes.pythonapi.Py_GetVersion
    times, empty = [], []
    for pointer in [*pointers[:1000], *pointers]:
        start = time.perf_counter_ns()
        predict(fast, pointer, size, out)
        middle = time.perf_counter_ns()
        nothing()
        times.append(middle - start)
        empty.append(time.perf_counter_ns() - middle)
    library.LGBM_FastConfigFree(fast)
    return {
        "call_median": float(np.median(times[1000:])),
        "call_p99": float(np.percentile(times[1000:], 99)),
        "timer_median": float(np.median(empty[1000:])),
    }


def measure(args: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """Return a row of figures for each kind of models, and for the peer."""
    *train, test = (
        dataset(day, scratch / f"day{n}") for n, day in enumerate((*args.train, args.test))
    )
    files, names = (
        pa.concat_tables(map(read, train)).unify_dictionaries() for read in (read_files, read_names)
    )
    model = TrainedModel().train(files, names, kinds=args.kinds)
    creates = model.creates("file", births(read_files(test)))
    program, asked = scratch / "lookup", scratch / "creates"
    source = Path(__file__).with_name("lookup.c")
    command = ["cc", "-O2", "-std=gnu11", "-I", str(INCLUDE), str(source), "-o", str(program)]
    subprocess.run(command, check=True)
    asked.write_bytes(packed(creates.slice(0, CREATES)))
    rows = []
    for kind in args.kinds:
        content = compile_models(model.models[kind], "accurate")
        path, image = scratch / kind, Image(content)
        path.write_bytes(content)
        about = {"what": kind, "predicates": len(image.predicates), "bytes": image.size}
        figures = in_c(program, path, asked, args.rounds)
        rows.append({**about, **figures, **batch(image, creates)})
    if importlib.util.find_spec("lightgbm"):
        born = births(files)
        labels = FILE_PREDICATES[PEER_PREDICATE].evaluate(born)
        figures = lightgbm_single(model.creates("file", born), labels, creates)
        rows.append({"what": "LightGBM", "predicates": 1, **figures})
        for row in rows[:-1]:
            row["peer_ratio"] = figures["call_median"] / row["call_median"]
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    """Print the figures as a table."""
    heads = ("predicates", "bytes", "call_median", "call_p99", "timer_median", "stream_mean")
    heads += ("rows_per_second", "rows_per_second_by_cpu", "peer_ratio")
    table = Table("", *(head.replace("_", " ") for head in heads), title="times in ns")
    for row in rows:
        cells = (f"{row[head]:,.4g}" if head in row else "" for head in heads)
        table.add_row(row["what"], *cells)
    Console(width=140).print(table)
    if rows[-1]["what"] != "LightGBM":
        print("LightGBM is not there to compare with: pip install -e '.[bench]'")


def main() -> None:
    """Measure, print, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--train", type=Path, nargs="+", required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    if not shutil.which("cc"):
        raise SystemExit("needs a C compiler: cc is not there")
    with tempfile.TemporaryDirectory() as scratch:
        rows = measure(args, Path(scratch))
    show(rows)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
