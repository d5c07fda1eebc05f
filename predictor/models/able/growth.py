"""Growing the decision tree (thesis Figure 6.4), all nodes of a depth at once.

Attributes are columns of codes, small integers that stand for their values. A *group* is the rows
of one node that share one value of one attribute: a possible child.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class Nodes:
    """The nodes of a tree, by depth, then parent, then code; the root is node 0.

    ``parent`` and ``code`` (the value on the edge from the parent) are -1 at the root, and
    ``attribute`` (which the node splits on) at a leaf. ``n`` and ``n_true`` count the training rows
    that passed the node, and those with the property.
    """

    parent: Ints
    code: Ints
    attribute: Ints
    n: Ints
    n_true: Ints


@dataclass(frozen=True)
class _Groups:
    node: Ints
    code: Ints
    n: Ints
    n_true: Ints
    of_row: Ints


def grow(codes: list[Ints], positive: Bools, purity: float | None) -> Nodes:
    """Grow a tree over attributes ``codes``, of rows with labels ``positive``.

    A node is a leaf if its purity, the larger of the shares of yes and no, is at least ``purity``
    (``None``: no limit), or if no unused attribute has two values in it. The figure splits such a
    node further into single children, with the same answers.
    """
    rows, local = np.arange(len(positive)), np.zeros(len(positive), dtype=np.int64)
    root = {"parent": -1, "code": -1, "n": len(positive), "n_true": np.count_nonzero(positive)}
    level = {name: np.array([value], dtype=np.int64) for name, value in root.items()}
    used = np.zeros((len(codes), 1), dtype=bool)
    levels: list[dict[str, Ints]] = []
    first = 0
    while len(level["n"]):
        unsettled = ~_is_pure(level["n"], level["n_true"], purity)[local]
        rows, local = rows[unsettled], local[unsettled]
        groups = [_group(local, code[rows], positive[rows]) for code in codes]
        attribute = _choose(groups, level["n"], level["n_true"], used)
        levels.append(level | {"attribute": attribute})
        level, rows, local = _split(groups, attribute, rows, local)
        used = used[:, level["parent"]]
        used[attribute[level["parent"]], np.arange(len(level["n"]))] = True
        width, level["parent"] = len(attribute), level["parent"] + first
        first += width
    names = ("parent", "code", "attribute", "n", "n_true")
    return Nodes(**{name: np.concatenate([at[name] for at in levels]) for name in names})


def association(groups: Any, n: Ints, n_true: Ints) -> Floats:
    """Return for each node the strength of an attribute's association with the property.

    The chi-squared statistic grows with the number of values, so the attributes are compared by
    its significance: by its normal deviate after Wilson and Hilferty ("The distribution of
    chi-square", 1931), which does not underflow as a p-value does. An attribute with a single value
    in the node has minus infinity.

    The last bit of a sum depends on the order, and could decide between two equal attributes. The
    order here is that of the counts, so the names of the values make no difference.
    """
    share = n_true / np.maximum(n, 1)
    deviation = groups.n_true - groups.n * share[groups.node]
    order = np.lexsort((groups.n_true, groups.n, groups.node))
    scatter = np.bincount(groups.node[order], (deviation**2 / groups.n)[order], len(n))
    variance = share * (1 - share)
    chi_squared = np.divide(scatter, variance, out=np.zeros(len(n)), where=variance > 0)
    freedom = np.bincount(groups.node, minlength=len(n)) - 1.0
    informative = freedom > 0
    freedom[~informative] = 1
    spread = 2 / (9 * freedom)
    deviate = (np.cbrt(chi_squared / freedom) - (1 - spread)) / np.sqrt(spread)
    return np.where(informative, deviate, -np.inf)


def _is_pure(n: Ints, n_true: Ints, purity: float | None) -> Bools:
    larger = np.maximum(n_true, n - n_true) / np.maximum(n, 1)
    threshold = np.inf if purity is None else purity
    return np.asarray((larger >= threshold) | (n == 0))


def _group(local: Ints, code: Ints, positive: Bools) -> _Groups:
    width = int(code.max(initial=0)) + 1
    keys, of_row = _numbered(local * width + code)
    n = np.bincount(of_row, minlength=len(keys))
    n_true = np.bincount(of_row, positive, len(keys)).astype(np.int64)
    return _Groups(keys // width, keys % width, n, n_true, of_row)


def _numbered(values: Ints) -> tuple[Ints, Ints]:
    """Return the distinct values, ascending, and the index of each value among them."""
    encoded: Any = pa.array(values).dictionary_encode()
    distinct = encoded.dictionary.to_numpy()
    order = np.argsort(distinct)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return distinct[order], place[encoded.indices.to_numpy()]


def _choose(groups: list[_Groups], n: Ints, n_true: Ints, used: Bools) -> Ints:
    """Return for each node the unused attribute of highest association; -1 if there is none."""
    if not groups:
        return np.full(len(n), -1)
    strengths = np.array([association(group, n, n_true) for group in groups])
    strengths[used] = -np.inf
    return np.where(strengths.max(axis=0) > -np.inf, strengths.argmax(axis=0), -1)


def _split(
    groups: list[_Groups], attribute: Ints, rows: Ints, local: Ints
) -> tuple[dict[str, Ints], Ints, Ints]:
    """Return the next level's nodes, and the rows in them with their place in that level."""
    chosen = [np.flatnonzero(attribute[g.node] == a) for a, g in enumerate(groups)]

    def children(name: str) -> Ints:
        parts = [getattr(g, name)[c] for g, c in zip(groups, chosen, strict=True)]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    order = np.lexsort((children("code"), children("node")))
    level = {name: children(name)[order] for name in ("code", "n", "n_true")}
    level["parent"] = children("node")[order]
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    child, start = np.full(len(rows), -1), 0
    for a, (group, picked) in enumerate(zip(groups, chosen, strict=True)):
        of_group = np.full(len(group.n), -1)
        of_group[picked] = place[start : start + len(picked)]
        here = attribute[local] == a
        child[here] = of_group[group.of_row[here]]
        start += len(picked)
    inside = child >= 0
    return level, rows[inside], child[inside]
