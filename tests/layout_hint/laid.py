"""Images laid out by hand, number by number: those that no model makes, but an attacker may.

    python -m tests.layout_hint.laid

writes the seeds of the fuzzers that read images into ``layout_hint/fuzz/corpus`` and
``native/fuzz/corpus``.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from unittest import mock

from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor.allocation.verdicts import HINTS
from birthmark.predictor.answers.point import POINTS
from birthmark.predictor.image import steps
from birthmark.predictor.image.cuts import ALL_IMPLIED, Cuts, ImagePredicate, Level, Meaning
from birthmark.predictor.image.dictionary import write_dictionary
from birthmark.predictor.image.format import (
    Scoring,
    Section,
    Writer,
    always,
    compile_image,
    plain_image,
)
from birthmark.predictor.image.rules import ImageRule, RulesSection
from birthmark_native import (
    BM_ASSIGNMENTS_MAX,
    BM_AT_GROUP_ROWS,
    BM_AT_POINT,
    BM_AT_PREDICATE_ROWS,
    BM_AT_PREDICATES,
    BM_AT_SIZE,
    BM_GROUP_ENTRY,
    BM_GROUPS_MAX,
    BM_HEADER_SIZE,
    BM_KEY_ENTRY,
    BM_LEVEL_ENTRY,
    BM_MEANING_ENTRY,
    BM_POINTS,
    BM_PREDICATE_ENTRY,
    BM_PREDICATES_MAX,
    BM_PROBABILITY_STEPS,
    BM_SCOPES,
    BM_SECTIONS_MAX,
)
from tests.layout_hint import device as d
from tests.layout_hint.made import made

ROOT = Path(__file__).resolve().parents[2]
LEAF, MODE = 255, 3

VERSION_AT, CHECKSUM_AT, STEPS_AT = 8, 16, 32
"""Where these stand in a header."""


@dataclass(frozen=True)
class LaidTrees:
    """Trees over nodes that they may share.

    ``nodes`` are attribute, score, steps from it on, and the node that it leads to (by code 0: a
    mode that is unknown); ``None``: to none. ``trees`` are first node and predicate.
    """

    nodes: Sequence[tuple[int, int, int, int | None]]
    trees: Sequence[tuple[int, int]]

    kind: ClassVar[int] = 2

    def write(self, writer: Writer, places: Mapping[str, int]) -> int:
        head = write_dictionary(writer, [], 3)
        for _ in range(3):
            head += [writer.put_u32([]), 0]
        edges = [(0, to) for *_, to in self.nodes if to is not None]
        rows, first = [], 0
        for attribute, score, own, to in self.nodes:
            rows.append((attribute | score << 8 | own % 2**16 << 16, first))
            first += to is not None
        rows.append((LEAF, first))
        head += [writer.put_u32(rows), len(rows) - 1, writer.put_u32(edges), len(edges)]
        head += [writer.put_u32(self.trees), len(self.trees)]
        writer.steps += 3 + sum(self.nodes[root][2] for root, _ in self.trees)
        return writer.put_u32(head, 8)


def chain(length: int, per_node: int = 3) -> list[tuple[int, int, int, int | None]]:
    """Return nodes each of which leads to the next, which declare the right steps."""
    last = 2
    own = [last + per_node * (length - 1 - place) for place in range(length)]
    inner = [(MODE, 0, own[place], place + 1) for place in range(length - 1)]
    return [*inner, (LEAF, 1, last, None)]


@dataclass(frozen=True)
class LaidForest:
    """As many ``trees`` for each of ``groups`` of predicates, all with the same nodes and a leaf.

    ``nodes`` are threshold, and what goes on to the children or is the number of the leaf; splits
    ask for the hour. ``begins`` is where the second tree begins. The groups share all nodes and
    scores; the image is as long as if they did not.
    """

    nodes: Sequence[tuple[int, int]]
    groups: Sequence[Sequence[int]]
    trees: int
    begins: int | None = None

    kind: ClassVar[int] = 3

    def write(self, writer: Writer, places: Mapping[str, int]) -> int:
        rows = [threshold << 8 | further << 16 for threshold, further in self.nodes]
        firsts = [(len(rows) * place, place) for place in range(self.trees + 1)]
        if self.begins is not None:
            firsts[1] = (self.begins, 1)
        columns = max(map(len, self.groups))
        nodes = writer.put_u32(rows * self.trees)
        scores = writer.put(b"\1" * columns * self.trees)
        writer.put(bytes((4 * len(rows) + columns) * self.trees * (len(self.groups) - 1)))
        height = sum(threshold != LEAF for threshold, _ in self.nodes)
        groups = []
        for group in self.groups:
            outputs = [predicate | column << 16 for column, predicate in enumerate(group)]
            trees = writer.put_u32(firsts)
            own = (columns, len(group), writer.put_u32(outputs))
            groups.append((self.trees, trees, nodes, scores, *own))
            writer.steps += -(-self.trees // steps.ABREAST) * (height + 1)
            writer.steps += self.trees * steps.leaf(columns) + len(group)
        writer.steps += 1
        head = [1, writer.put_u32([(3, 0)]), 0, 0, len(groups), writer.put_u32(groups)]
        return writer.put_u32(head, 8)


NOON, END = (12, 1), (LEAF, 0)
"""A split whose children come next, and a leaf."""


def ladder(length: int) -> list[tuple[int, int]]:
    """Return the nodes of a tree of so many splits, each the second child of the one before."""
    return [NOON, *[END, NOON] * (length - 1), END, END]


def raw(predicates: Sequence[str], section: Section) -> bytes:
    """Return an image with one section, whatever it takes: the limit is not the writer's."""
    with mock.patch("birthmark.predictor.image.format.BM_STEPS_MAX", 2**32):
        return plain_image(predicates, [section])


def keys(count: int) -> list[str]:
    return [f"p{number}" for number in range(count)]


def sealed(content: bytes, at: int = CHECKSUM_AT, number: int = 0, width: int = 4) -> bytes:
    """Return an image in which a number of ``width`` bytes is another, with the right checksum."""
    changed = bytearray(content)
    changed[at : at + width] = number.to_bytes(width, "little")
    rest = changed[CHECKSUM_AT + 4 :]
    checksum = zlib.crc32(rest, zlib.crc32(changed[:CHECKSUM_AT]))
    struct.pack_into("<I", changed, CHECKSUM_AT, checksum)
    return bytes(changed)


def number_at(content: bytes, at: int) -> int:
    """Return the ``u32`` at an offset."""
    return int(struct.unpack_from("<I", content, at)[0])


def declared(content: bytes) -> int:
    """Return the steps that an image declares."""
    return number_at(content, STEPS_AT)


def whole(assignments: int = 3, groups: int = 2, sections: int = 1, predicates: int = 3) -> bytes:
    """Return a small image that has everything."""
    names = keys(predicates)
    levels = [Level(0, 40), Level(2, 50), Level(7, 9999)]
    meaning = {point: Meaning(Cuts(yes=1, implied=ALL_IMPLIED), levels) for point in POINTS}
    rules = RulesSection([ImageRule(names[0], "last", b"lock", 3)])
    table = {name: [True] * assignments for name in names}
    limits = dict.fromkeys(("BM_GROUPS_MAX", "BM_PREDICATES_MAX", "BM_SECTIONS_MAX"), 2**32)
    with mock.patch.multiple("birthmark.predictor.image.format", **limits):
        return compile_image(
            [ImagePredicate(name, [meaning] * len(HISTORY_SCOPES)) for name in names],
            [Scoring(rules, always(names))] * sections,
            [table] * groups,
        )


@dataclass(frozen=True)
class Array:
    """An array in ``whole()``: where its offset stands, and its bytes."""

    pointer: int
    size: int
    align: int

    def moved(self, off: int = 0, missing: int = 0) -> bytes:
        """Return the image with a copy at its end, ``off`` its alignment, and ``missing`` bytes."""
        image = whole()
        begin = number_at(image, self.pointer)
        copy = image[begin : begin + self.size]
        content = image + bytes(-len(image) % 8 + off)
        moved = sealed(content + copy[: self.size - missing], self.pointer, len(content))
        return sealed(moved, BM_AT_SIZE, len(moved))


def arrays() -> dict[str, Array]:
    """Return the arrays of ``whole()`` by name."""
    image = whole()
    row, group = (number_at(image, at) for at in (BM_AT_PREDICATE_ROWS, BM_AT_GROUP_ROWS))
    head = number_at(image, BM_HEADER_SIZE + 4)
    return {
        "predicates": Array(BM_AT_PREDICATE_ROWS, 3 * BM_PREDICATE_ENTRY, 4),
        "key": Array(row, 2, 1),
        "levels": Array(row + BM_KEY_ENTRY + BM_MEANING_ENTRY, 3 * BM_LEVEL_ENTRY, 4),
        "head of a section": Array(BM_HEADER_SIZE + 4, 48, 8),
        "masks of a section": Array(BM_HEADER_SIZE + 8, 8 * BM_SCOPES * BM_POINTS, 8),
        "rows of rules": Array(head + 36, 6, 1),
        "groups": Array(BM_AT_GROUP_ROWS, 2 * BM_GROUP_ENTRY, 4),
        "predicates of a group": Array(group + 4, 6, 4),
        "masks of a group": Array(group + 12, 24, 8),
    }


def seeds() -> Iterator[tuple[str, bytes]]:
    """Yield images that are sound, for fuzzers to begin with, by name."""
    rules = [ImageRule(hint, "last", b"lock", 1) for hint in HINTS]
    rules.append(ImageRule("HotName", "middle", b"big", 1))
    yield "hints", plain_image(HINTS, [RulesSection(rules)])
    yield "whole", whole()
    every = ("rules", "trees", "forest")
    for kinds in (("rules",), ("trees",), ("forest",), every):
        images = [made(seed, kinds, n=2).image for seed in range(40)]
        yield "-".join(kinds), min((i for i in images if len(i) > 500 * len(kinds)), key=len)
    shared = [(place, place) for place in range(8)]
    yield "shared-nodes", plain_image(keys(8), [LaidTrees(chain(12), shared)])
    yield "long-chain", plain_image(keys(1), [LaidTrees(chain(60), [(0, 0)])])
    yield "shared-trees", plain_image(keys(4), [LaidForest(ladder(9), [[0, 1], [3]], 3)])
    room = plain_image(keys(4), [LaidForest(ladder(3), [[2]], 2), LaidTrees(chain(3), [(1, 0)])])
    yield "room-for-more", sealed(room, STEPS_AT, steps.STEPS)


def refused() -> Iterator[tuple[str, bytes]]:
    """Yield images with a right checksum that are refused as malformed, by why."""
    repeated = [(0, 0), (0, 0)]
    yield "repeated predicate", plain_image(keys(2), [LaidTrees(chain(4), repeated)])
    groups = [[0, 1], [1]]
    yield "repeated output", plain_image(keys(2), [LaidForest(ladder(3), groups, 2)])
    yield "output twice", plain_image(keys(2), [LaidForest(ladder(3), [[1, 1]], 2)])
    few = plain_image(keys(8), [LaidTrees(chain(12, per_node=1), [(0, 0)])])
    yield "node that declares too few steps", few
    trees = {
        "children that stand too late": [(12, 3), *ladder(2)],
        "children of two splits": [NOON, (12, 2), NOON, END, END],
        "children that are not there": ladder(2)[:-2],
        "node that no way leads to": [*ladder(2), END, END],
        "leaf without scores": [NOON, END, (LEAF, 1)],
        "tree that is too high": ladder(256),
    }
    for why, nodes in trees.items():
        yield why, plain_image(keys(1), [LaidForest(nodes, [[0]], 1)])
    for begins in (3, 7, 2**32 - 1):
        inside = LaidForest(ladder(2), [[0]], 2, begins)
        yield f"tree that begins at {begins}", plain_image(keys(1), [inside])
    yield "no predicates", sealed(whole(groups=0), BM_AT_PREDICATES, 0)
    image = whole()
    for why, change in _wrong(image).items():
        yield why, sealed(image, *change)


def _wrong(image: bytes) -> dict[str, tuple[int, int, int]]:
    """Return changes of one number of ``whole()``, by why it is refused: place, number, bytes."""
    found = {name: number_at(image, array.pointer) for name, array in arrays().items()}
    cuts = found["predicates"] + BM_KEY_ENTRY + 8
    group, levels = found["groups"], found["levels"]
    return {
        "unknown operating point": (BM_AT_POINT, 2, 4),
        "predicate without a zero": (found["predicates"] + 6, 1, 2),
        "levels that do not ascend": (levels + 8, 2, 2),
        "level that is certain": (levels + 2, BM_PROBABILITY_STEPS, 2),
        "unknown implied answers when accurate": (cuts + 6, 4, 2),
        "unknown implied answers when bounded": (cuts + BM_MEANING_ENTRY + 6, 4, 2),
        "section of kind 4": (BM_HEADER_SIZE, 4, 4),
        "section without a zero": (BM_HEADER_SIZE + 12, 1, 4),
        "section with a predicate too many": (found["masks of a section"] + 56, 8, 1),
        "group of no predicates": (group, 0, 4),
        "group of more predicates than all": (group, 4, 4),
        "group whose predicates do not ascend": (found["predicates of a group"] + 2, 0, 2),
        "group with an unknown predicate": (found["predicates of a group"] + 4, 3, 2),
        "group without assignments": (group + 8, 0, 4),
        "group with an assignment too many": (found["masks of a group"] + 16, 8, 1),
    }


def too_many() -> Iterator[tuple[str, bytes]]:
    """Yield images that have more of something than is allowed."""
    yield "predicates", whole(predicates=BM_PREDICATES_MAX + 1)
    yield "sections", whole(sections=BM_SECTIONS_MAX + 1)
    yield "groups", whole(groups=BM_GROUPS_MAX + 1)
    yield "assignments", whole(assignments=BM_ASSIGNMENTS_MAX + 1)


CREATE = struct.pack("<2B4IB", 0x06, 13, 0, 100, 100, 0, 0) + b"inbox.lock"
"""A create as the fuzzers have it, behind an image: what is known, hour, numbers, history, name."""


def frames(image: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield seeds for the device by name: bytes that say whether images are made right, frames."""

    def frame(command: int, content: bytes) -> bytes:
        return struct.pack("<2I", command, len(content)) + content

    def config(mode: int) -> bytes:
        return frame(d.CONFIG, struct.pack("<4I2Q2i2I", d.VERSION, mode, 7, 0, 0, 0, 0, 0, 0, 0))

    def ask(name: bytes, directory: bool = False) -> bytes:
        owner = (0o600, 100, 100, 0)
        numbers = (9, d.VERSION, 0, 0x27, *owner, directory, len(name))
        return frame(d.ASK, struct.pack("<Q7I2H256s", *numbers, name))

    def load(image: bytes) -> bytes:
        return frame(d.LOAD, struct.pack("<2IQ2I", d.VERSION, len(image), 0, 0, 0) + image)

    read = frame(d.READ, struct.pack("<4I", d.VERSION, 256, 0, 0))
    answer = frame(d.ANSWER, struct.pack("<2IQ", d.VERSION, 3, 1 << 32 | 2048))
    flush = frame(d.FLUSH, struct.pack("<2I", d.VERSION, 0))
    status = frame(d.STATUS, struct.pack("<I", d.VERSION) + bytes(d.STATE_SIZE - 4))
    asked = ask(b"inbox.lock") + ask(b"a7", True)
    yield "query", b"\0" + config(d.QUERY) + asked + read + answer + flush + asked + status
    yield "table", b"\1" + config(d.TABLE) + load(image) + ask(b"inbox.lock")
    damaged = image[:-1] + bytes([image[-1] ^ 1])
    older, rest = sealed(image, VERSION_AT, 1), struct.pack("<2I", 9, 3) + b"???"
    yield "refused", b"\0" + load(damaged) + load(older) + load(b"") + rest + load(image)


def corpora() -> Iterator[tuple[Path, bytes]]:
    """Yield every seed that images are part of: its place and its content."""
    c, rust = ROOT / "layout_hint/fuzz/corpus", ROOT / "native/fuzz/corpus/image"
    for name, image in seeds():
        yield c / "check" / name, image
        yield c / "lookup" / name, image + CREATE
        yield rust / name, image + CREATE
        if name == "hints":
            for frame, content in frames(image):
                yield c / "device" / frame, content
    for name, image in refused():
        place = name.replace(" ", "-")
        yield c / "lookup" / place, image + CREATE
        yield rust / place, image + CREATE


if __name__ == "__main__":
    for path, content in corpora():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
