"""Evidence for a forest's score of a row, and phrases for the bytes of a history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bytes, Floats
from birthmark.data.common.sizes import in_words
from birthmark.features import component_text
from birthmark.features.encoding import CODED, COLUMNS, FIRST, NUMBERS
from birthmark.features.history import KEYS, shape
from birthmark.predictor.models import words
from birthmark.predictor.models.forest.again import REPLACED
from birthmark.predictor.models.forest.forest import sigmoid
from birthmark.predictor.models.forest.support import Support
from birthmark.predictor.models.forest.table import SharedForest

REASONS = 3
"""Greatest number of reasons, which fit in a line of a terminal."""

_NAME = "the name"
_NO_HOUR = "the hour is not known"
_PARTS = [
    _NAME if name in (*NUMBERS, "shape", "suffix") else name.partition(".")[0] for name in COLUMNS
]
"""The part of a create that each column is about: its name, an attribute, or a key of history."""


def evidence_of(
    shared: SharedForest, matrix: Bytes, creates: Sequence[Mapping[str, Any]]
) -> Iterator[list[tuple[float, dict[str, Any]]]]:
    """Yield for each row, and for each output, the score and the evidence, as JSON can carry it.

    ``creates`` are those that were encoded as the rows of ``matrix``. The evidence has ``share``,
    the score, which is the expected share of yes; ``rows``, the mean number of training rows in a
    leaf; ``usual``, the share of yes at the roots, without any knowledge; and ``because``, the
    parts of the create that moved the score most from there to ``share``, strongest first. A part
    sums the splits on all of its columns. All parts add up to ``share - usual``, apart from the
    sigmoid near 0 and 1 (Saabas, "Interpreting random forests", 2014). ``unseen`` has the
    combinations that no training row has.
    """
    forest, means = shared.forest, shared.forest.means
    usual = sigmoid(forest.base + means[forest.roots].sum(axis=0)).tolist()
    moved = np.zeros((len(matrix), forest.width, forest.outputs))
    sums, rows = np.tile(forest.base, (len(matrix), 1)), np.zeros(len(matrix), dtype=np.int64)
    for paths in forest.walk(matrix):
        for split, before, after in paths.splits:
            moved[split, forest.column[before]] += means[after] - means[before]
        sums += means[paths.leaves]
        rows += forest.rows[paths.leaves]
    columns = zip(sigmoid(sums).tolist(), rows.tolist(), moved, matrix, creates, strict=True)
    for shares, count, by, row, create in columns:
        known = {
            "rows": round(count / len(forest.roots)),
            "unseen": unseen(shared.support, row, create),
        }
        yield [
            (
                share,
                {"share": share, "usual": base}
                | known
                | {"because": _because(by[:, output], row, create, shared.support, output)},
            )
            for output, (share, base) in enumerate(zip(shares, usual, strict=True))
        ]


def _because(
    moved: Floats, row: Bytes, create: Mapping[str, Any], support: Support, output: int
) -> list[dict[str, Any]]:
    columns: dict[str, list[int]] = {}
    for column in np.flatnonzero(moved).tolist():
        columns.setdefault(_PARTS[column], []).append(column)
    by = {part: float(moved[own].sum()) for part, own in columns.items()}
    new = support.unseen(row)
    strongest = sorted(by, key=lambda part: -abs(by[part]))[:REASONS]
    reasons = []
    for part in strongest:
        most = max(columns[part], key=lambda column: abs(float(moved[column])))
        column = _counted(part, most, row, support, output)
        value = _value(COLUMNS[column], int(row[column]), create)
        if part in new:
            share, text = None, f"{words.attribute(part, value)}, which no such file had"
        else:
            share = support.share(COLUMNS[column], int(row[column]), output)
            text = _text(part, COLUMNS[column], int(row[column]), value, share)
        n_true, n = share or (None, None)
        reason = {"column": COLUMNS[column], "value": value, "by": by[part], "text": text}
        reasons.append(reason | {"n_true": n_true, "n": n})
    return reasons


def _counted(part: str, most: int, row: Bytes, support: Support, output: int) -> int:
    """Return the column that represents a part: for a name its shape or suffix, if counted."""
    if part == _NAME:
        for name in ("shape", "suffix"):
            column = COLUMNS.index(name)
            if support.share(name, int(row[column]), output):
                return column
    return most


def _text(part: str, column: str, byte: int, value: Any, share: tuple[int, int] | None) -> str:
    if share is not None:
        return f"{share[0]:,} of {share[1]:,} files {_files(column, value)}"
    if "." in column:
        return of_history(column, byte)
    if part == _NAME:
        return "names of such letters, digits and length"
    if column == "hour":
        return f"few files were {words.with_attribute(column, byte)}" if byte < 24 else _NO_HOUR
    known = words.attribute(column, value)
    return f"{known}, which is rare" if value is not None and byte < FIRST else known


def _files(column: str, value: Any) -> str:
    if column == "suffix":
        return f"named *{value}" if value else "named without a period"
    return f"named {value}" if column == "shape" else words.with_attribute(column, value)


def unseen(support: Support, row: Bytes, create: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each attribute that no training row has with the name's suffix."""
    name = _files("suffix", _value("suffix", 0, create))
    rests_on = {REPLACED: f"answered as files {name} are, without the {REPLACED}"}
    alone = "the answer rests on files that are alike in one of both"
    return [
        f"No file {name} {words.with_attribute(column, create[column])} was seen: "
        f"{rests_on.get(column, alone)}"
        for column in support.unseen(row)
    ]


def _value(column: str, byte: int, create: Mapping[str, Any]) -> Any:
    """Return the displayed value of a column: the value before coding, or the byte."""
    if column not in CODED:
        return byte
    if column in create:
        return create[column]
    (folded,) = shape(pa.array([create["name"] or b""], pa.binary())).to_pylist()
    suffix = folded[folded.rfind(b".") :] if b"." in folded else b""
    return component_text(folded if column == "shape" else suffix)


_SHARES = {
    "share_1s": "lived at most 1 s",
    "share_5s": "lived at most 5 s",
    "share_30s": "lived at most 30 s",
    "share_empty": "were empty",
    "share_16k": "had at most 16 kB",
    "share_64k": "had at most 64 kB",
    "share_write_only": "were hardly read",
    "share_read": "were read after they were written",
}


def of_history(column: str, byte: int) -> str:
    """Return the phrase for ``byte`` in a column of a history (``features.history.STATISTICS``)."""
    key, _, statistic = column.partition(".")
    whose = KEYS[key]
    if not byte:
        return f"nothing is known of earlier files {whose}"
    if statistic in _SHARES:
        return f"{(byte - 1) / 254:.0%} of the latest files {whose} {_SHARES[statistic]}"
    if statistic == "known":
        return (
            f"of {'ten or more' if byte > 10 else byte - 1} earlier files {whose} the end is known"
        )
    if statistic == "write_only":
        return f"the latest file {whose} was {'hardly' if byte == 2 else 'often'} read"
    number = 0 if byte == 1 else round(2 ** ((byte - 2) // 4) * (1 + (byte - 2) % 4 / 4))
    if statistic == "size":
        return f"the latest file {whose} had {in_words(number)}"
    if statistic == "life":
        return f"the latest file {whose} lived {_seconds(number)}"
    if statistic == "since_birth":
        return f"the latest file {whose} was created {_seconds(number)} before"
    return f"{statistic.replace('_', ' ')} {number:,}, {whose}"


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:,.3g} s"
