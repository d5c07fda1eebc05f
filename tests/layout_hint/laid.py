"""Images laid out by hand, number by number: those that no model makes, but an attacker may.

    python -m tests.layout_hint.laid

writes the seeds of the fuzzers that read images and model files, into ``layout_hint/fuzz/corpus``
and ``native/fuzz/corpus``.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from unittest import mock

from birthmark.predictor.allocation.verdicts import HINTS
from birthmark.predictor.answers import certainty
from birthmark.predictor.image import steps
from birthmark.predictor.image.dictionary import write_dictionary
from birthmark.predictor.image.format import Section, Writer, compile_image
from birthmark.predictor.image.rules import ImageRule, RulesSection
from birthmark_native import BM_SCOPES
from tests.layout_hint import device as d
from tests.layout_hint.made import made

ROOT = Path(__file__).resolve().parents[2]
LEAF, MODE = 255, 3

VERSION_AT, CHECKSUM_AT, STEPS_AT = 8, 16, 32
"""Where these stand in a header."""


@dataclass(frozen=True)
class LaidTrees:
    """Trees over nodes that they may share.

    ``nodes`` are attribute, answer, steps from it on, and the node that it leads to (by code 0: a
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
        for attribute, answer, own, to in self.nodes:
            rows.append((attribute | answer << 8 | own % 2**16 << 16, first))
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
            outputs = [
                (predicate | column << 16, *[1] * BM_SCOPES)
                for column, predicate in enumerate(group)
            ]
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


@dataclass(frozen=True)
class LaidScoped:
    """A section that answers by history scope, with any kind inside.

    ``masks`` are of 8 bytes, and ``last`` ends the head.
    """

    section: Section
    masks: Sequence[int] = (1,) * BM_SCOPES
    last: int = 0

    kind: ClassVar[int] = 4

    def write(self, writer: Writer, places: Mapping[str, int]) -> int:
        offset = self.section.write(writer, places)
        masks = writer.put(b"".join(mask.to_bytes(8, "little") for mask in self.masks), 8)
        writer.steps += 1
        return writer.put_u32([self.section.kind, offset, masks, self.last], 8)


def raw(predicates: Sequence[str], section: Section) -> bytes:
    """Return an image with one section, whatever it takes: the limit is not the writer's."""
    with mock.patch("birthmark.predictor.image.format.BM_STEPS_MAX", 2**32):
        return compile_image(predicates, [section])


def keys(count: int) -> list[str]:
    return [f"p{number}" for number in range(count)]


def sealed(content: bytes, at: int = CHECKSUM_AT, number: int = 0) -> bytes:
    """Return an image in which a number of four bytes is another, with the right checksum."""
    changed = bytearray(content)
    changed[at : at + 4] = struct.pack("<I", number)
    changed[CHECKSUM_AT : CHECKSUM_AT + 4] = bytes(4)
    checksum = zlib.crc32(changed[CHECKSUM_AT + 4 :], zlib.crc32(changed[:CHECKSUM_AT]))
    changed[CHECKSUM_AT : CHECKSUM_AT + 4] = struct.pack("<I", checksum)
    return bytes(changed)


def declared(content: bytes) -> int:
    """Return the steps that an image declares."""
    return int(struct.unpack_from("<I", content, STEPS_AT)[0])


def seeds() -> Iterator[tuple[str, bytes]]:
    """Yield images that are sound, for fuzzers to begin with, by name."""
    rules = [ImageRule(hint, "last", b"lock", True) for hint in HINTS]
    rules.append(ImageRule("HotName", "middle", b"big", True))
    yield "hints", compile_image(HINTS, [RulesSection(rules)])
    every = ("rules", "trees", "forest")
    for kinds in (("rules",), ("trees",), ("forest",), ("told",), every):
        images = [made(seed, kinds, n=2).image for seed in range(40)]
        yield "-".join(kinds), min((i for i in images if len(i) > 500 * len(kinds)), key=len)
    shared = [(place, place) for place in range(8)]
    yield "shared-nodes", compile_image(keys(8), [LaidTrees(chain(12), shared)])
    yield "long-chain", compile_image(keys(1), [LaidTrees(chain(60), [(0, 0)])])
    yield "shared-trees", compile_image(keys(4), [LaidForest(ladder(9), [[0, 1], [3]], 3)])
    room = compile_image(keys(4), [LaidForest(ladder(3), [[2]], 2), LaidTrees(chain(3), [(1, 0)])])
    yield "room-for-more", sealed(room, STEPS_AT, steps.STEPS)


def refused() -> Iterator[tuple[str, bytes]]:
    """Yield images with a right checksum that are refused as malformed or costly, by why."""
    repeated = [(0, 0), (0, 0)]
    yield "repeated predicate", compile_image(keys(2), [LaidTrees(chain(4), repeated)])
    groups = [[0, 1], [1]]
    yield "repeated output", compile_image(keys(2), [LaidForest(ladder(3), groups, 2)])
    yield "output twice", compile_image(keys(2), [LaidForest(ladder(3), [[1, 1]], 2)])
    few = compile_image(keys(8), [LaidTrees(chain(12, per_node=1), [(0, 0)])])
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
        yield why, compile_image(keys(1), [LaidForest(nodes, [[0]], 1)])
    rules = RulesSection([ImageRule("p0", "any", b"", True)])
    scoped = {
        "forest by history scope": LaidScoped(LaidForest(ladder(3), [[0]], 2)),
        "scoped twice": LaidScoped(LaidScoped(rules)),
        "scoped with a predicate too many": LaidScoped(rules, (1, 1, 1, 2)),
        "scoped with trailing data": LaidScoped(rules, last=1),
    }
    for why, section in scoped.items():
        yield why, compile_image(keys(1), [section])
    for begins in (3, 7, 2**32 - 1):
        inside = LaidForest(ladder(2), [[0]], 2, begins)
        yield f"tree that begins at {begins}", compile_image(keys(1), [inside])


def models() -> Iterator[tuple[str, bytes]]:
    """Yield model files by name: of how sure answers are, they tell nothing, as much, or more."""
    keys = ["lock", "zero", "name:lock"]
    rules = [ImageRule(key, "last", b"lock", True) for key in keys]
    image = compile_image(keys, [RulesSection(rules)])
    yield "plain", laid_out([f"[{certainty.describe_uncalibrated(keys)}]".encode(), image])
    assignments = [{"lock": [True, False, False], "zero": [True, True, False]}]

    def described(*likely: float | None, follows: bool = False) -> str:
        answers = ["no", *["unsure"] * (len(likely) - 2), "yes"]
        own = {"answers": answers, "probabilities": likely, "follows": follows, "reached": 1}
        return json.dumps(
            {"predicates": [{"key": key, **own} for key in keys], "worlds": assignments}
        )

    yield "two-levels", laid_out([f"[{described(0.1, 0.9)}]".encode(), image])
    cuts = [f"{place} {key}" for key in keys for place in range(2)]
    rules = [ImageRule(cut, "last", b"lock", True) for cut in cuts]
    rules += [ImageRule(cut, "last", b"log", True) for cut in cuts if cut.startswith("0")]
    some = [
        compile_image(own, [RulesSection([r for r in rules if r.predicate in own])])
        for own in (cuts[:3], cuts[3:])
    ]
    result = [described(0.01, None, 0.99), *[described(0.2, 0.5, 0.8, follows=True)] * 3]
    yield "told", laid_out([f"[{','.join(result)}]".encode(), image, *some])


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
    for name, model in models():
        yield ROOT / "native/fuzz/corpus/model" / name, model


if __name__ == "__main__":
    for path, content in corpora():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
