"""Greatest cost of a lookup: in images laid out to take the most steps that are allowed.

    python -m benchmarks.steps [--rounds 100] [--json OUT]

Each image declares nearly as many steps as it may (``docs/image-format.md``), spread over up to
16 MB, to miss the caches: trees in which each search walks over other memory; forests as high as
can be, with eight trees walked at the same time, or one alone beside seven low ones; scores
of 256 columns; the rules that a name of 255 bytes matches. They are looked up in C
(``steps.c`` beside this) with nothing of them in the caches, and again with what that left there.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from rich.console import Console
from rich.table import Table

from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.layout_hint import INCLUDE
from birthmark.predictor.answers.point import BOUNDED
from birthmark.predictor.image import steps
from birthmark.predictor.image.cuts import Cuts, ImagePredicate, Meaning
from birthmark.predictor.image.dictionary import write_dictionary
from birthmark.predictor.image.forest import ByteTree, Feature, ForestSection, Group
from birthmark.predictor.image.format import Scoring, Section, Writer, always, compile_image
from birthmark.predictor.image.rules import ImageRule, RulesSection

HEIGHT, FEATURES, MODE, LEAF = 255, 256, 3, 255
ONE = np.ones((1, 1), np.uint8)


@dataclass(frozen=True)
class WideTrees:
    """Trees of six levels, with so many ``edges`` from every node to the one below it."""

    trees: int
    edges: int

    kind: ClassVar[int] = 2

    def write(self, writer: Writer, places: Mapping[str, int]) -> int:
        """Add the section; see ``predictor.image.format.Section``."""
        head, levels = write_dictionary(writer, [], 3), 6
        for _ in range(3):
            values = np.arange(1, self.edges)
            head += [writer.put_u32(values), len(values)]
            writer.steps += int(steps.search(len(values)))
        inner, own = self.trees * levels, 1 + int(steps.search(self.edges))
        place = np.arange(inner)
        below = np.where(place % levels < levels - 1, place + 1, inner)
        most = 2 + own * (levels - place % levels)
        nodes = np.column_stack([MODE | most << 16, place * self.edges])
        ends = np.array([[LEAF | 2 << 16, inner * self.edges], [LEAF, inner * self.edges]])
        codes = np.tile(np.arange(self.edges), inner)
        edges = np.column_stack([codes, np.repeat(below, self.edges)])
        head += [writer.put_u32(np.concatenate([nodes, ends])), inner + 1]
        head += [writer.put_u32(edges), len(edges)]
        roots = np.column_stack([np.arange(self.trees) * levels, np.arange(self.trees)])
        head += [writer.put_u32(roots), len(roots)]
        writer.steps += int(most[0]) * self.trees
        return writer.put_u32(head, 8)


def high(random: np.random.Generator, splits: int, columns: int) -> ByteTree:
    """Return a tree with a way as high as can be, with the other ``splits`` spread beside it.

    What has a byte of 0 goes on to the first child, beside which there is a way of its own; the
    second, for any other byte, is the next step of the way.
    """
    beside = random.multinomial(splits - HEIGHT, np.full(HEIGHT, 1 / HEIGHT))
    steps_of_way = [min(int(own), HEIGHT - place - 1) for place, own in enumerate(beside)]
    children: list[tuple[int, int]] = []
    leaf = sum(steps_of_way) + HEIGHT
    for place, own in enumerate(steps_of_way):
        at = len(children)
        behind = at + own + 1 if place < HEIGHT - 1 else leaf
        children.append((at + 1 if own else leaf, behind))
        children += [(at + n + 1 if n < own else leaf, leaf) for n in range(1, own + 1)]
    feature = random.integers(0, FEATURES, len(children))
    scores = np.ones((1, columns), np.uint8)
    return ByteTree(feature, np.zeros(len(children), np.uint8), np.array(children), scores)


def low() -> ByteTree:
    """Return a tree of one leaf."""
    nothing = np.zeros(0, np.int64)
    return ByteTree(nothing, nothing.astype(np.uint8), nothing.reshape(0, 2), ONE)


def worst() -> Iterator[tuple[str, list[str], list[Section]]]:
    """Yield the name, the predicates and the sections of each image."""
    random = np.random.default_rng(0)
    features = [Feature("history", byte) for byte in range(FEATURES)]
    keys = [str(number) for number in range(256)]
    yield "trees", keys, [WideTrees(200, 1200)]
    abreast = [[high(random, 4100, 1) for _ in range(232)] for _ in range(2)]
    groups = [Group(1, {key: 0}, trees) for key, trees in zip(keys, abreast, strict=False)]
    yield "forest, eight abreast", keys, [ForestSection(features, [], groups)]
    alone = [
        [t for _ in range(7) for t in (high(random, 32000, 1), *[low()] * 7)] for _ in keys[:8]
    ]
    groups = [Group(1, {key: 0}, trees) for key, trees in zip(keys, alone, strict=False)]
    yield "forest, one alone", keys, [ForestSection(features, [], groups)]
    outputs = {key: column for column, key in enumerate(keys)}
    group = Group(256, outputs, [high(random, 1000, 256) for _ in range(230)])
    yield "forest, scores", keys, [ForestSection(features, [], [group])]
    rules = [ImageRule(keys[0], "middle", b"%d" % n if n else b"", 1) for n in range(4096)]
    yield "rules", keys, [RulesSection(rules) for _ in range(5)]


def image_of(keys: list[str], sections: list[Section]) -> bytes:
    """Return the image in which all sections count everywhere."""
    meaning = {BOUNDED: Meaning(Cuts(yes=1))}
    predicates = [ImagePredicate(key, [meaning] * len(HISTORY_SCOPES)) for key in keys]
    return compile_image(predicates, [Scoring(section, always(keys)) for section in sections])


def measure(rounds: int, scratch: Path) -> list[dict[str, Any]]:
    """Return a row of figures for each image."""
    program, source = scratch / "steps", Path(__file__).with_name("steps.c")
    command = ["cc", "-O2", "-std=gnu11", "-I", str(INCLUDE), str(source), "-o", str(program)]
    subprocess.run(command, check=True)
    rows = []
    for what, keys, sections in worst():
        path, content = scratch / "image", image_of(keys, sections)
        path.write_bytes(content)
        declared = int.from_bytes(content[32:36], "little")
        figures = json.loads(subprocess.check_output([program, path, str(rounds)]))
        rows.append({"what": what, "bytes": len(content), "steps": declared, **figures})
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    """Print the figures as a table."""
    heads = ("cold_median", "cold_p99", "warm_median", "warm_p99", "check")
    names = [head.replace("_", " ") for head in heads]
    table = Table("", "bytes", "steps", *names, title="times in µs")
    for row in rows:
        cells = (f"{row[head] / 1000:,.0f}" for head in heads)
        table.add_row(row["what"], f"{row['bytes']:,}", f"{row['steps']:,}", *cells)
    Console(width=120).print(table)


def main() -> None:
    """Measure, print, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    if not shutil.which("cc"):
        raise SystemExit("needs a C compiler: cc is not there")
    with tempfile.TemporaryDirectory() as scratch:
        rows = measure(args.rounds, Path(scratch))
    show(rows)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
