"""Data augmentation: repeats of training rows with less history and fewer attributes.

They teach the forest that missing history does not mean a file without predecessors, and that the
name decides if a combination of values was never seen.
"""

from __future__ import annotations

import numpy as np

from birthmark.data.common.arrays import Bools, Bytes, Floats
from birthmark.features import HISTORY_BYTES
from birthmark.features.encoding import COLUMNS, FIRST, NULL, mask_attributes, mask_rows
from birthmark.features.history_scope import HistoryScope

AGAIN: dict[HistoryScope, float] = {"caller": 0.2, "name": 0.15, "nothing": 0.35}
"""Share of the rows repeated at each history scope, chosen such that the forest is no worse with
full history, and better than rules without any."""

STILL_KNOWN = 0.5
"""Share of those rows that keeps the attributes which may be unknown at the scope
(``features.history_scope.unknown_columns``)."""

BY_NAME = 0.25
"""Share of the rows without history that keeps only the name."""


UNSEEN_SHARE = 0.1
"""Share of the rows repeated with a mode that no row has with their suffix.

It was chosen such that the accuracy for seen combinations does not change."""

UNGIVEN = 0.3
"""Share of these rows that lacks each of ``ATTRIBUTES``."""

ATTRIBUTES: tuple[tuple[str, ...], ...] = (("mode",), ("uid", "gid"), ("client",))
"""The attributes that a create may lack; columns in one group are missing together."""

REPLACED = "mode"
"""The attribute that gets another value in rows of unseen combinations."""


def with_less_known(matrix: Bytes, labels: Floats, seed: int) -> tuple[Bytes, Floats]:
    """Return rows and labels, followed by masked repeats of some rows with history.

    ``AGAIN`` gives the history scopes of the repeats. Half of them also lack the client or the
    user, and some have only the name (``BY_NAME``). A few have a mode that no file with the same
    suffix has (``UNSEEN_SHARE``).
    """
    random = np.random.default_rng(seed)
    rows, answers = [matrix], [labels]
    has_history = matrix[:, :HISTORY_BYTES].any(axis=1)
    for scope, share in AGAIN.items():
        selected = has_history & (random.random(len(labels)) < share)
        masked = matrix[selected]
        drawn = random.random(len(masked))
        mask_rows(masked, scope, still_known=drawn < STILL_KNOWN)
        if scope == "nothing":
            mask_attributes(masked, drawn >= 1 - BY_NAME)
        rows.append(masked)
        answers.append(labels[selected])
    chance = np.random.default_rng((seed, 1)).random(len(labels))
    selected = has_history & (chance < UNSEEN_SHARE)
    rows.append(_unseen_combinations(matrix, selected, seed))
    answers.append(labels[selected])
    return np.vstack(rows), np.vstack(answers)


def _unseen_combinations(matrix: Bytes, selected: Bools, seed: int) -> Bytes:
    """Return the selected rows without history, with modes not seen with their suffix.

    A row has the mode that is drawn for it, if no row of ``matrix`` has that with the same suffix;
    some lack attributes.
    """
    random, rows = np.random.default_rng((seed, 2)), matrix[selected]
    mask_rows(rows, "nothing", still_known=random.random(len(rows)) < STILL_KNOWN)
    for attribute in ATTRIBUTES:
        lacking = random.random(len(rows)) < UNGIVEN
        for name in attribute:
            rows[lacking, COLUMNS.index(name)] = NULL
    suffix, replaced = COLUMNS.index("suffix"), COLUMNS.index(REPLACED)
    values = np.unique(matrix[:, replaced])
    values = values[values >= FIRST]
    if len(values):
        seen = np.zeros((256, 256), dtype=bool)
        seen[matrix[:, suffix], matrix[:, replaced]] = True
        drawn = values[random.integers(0, len(values), len(rows))]
        new = ~seen[rows[:, suffix], drawn]
        rows[new, replaced] = drawn[new]
    return rows
