"""Files are written by `data.common.durable`, which replaces no device and no symbolic link."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.folders import FOLDERS

ROOT = Path(__file__).resolve().parents[1]
PLACES = [*FOLDERS, "birthmark"]

METHODS = {
    *["write_text", "write_bytes", "savefig", "to_csv", "to_parquet", "to_excel"],
    *["to_feather", "tofile", "savez", "copyfile", "copy2"],
}
"""Names of methods that write the file of their first argument, or their own path."""

FUNCTIONS = {
    *["np.save", "joblib.dump", "json.dump", "pickle.dump", "shutil.copy", "shutil.move"],
    *["pq.write_table", "parts.write_table", "write_table"],
}

WRITERS = {"ParquetWriter", "parquet_writer", "CaptureWriter", "TextRewriter", "Spool"}
"""Classes that create the file of their first argument."""

MENTIONS = re.compile(
    "|".join(
        [*METHODS, *WRITERS, *(each.rpartition(".")[2] for each in FUNCTIONS), "open", "OSFile"]
    ).join(["(", r")\("])
)
"""Is in each module that calls one of them."""

YIELDING = {
    *["replaced", "output", "output_file", "opened_output"],
    *["TemporaryDirectory", "NamedTemporaryFile", "TemporaryFile"],
}
"""What a `with` statement yields a path of, that may be written to."""

EXEMPT = {
    "data/common/durable.py::": "the functions that replace files, and locks",
    "data/common/targets.py::open_stream": "opens the streams that are written to",
    "data/anonymize/run.py::_text": "a path of durable.output",
    "birthmark/cli.py::_discard_output": "the null device",
    # Paths that the caller replaces, or stages and renames as a directory.
    "data/datasets/tables.py::": "the staging directory of an ingest",
    "data/ingest/decoded.py::_decode": "the argument of durable.made",
    "layout_hint/rewrite/build.py::": "the directory of a build",
    "layout_hint/rewrite/manifest.py::write_manifest": "the directory of a build",
    "layout_hint/rewrite/spool.py::Spool::__init__": "the directory of a build",
    "research/workloads/output.py::_write_operations": "write yields it",
    "research/workloads/output.py::_write_text": "write yields it",
    "predictor/": "a model's parts, in the directory that a registry stages",
    "training/nightly/card.py::save_card": "the directory that a registry stages",
    "training/nightly/followed.py::_take_in::write": "the argument of durable.made",
    "training/nightly/intake.py::_write": "the argument of durable.made",
    "training/registry/": "the directory that a registry stages, or its cache",
    # Memory, standard output and the kernel.
    "data/scan/scratch.py::Scratch::__enter__": "an unnamed temporary file",
    "training/audit/run.py::keep": "memory",
    "storage/what_if/pictures.py::_svg": "memory",
    "layout_hint/f2fs/sysfs.py::write": "an attribute of the kernel",
    "birthmark/quickstart.py::Steps::log": "the log of processes, which is appended to",
}
"""Other places that write files, a function or all below a folder, and what they write."""


def excuse(place: str) -> str | None:
    """Return the entry of `EXEMPT` that names a place, if any."""
    return next((each for each in EXEMPT if place.startswith(each)), None)


def name_of(function: ast.expr) -> str:
    """Return the last name of what is called."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def opens_to_write(call: ast.Call) -> bool:
    """Tell whether a call of `open` has a mode that writes."""
    if name_of(call.func) not in {"open", "OSFile"}:
        return False
    words = [*call.args, *(word.value for word in call.keywords if word.arg == "mode")]
    modes = [each.value for each in words if isinstance(each, ast.Constant)]
    flags = ast.unparse(call)
    return any(re.fullmatch(r"[wax]b?\+?|rb?\+b?", str(mode)) for mode in modes) or bool(
        re.search(r"O_(WRONLY|RDWR|CREAT)", flags)
    )


def writes(call: ast.Call) -> bool:
    """Tell whether a call writes a file that it names, and not through `durable`."""
    name = name_of(call.func)
    if name in {each.rpartition(".")[2] for each in FUNCTIONS}:
        return ast.unparse(call.func) in FUNCTIONS
    if name == "write_text" and ast.unparse(call.func) in {"write_text", "durable.write_text"}:
        return False
    return name in METHODS | WRITERS or opens_to_write(call)


def yielded(node: ast.With) -> set[str]:
    """Return the names that a `with` statement gives to paths that may be written to."""
    return {
        item.optional_vars.id
        for item in node.items
        if isinstance(item.optional_vars, ast.Name)
        and isinstance(item.context_expr, ast.Call)
        and name_of(item.context_expr.func) in YIELDING
    }


def found(node: ast.AST, place: str, paths: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield where a file is written that is none of ``paths``."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        place = f"{place}::{node.name}"
    if isinstance(node, ast.With):
        paths |= yielded(node)
    if isinstance(node, ast.Call) and writes(node):
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        if not names & paths:
            yield place
    for child in ast.iter_child_nodes(node):
        yield from found(child, place, paths)


def test_files_are_written_by_the_functions_that_replace_them() -> None:
    places = set()
    for folder in PLACES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if MENTIONS.search(text := path.read_text()):
                places |= set(found(ast.parse(text), str(path.relative_to(ROOT))))
    left = [place for place in sorted(places) if excuse(place) is None]
    assert left == [], "expected durable.replaced or durable.output"
    there = {each for each in EXEMPT if (ROOT / each.split("/")[0]).is_dir()}
    unneeded = there - {excuse(place) for place in places}
    assert unneeded == set(), "these write no file any more"


def test_a_direct_write_is_found_and_one_of_a_path_that_replaces_is_not() -> None:
    direct = [
        "out.write_text(text)",
        "out.open('wb')",
        "open(out, mode='w')",
        "pq.write_table(table, out)",
        "figure.savefig(out)",
        "frame.to_csv(out)",
        "os.open(out, os.O_WRONLY)",
        "with replaced(other) as aside:\n    out.write_text(text)",
    ]
    for text in direct:
        assert list(found(ast.parse(text), "place")) == ["place"], text
    for text in ["out.open('rb')", "with output(out) as aside:\n    pq.write_table(table, aside)"]:
        assert list(found(ast.parse(text), "place")) == [], text
