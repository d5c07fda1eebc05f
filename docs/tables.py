"""The page `docs/tables.md`: every column of every table, from the schemas' own descriptions."""

from __future__ import annotations

import itertools

import pyarrow as pa

from birthmark.data.prediction_log import PREDICTIONS
from birthmark.data.scan import FILES as SEEN
from birthmark.data.scan import KEYS, counts_schema
from birthmark.data.schema import ENTRY, FILES, LOSS, MESSAGES, NAMES, OPERATIONS
from birthmark.features import CREATES, DIRECTORIES
from birthmark.layout_hint.rewrite.schema import MANIFEST
from birthmark.layout_hint.rewrite.schema import OPERATIONS as REWRITTEN
from birthmark.predictor.heat import RATES
from birthmark.training.audit.figures import GROUPS, SERVED
from birthmark.training.evaluate.breakdown import BREAKDOWN
from birthmark.training.evaluate.curves import CURVES
from birthmark.training.evaluate.evaluation import EVALUATION
from birthmark.training.evaluate.three_answers import ANSWERS, RELIABILITY

TABLES = {
    "operations": (OPERATIONS, "A row per NFS call, joined to its reply."),
    "messages": (
        MESSAGES,
        "A row per message without a row in operations: a retransmission, a reply without its call,"
        " or a message of another program.",
    ),
    "files": (FILES, "A row per file life."),
    "names": (NAMES, "A row per life of a directory entry."),
    "loss": (LOSS, "A row per five minutes, server and client: messages that the monitor lost."),
    "manifest": (MANIFEST, "A row per name that must exist before a replay."),
    "rewritten operations": (REWRITTEN, "A row per operation of a replay, in order."),
    "creates": (CREATES, "A row per new file, with all that a model can see."),
    "directories": (DIRECTORIES, "A row per directory, and the files born in it."),
    "rates": (RATES, "A row per file: how often its blocks are expected to be written."),
    "counts": (
        counts_schema(list(KEYS)),
        "A row per period, operation and keys of `birthmark scan --by`. Keys that are not named"
        " there have no columns.",
    ),
    "map of files": (SEEN, "A row per file seen: `birthmark scan --files`."),
    "evaluation": (
        EVALUATION,
        "A row per predicate, model and threshold: `birthmark evaluate --parquet`."
        " `birthmark evaluate windows --parquet` has `window` (days requested) and `days` (days"
        " there were) before these.",
    ),
    "answers": (
        ANSWERS,
        "A row per predicate, model and threshold: the three answers, made consistent."
        " `birthmark evaluate --answers`.",
    ),
    "reliability": (RELIABILITY, "A row per model and bin of the calibration, in the report."),
    "curves": (CURVES, "A row per point of a curve: `birthmark evaluate --curves`."),
    "breakdown": (
        BREAKDOWN,
        "A row per predicate, model, threshold and group: `birthmark evaluate --breakdown`.",
    ),
    "predictions": (
        PREDICTIONS,
        "A row per file in the service's log. Each predicate adds `answer:KEY`, null where it does"
        " not apply, and `said:KEY` with `yes`, `no` or `unsure`.",
    ),
    "served": (SERVED, "A row per version, predicate, model and threshold: `birthmark audit`."),
    "served by group": (GROUPS, "A row per row of served and group: `birthmark audit`."),
}

SHARED = {
    "messages": ["operations"],
    "names": ["files"],
    "rewritten operations": ["operations"],
    "creates": ["files"],
    "directories": ["files"],
    "answers": ["evaluation"],
    "curves": ["evaluation"],
    "breakdown": ["evaluation"],
    "predictions": ["breakdown"],
    "served": ["evaluation", "answers"],
    "served by group": ["evaluation", "breakdown"],
}
"""By table, the earlier ones that describe columns which it has, too."""

HEAD = """\
# Tables

Reference for readers of Birthmark's tables: every column, with its type and unit, made from the
schemas by `make generate`.

- Names and handles are bytes. Times are microseconds since the epoch, UTC.
- Null means that the trace does not show the value. A type with an asterisk (`*`) has no nulls.
- On disk, `server` and `day` are parts of the path:
  [read the tables](researchers.md#read-the-tables).
"""


def kind(of: pa.DataType) -> str:
    """Return a type's name as readers know it."""
    if pa.types.is_dictionary(of):
        return "text"
    if pa.types.is_timestamp(of):
        return "time"
    if pa.types.is_list(of):
        inner = of.value_type
        if pa.types.is_struct(inner):
            return "list of entries" if inner == ENTRY else "list of (us, ops)"
        return f"list of {kind(inner)}"
    names = {"string": "text", "double": "float64", "fixed_size_list": "list of float64"}
    return names.get(str(of), str(of))


def described(field: pa.Field) -> tuple[str, str]:
    """Return a column's type, starred if it has no nulls, and its description."""
    star = "" if field.nullable else "\\*"
    return kind(field.type) + star, field.metadata[b"doc"].decode()


def names(fields: list[pa.Field]) -> str:
    """Return the names of fields."""
    return ", ".join(f"`{field.name}`" for field in fields)


def lines(fields: list[pa.Field]) -> list[str]:
    """Return a line for each column, or for neighbours with one description."""
    ends = [field for field in fields if field.name.endswith(("_low", "_high"))]
    found = [
        f"- {names(list(group))} {of}: {doc}"
        for (of, doc), group in itertools.groupby(
            (field for field in fields if field not in ends), described
        )
    ]
    if ends:
        found.append(f"- {names(ends)} float64: ends of the 95% confidence intervals")
    return found


def directory_attributes(schema: pa.Schema) -> list[pa.Field]:
    """Return the columns that repeat an attribute for the directory of a name."""
    docs = {described(field)[1] for field in schema}
    return [
        field
        for field in schema
        for head in ("the directory of name: ", "the directory of name2: ")
        if described(field)[1].startswith(head) and described(field)[1].removeprefix(head) in docs
    ]


def section(name: str, schema: pa.Schema, meaning: str) -> str:
    """Return a table's section."""
    head, left = ["", f"## {name}", "", meaning], list(schema)
    for where in SHARED.get(name, []):
        there = {field.name: described(field) for field in TABLES[where][0]}
        same = [field for field in left if there.get(field.name) == described(field)]
        head += ["", f"As in [{where}](#{where}): {names(same)}."]
        left = [field for field in left if field not in same]
    if repeated := directory_attributes(schema):
        first = [field for field in repeated if field.name.startswith("dir_")]
        head += [
            "",
            "Columns that begin with `dir_` are attributes of the directory of `name`, those with"
            " `dir2_` of that of `name2`. Types and meanings are those of the columns without the"
            f" prefix: {names(first)}, and the same with `dir2_`.",
        ]
        left = [field for field in left if field not in repeated]
    return "\n".join([*head, "", *lines(left)]) + "\n"


def entries() -> str:
    """Return the section on the entries of a listing, whose fields are named as the columns are."""
    return (
        "\n## An entry of a listing\n\nAn element of `entries` in the operations table has these"
        f" columns of that table: {', '.join(f'`{field.name}`' for field in ENTRY)}.\n"
    )


def page() -> str:
    """Return the page."""
    sections = {name: section(name, *table) for name, table in TABLES.items()}
    sections["operations"] += entries()
    return HEAD + "".join(sections.values())
