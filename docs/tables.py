"""Print `docs/tables.md`: every column of every table, from the schemas' own descriptions.

Run it in the repository: ``python docs/tables.py > docs/tables.md``.
"""

from __future__ import annotations

import pyarrow as pa

from birthmark.data.prediction_log import PREDICTIONS
from birthmark.data.replay.schema import MANIFEST
from birthmark.data.replay.schema import OPERATIONS as REWRITTEN
from birthmark.data.scan import FILES as SEEN
from birthmark.data.scan import KEYS, counts_schema
from birthmark.data.schema import ENTRY, FILES, LOSS, MESSAGES, NAMES, OPERATIONS
from birthmark.features import CREATES, DIRECTORIES
from birthmark.predictor.heat import RATES
from birthmark.training.audit.figures import GROUPS, SERVED
from birthmark.training.evaluate.breakdown import BREAKDOWN
from birthmark.training.evaluate.curves import CURVES
from birthmark.training.evaluate.evaluation import EVALUATION
from birthmark.training.evaluate.three_answers import ANSWERS, RELIABILITY

TABLES = {
    "operations": (OPERATIONS, "One row per NFS call, its reply joined to it."),
    "messages": (
        MESSAGES,
        "One row per message of which no operation's row is made: sent again, or not of a call of"
        " NFS that was seen.",
    ),
    "files": (FILES, "One row per file life."),
    "names": (NAMES, "One row per directory entry's life."),
    "loss": (LOSS, "One row per five minutes, server and client: what the monitor lost."),
    "manifest": (MANIFEST, "One row per name that must exist before a replay."),
    "rewritten operations": (REWRITTEN, "One row per operation of a replay, in their order."),
    "creates": (CREATES, "What is known of a file when it is created: all that a model can see."),
    "directories": (
        DIRECTORIES,
        "One row per directory: what is known of it, and of what was born in it.",
    ),
    "rates": (RATES, "One row per file: how often its blocks are expected to be written."),
    "counts": (
        counts_schema(list(KEYS)),
        "One row per period, operation and keys: `birthmark scan`. Only the keys that it was told "
        "apart by (`--by`) are columns.",
    ),
    "map of files": (SEEN, "One row per file seen: `birthmark scan --files`."),
    "evaluation": (
        EVALUATION,
        "One row per predicate, model and threshold: `birthmark evaluate --parquet`. `birthmark"
        " windows --parquet` has `window` and `days` before these: how many days were asked for,"
        " and how many there were.",
    ),
    "answers": (
        ANSWERS,
        "One row per predicate, model and threshold: the three answers, made consistent."
        " `birthmark evaluate --answers`.",
    ),
    "reliability": (
        RELIABILITY,
        "One row per model and bin: how often came true what was said to be so likely. In the"
        " report.",
    ),
    "curves": (CURVES, "One row per point of a curve: `birthmark evaluate --curves`."),
    "breakdown": (
        BREAKDOWN,
        "One row per predicate, model, threshold and group: `birthmark evaluate --breakdown`.",
    ),
    "predictions": (
        PREDICTIONS,
        "One row per file asked about: the log of the service. Then a column `answer:KEY` for each"
        " predicate, null where it does not apply, and `said:KEY` with `yes`, `no` or `unsure`.",
    ),
    "served": (SERVED, "One row per version, predicate, model and threshold: `birthmark audit`."),
    "served by group": (GROUPS, "One row per row of these and group: `birthmark audit`."),
}

HEAD = """\
# Tables

Every column of the tables that `birthmark ingest` writes, of the two that `birthmark replay build`
writes, of what models see, of the counts that `birthmark scan` makes, of what an evaluation finds,
and of what is served and audited. Made from the schemas by
`python docs/tables.py > docs/tables.md`.

File names and handles are bytes, and times microseconds since the epoch, UTC. Null means that the
trace does not tell; a column marked *always* has no nulls. On disk `server` is part of the path, as
is the `day`: see [Read the tables](researchers.md#read-the-tables).
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


def section(name: str, schema: pa.Schema, meaning: str) -> str:
    """Return a table's section."""
    rows = [
        f"| `{f.name}` | {kind(f.type)} | {'' if f.nullable else 'always'} "
        f"| {f.metadata[b'doc'].decode()} |"
        for f in schema
    ]
    head = [
        "",
        f"## {name}",
        "",
        meaning,
        "",
        "| column | type | | meaning |",
        "| --- | --- | --- | --- |",
    ]
    return "\n".join([*head, *rows]) + "\n"


def entries() -> str:
    """Return the section on the entries of a listing, whose fields are named as the columns are."""
    fields = ", ".join(f"`{field.name}` ({kind(field.type)})" for field in ENTRY)
    return (
        "\n## An entry of a listing\n\nWhat `entries` of the operations table holds, named as the"
        f" columns above: {fields}.\n"
    )


def page() -> str:
    """Return the page."""
    sections = {name: section(name, *table) for name, table in TABLES.items()}
    sections["operations"] += entries()
    return HEAD + "".join(sections.values())


if __name__ == "__main__":
    print(page(), end="")
