"""Models for images, a simple version of their answers, and the C lookup to compare it with."""

from __future__ import annotations

import random
import re
import struct
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from birthmark.data.schema import TIME
from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor.answers.point import POINTS, Point
from birthmark.predictor.image.cuts import NEVER, Cuts, ImagePredicate, Level, Meaning
from birthmark.predictor.image.forest import (
    SOURCES,
    ByteTree,
    CodeTable,
    Feature,
    ForestSection,
    Group,
)
from birthmark.predictor.image.format import (
    Counts,
    Scoring,
    Section,
    always,
    compile_image,
    predict,
)
from birthmark.predictor.image.rules import MOST, PLACES, ImageRule, RulesSection
from birthmark.predictor.image.trees import ATTRIBUTES, ImageTree, TreesSection
from birthmark_native import (
    BM_AT_PREDICATES,
    BM_TELLS_CALLER,
    BM_TELLS_DIRECTORY,
    BM_TELLS_NAME,
    Image,
)

CREATES = pa.schema(
    [
        ("name", pa.binary()),
        ("mode", pa.uint32()),
        ("uid", pa.uint32()),
        ("gid", pa.uint32()),
        ("client", pa.utf8()),
        ("time", TIME),
        ("history", pa.binary()),
    ]
)
TELLS = BM_TELLS_NAME, BM_TELLS_CALLER, BM_TELLS_DIRECTORY
HISTORY = max(TELLS) + 1

Create = dict[str, Any]
Answers = list[set[str]]
Scores = dict[str, int]


def some_name(random_: random.Random) -> bytes | None:
    """Return a name, often one that others begin or end like, or any bytes, or none."""
    kind = random_.random()
    if kind < 0.05:
        return None
    if kind < 0.15:
        return random_.randbytes(random_.randrange(40))
    if kind < 0.2:
        return b"." * random_.randrange(4) + b"x" * random_.choice([0, 1, 300])
    pieces = [b"", b"a", b"lock", b"predi", b"prediction", b"tmp", b"aX3bq9", b"1A2B", b"README~"]
    pieces += [b"%d" % random_.randrange(5000), b"cafe", b"0000ff", b"LOCK.x"]
    return b".".join(random_.choices(pieces, k=random_.randrange(1, 5)))


def some_creates(random_: random.Random, n: int) -> list[Create]:
    """Return ``n`` creates of which now this, now that is not known."""

    def maybe(value: Any) -> Any:
        return None if random_.random() < 0.1 else value

    return [
        {
            "name": some_name(random_),
            "mode": maybe(random_.choice([0o600, 0o644, 2**32 - 1])),
            "uid": maybe(random_.randrange(6)),
            "gid": maybe(random_.randrange(3)),
            "client": maybe(random_.choice(["10.0.0.1", "fe80::1", ""])),
            "time": maybe(datetime.fromtimestamp(random_.randrange(-(10**9), 10**9), UTC)),
            "history": maybe(some_history(random_)),
        }
        for _ in range(n)
    ]


def some_history(random_: random.Random) -> bytes:
    history = bytearray(random_.randbytes(random_.choice([HISTORY, HISTORY, 0, 3])))
    for byte in TELLS:
        if byte < len(history) and random_.random() < 0.3:
            history[byte] = 0
    return bytes(history)


def components(name: bytes | None) -> set[tuple[str, bytes]]:
    """Return the places in a name and what stands there."""
    found = {("any", b"")}
    if name is None:
        return found
    found.add(("whole", name))
    first, *rest = name.split(b".")
    if rest:
        found |= {("first", first), ("last", rest[-1])}
        found |= {("middle", piece) for piece in rest[:-1]}
    if len(name) > 5 and not (rest and len(first) == 5):
        found.add(("prefix", name[:5]))
    return found


@dataclass
class Made:
    """An image, and a simple way to its answers: ``scores`` of each section, by key."""

    predicates: list[ImagePredicate]
    sections: list[Scoring]
    scores: list[Callable[[Create], Scores]]
    point: Point
    groups: Sequence[dict[str, list[bool]]]

    @property
    def keys(self) -> list[str]:
        return [predicate.key for predicate in self.predicates]

    @property
    def image(self) -> bytes:
        return compile_image(self.predicates, self.sections, self.groups, self.point)

    def score(self, create: Create) -> Scores:
        """Return the greatest score of each predicate among the sections that count."""
        scope, found = scope_index(create["history"] or b""), dict.fromkeys(self.keys, 0)
        for section, scores in zip(self.sections, self.scores, strict=True):
            for key, score in scores(create).items():
                if key in section.counts[scope][self.point]:
                    found[key] = max(found[key], score)
        return found

    def answers(self, creates: Iterable[Create]) -> Answers:
        return [self._answers(create) for create in creates]

    def _answers(self, create: Create) -> set[str]:
        scope, scores = scope_index(create["history"] or b""), self.score(create)
        cuts = {p.key: p.meanings[scope][self.point].cuts.yes for p in self.predicates}
        return {key for key, score in scores.items() if score >= cuts[key]}


def made_rules(random_: random.Random, keys: Sequence[str]) -> tuple[Section, Any]:
    rules: dict[tuple[str, str, bytes], ImageRule] = {}
    for _ in range(random_.choice([0, 1, 40, 400])):
        place, text = random_.choice(sorted(components(some_name(random_))))
        least, most = sorted(random_.choices(range(MOST + 1), k=2))
        rule = ImageRule(random_.choice(keys), place, text, least, most)
        rules[(rule.predicate, place, text)] = rule
    order = random_.sample(PLACES, len(PLACES))
    by_component: dict[tuple[str, bytes], list[ImageRule]] = {}
    for rule in rules.values():
        by_component.setdefault((rule.place, rule.text), []).append(rule)

    def scores(create: Create) -> Scores:
        found = [r for c in components(create["name"]) for r in by_component.get(c, ())]
        answers = dict.fromkeys(keys, 0)
        for key in keys:
            ceiling = MOST
            for place in order:
                own = [r for r in found if (r.predicate, r.place) == (key, place)]
                ceiling = min([ceiling, *(rule.most for rule in own)])
                least = max((rule.least for rule in own), default=0)
                answers[key] = max(answers[key], min(least, ceiling))
        return answers

    return RulesSection(list(rules.values()), order), scores


def pieces(name: bytes | None) -> list[bytes | None]:
    if name is None:
        return [None, None, None]
    first, *rest = name.split(b".")
    return [first, b".".join(rest[:-1]) if rest[1:] else None, rest[-1] if rest else None]


def attributes(create: Create) -> list[Any]:
    return [*pieces(create["name"]), create["mode"], create["uid"], create["gid"]]


def made_tree(random_: random.Random, key: str, creates: list[Create]) -> tuple[ImageTree, Any]:
    """Grow a tree with branches for the values of some creates, and random scores."""
    rows = [attributes(create) for create in creates]
    parent, split, value, score = [-1], [-1], [None], [random_.randrange(256)]
    waiting = [(0, rows, list(range(6)))]
    while waiting:
        node, rows, left = waiting.pop(0)
        if not left or random_.random() < 0.2:
            continue
        split[node] = attribute = random_.choice(left)
        for own in sorted({row[attribute] for row in rows}, key=repr):
            waiting.append(
                (
                    len(parent),
                    [r for r in rows if r[attribute] == own],
                    [a for a in left if a != attribute],
                )
            )
            parent.append(node)
            split.append(-1)
            value.append(own)
            score.append(random_.choice([0, 255, random_.randrange(256)]))
    kinds = [pa.binary()] * 3 + [pa.int64()] * 3
    values = []
    for attribute, kind in enumerate(kinds):
        owns = {v for v, p in zip(value[1:], parent[1:], strict=True) if split[p] == attribute}
        values.append(pa.array(sorted(owns, key=repr), kind))
    code = [-1] + [
        values[split[p]].to_pylist().index(v) for v, p in zip(value[1:], parent[1:], strict=True)
    ]
    children = {(p, v): c for c, (p, v) in enumerate(zip(parent, value, strict=True)) if c}

    def scores(create: Create) -> Scores:
        row, node = attributes(create), 0
        while split[node] >= 0 and (node, row[split[node]]) in children:
            node = children[node, row[split[node]]]
        return {key: score[node]}

    arrays = [np.array(a) for a in (parent, split, code)]
    return ImageTree(key, *arrays, np.array(score, np.uint8), values), scores


def made_trees(random_: random.Random, keys: Sequence[str]) -> tuple[Section, Any]:
    creates = some_creates(random_, random_.choice([1, 60]))
    trees, answers = zip(*(made_tree(random_, key, creates) for key in keys), strict=True)
    assert len(ATTRIBUTES) == 6

    def scores(create: Create) -> Scores:
        return {key: score for own in answers for key, score in own(create).items()}

    return TreesSection(trees), scores


def fnv1a(text: bytes) -> int:
    value = 0x811C9DC5
    for byte in text:
        value = (value ^ byte) * 0x01000193 % 2**32
    return value


def is_random(word: bytes) -> bool:
    kinds = [(chr(b).isdigit(), chr(b).isupper()) for b in word]
    changes = sum(one != other for one, other in pairwise(kinds))
    number = re.fullmatch(rb"(?=.*[0-9])[0-9a-fA-F]*", word)
    return len(word) == 6 and not number and changes >= 2


def shape(name: bytes) -> bytes:
    def fold(word: re.Match[bytes]) -> bytes:
        if is_random(word[0]):
            return b"@"
        return re.sub(rb"(?=[a-fA-F]*[0-9])[0-9a-fA-F]{4,}|[0-9]+", b"#", word[0])

    return re.sub(rb"[A-Za-z0-9]+", fold, name)


def numbers(name: bytes) -> list[int]:
    def longest(pattern: bytes) -> int:
        return max(map(len, re.findall(pattern, name)), default=0)

    found = [
        len(name),
        name.count(b"."),
        len(re.findall(rb"[0-9]", name)),
        len(re.findall(rb"[A-Z]", name)),
        len(re.findall(rb"[^A-Za-z0-9.]", name)),
        longest(rb"[0-9]+"),
        longest(rb"[0-9a-fA-F]+"),
        len(name) - name.rfind(b".") if b"." in name else 0,
        name[0] if name else 0,
        name[-1] if name else 0,
        int(any(is_random(word) for word in re.findall(rb"[A-Za-z0-9]+", name))),
    ]
    return [min(number, 255) for number in found]


def values(create: Create) -> list[int | None]:
    """Return what has codes: mode, uid, gid, and hashes of client, shape and suffix."""
    folded = shape(create["name"] or b"")
    suffix = fnv1a(folded[folded.rfind(b".") :]) if b"." in folded else 0
    client = None if create["client"] is None else fnv1a(create["client"].encode())
    return [create["mode"], create["uid"], create["gid"], client, fnv1a(folded), suffix]


def scope_index(history: bytes) -> int:
    name, user, directory = (byte < len(history) and history[byte] > 0 for byte in TELLS)
    scope = ("nothing", "name", "caller", "directory")[
        name + (name and user) + (name and user and directory)
    ]
    return HISTORY_SCOPES.index(scope)


def row_of(create: Create, features: Sequence[Feature], tables: Sequence[CodeTable]) -> list[int]:
    row = []
    for source, argument, table in features:
        if source == "history":
            history = create["history"] or b""
            row.append(history[argument] if argument < len(history) else 0)
        elif source == "name":
            row.append(numbers(create["name"] or b"")[argument])
        elif source == "code":
            value, codes = values(create)[argument], tables[table]
            known = dict(zip(codes.values.tolist(), codes.codes.tolist(), strict=True))
            row.append(codes.unknown if value is None else known.get(value, codes.other))
        else:
            row.append(24 if create["time"] is None else create["time"].hour)
    return row


def made_byte_tree(random_: random.Random, features: int, columns: int) -> ByteTree:
    children: list[tuple[int, int]] = []
    splits = random_.choice([0, 1, 2, 30])
    leaves = count(splits)

    def grown(size: int) -> int:
        """Return the child that so many splits make, which are numbered in preorder."""
        if not size:
            return next(leaves)
        own, first = len(children), random_.randrange(size)
        children.append((0, 0))
        children[own] = (grown(first), grown(size - 1 - first))
        return own

    grown(splits)
    return ByteTree(
        np.array(random_.choices(range(features), k=splits), np.int64),
        np.frombuffer(random_.randbytes(splits), np.uint8) // random_.choice([2, 16]),
        np.array(children, np.int64).reshape(-1, 2),
        np.frombuffer(random_.randbytes((splits + 1) * columns), np.uint8).reshape(-1, columns),
    )


def made_forest(random_: random.Random, keys: Sequence[str]) -> tuple[Section, Any]:
    known = [v for c in some_creates(random_, 30) for v in values(c) if v is not None]
    tables = []
    for _ in range(2):
        own = np.array(sorted(set(random_.sample(known, 20))), np.uint32)
        codes = np.frombuffer(random_.randbytes(len(own)), np.uint8)
        tables.append(CodeTable(own, codes, random_.randrange(256), random_.randrange(256)))
    arguments = {"history": HISTORY + 2, "name": 11, "code": 6, "hour": 1}
    features = [
        Feature(source, random_.randrange(arguments[source]), random_.randrange(2))
        for source in random_.choices(SOURCES, k=random_.choice([1, 40]))
    ]
    groups = []
    for place in range(0, len(keys), 3):
        columns = random_.choice([1, 3, 20])
        trees = [made_byte_tree(random_, len(features), columns) for _ in range(9)]
        outputs = {key: random_.randrange(columns) for key in keys[place : place + 3]}
        groups.append(Group(columns, outputs, trees))

    def scores(create: Create) -> Scores:
        row, found = row_of(create, features, tables), {}
        for group in groups:
            sums = sums_of(group, row)
            found |= {key: int(sums[column]) for key, column in group.outputs.items()}
        return found

    return ForestSection(features, tables, groups), scores


def sums_of(group: Group, row: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return the sums of the scores of a row's leaves, tree by tree."""
    sums = np.zeros(group.columns, np.int64)
    for tree in group.trees:
        node = 0
        while node < len(tree.feature):
            right = row[tree.feature[node]] > tree.threshold[node]
            node = tree.children[node, int(right)]
        sums += tree.scores[node - len(tree.feature)]
    return sums


MAKERS = {"rules": made_rules, "trees": made_trees, "forest": made_forest}
USUAL_CUTS = {
    "rules": [0, 1, 60, 200, NEVER],
    "trees": [0, 1, 100, 255, NEVER],
    "forest": [0, 900, 1100, 1300, NEVER],
}


def made(seed: int, kinds: Sequence[str] = tuple(MAKERS), n: int = 0) -> Made:
    """Return a made-up image with a section of each of ``kinds``, over ``n`` predicates each.

    Of several kinds, one more section counts for predicates of all.
    """
    random_ = random.Random(seed)
    count = n or random_.choice([1, 7, 30])
    by_kind = {kind: [f"{kind} {number}" for number in range(count)] for kind in kinds}
    keys = [key for own in by_kind.values() for key in own]
    sections, scores = zip(
        *(MAKERS[kind](random_, own) for kind, own in by_kind.items()), strict=True
    )
    counts = [made_counts(random_, keys) for _ in sections]
    predicates = [
        ImagePredicate(key, [made_meanings(random_, USUAL_CUTS[kind]) for _ in HISTORY_SCOPES])
        for kind, own in by_kind.items()
        for key in own
    ]
    own = [Scoring(*each) for each in zip(sections, counts, strict=True)]
    if len(kinds) > 1:  # some predicates are scored twice
        section, more = random_.choice([made_rules, made_trees])(random_, keys)
        own.append(Scoring(section, made_counts(random_, keys)))
        scores = (*scores, more)
    point = random_.choice(POINTS)
    groups = [made_group(random_, keys) for _ in range(random_.randrange(3))]
    return Made(predicates, own, list(scores), point, groups)


def made_counts(random_: random.Random, keys: Sequence[str]) -> Counts:
    """Return all keys at each history scope and point, or only some of them."""
    if random_.random() < 0.5:
        return always(keys)
    return [
        {point: set(random_.sample(keys, random_.randrange(len(keys) + 1))) for point in POINTS}
        for _ in HISTORY_SCOPES
    ]


def made_meanings(random_: random.Random, cuts: Sequence[int]) -> dict[Point, Meaning]:
    least = sorted(random_.sample(range(2**16), random_.randrange(4)))
    levels = [Level(score, random_.randrange(10_000)) for score in least]
    return {point: Meaning(Cuts(yes=random_.choice(cuts)), levels) for point in POINTS}


def made_group(random_: random.Random, keys: Sequence[str]) -> dict[str, list[bool]]:
    """Return the assignments of some predicates."""
    count = random_.choice([1, 5, 64, 100])
    related = random_.sample(keys, random_.randrange(1, len(keys) + 1))
    return {key: [random_.random() < 0.5 for _ in range(count)] for key in related}


def decoded(answers: dict[str, pa.BooleanArray]) -> Answers:
    """Return answers by predicate as sets of the predicates that are a yes, row by row."""
    columns = [column.to_pylist() for column in answers.values()]
    return [
        {key for key, yes in zip(answers, row, strict=True) if yes}
        for row in zip(*columns, strict=True)
    ]


def rust_answers(image: bytes, creates: pa.Table) -> Answers:
    return decoded(predict(Image(image), creates))


def predicates_of(image: bytes) -> int:
    """Return the number of an image's predicates."""
    return int.from_bytes(image[BM_AT_PREDICATES : BM_AT_PREDICATES + 4], "little")


@dataclass
class Lookup:
    """The C lookup, compiled: a command and its first words."""

    command: list[str]

    def checks(self, images: Iterable[bytes]) -> list[int]:
        """Return what ``bm_image_check`` says of each of ``images``."""
        stream = b"".join(struct.pack("<I", len(image)) + image for image in images)
        done = subprocess.run([*self.command, "check"], input=stream, capture_output=True)
        assert done.returncode == 0, done.stderr
        return [int(line) for line in done.stdout.split()]

    def answers(self, image: bytes, creates: pa.Table, folder: Path) -> np.ndarray:
        """Return a row for each create with the answers of all predicates, as booleans."""
        found = self._asked("answers", image, creates, folder).reshape(-1, 32)
        bits = np.unpackbits(found, axis=1, bitorder="little")
        return bits[:, : predicates_of(image)].astype(bool)

    def scores(self, image: bytes, creates: pa.Table, folder: Path) -> np.ndarray:
        """Return a row for each create with the scores of all predicates."""
        found = self._asked("scores", image, creates, folder).view("<u2").reshape(-1, 256)
        assert not found[:, predicates_of(image) :].any()
        return found[:, : predicates_of(image)]

    def steps(self, image: bytes, creates: pa.Table, folder: Path) -> list[int]:
        """Return the steps that each create took."""
        found: list[int] = self._asked("steps", image, creates, folder).view("<u8").tolist()
        return found

    def _asked(self, what: str, image: bytes, creates: pa.Table, folder: Path) -> np.ndarray:
        path = folder / "image"
        path.write_bytes(image)
        stream = b"".join(map(_packed, creates.to_pylist()))
        command = [*self.command, what, str(path)]
        done = subprocess.run(command, input=stream, capture_output=True)
        assert done.returncode == 0, done.stderr
        return np.frombuffer(done.stdout, np.uint8)


def _packed(create: Create) -> bytes:
    numbers = [create.get(c) for c in ("mode", "uid", "gid")]
    client = create.get("client")
    numbers.append(None if client is None else fnv1a(client.encode()))
    numbers.append(None if create.get("time") is None else create["time"].hour)
    known = sum(1 << place for place, number in enumerate(numbers) if number is not None)
    packed = struct.pack("<6I", known, *(number or 0 for number in numbers))
    for text in (create["name"], create.get("history")):
        packed += struct.pack("<I", 0 if text is None else len(text) + 1) + (text or b"")
    return packed
