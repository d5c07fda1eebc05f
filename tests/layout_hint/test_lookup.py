"""The C lookup: it compiles everywhere, refuses what it should, and answers as all else does."""

from __future__ import annotations

import importlib.util
import random
import re
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.features import from_requests
from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.layout_hint import INCLUDE
from birthmark.predictor.allocation.verdicts import HINTS, RegionCapacity, hint_image
from birthmark.predictor.answers.point import ACCURATE, BOUNDED, POINTS, Point
from birthmark.predictor.image.cuts import Cuts, ImagePredicate, Meaning, plain_predicate
from birthmark.predictor.image.forest import Feature, ForestSection, Group
from birthmark.predictor.image.format import (
    Scoring,
    always,
    at_point,
    compile_image,
    plain_image,
    predict,
)
from birthmark.predictor.image.rules import ImageRule, RulesSection
from birthmark.predictor.image.steps import STEPS
from birthmark.predictor.labels import births
from birthmark.predictor.models.compile import compile_models
from birthmark.predictor.models.kinds import KINDS
from birthmark.predictor.predicates import BUILT_IN
from birthmark.predictor.trained import TrainedModel
from birthmark_native import (
    BM_ASSIGNMENTS_MAX,
    BM_GROUPS_MAX,
    BM_PREDICATES_MAX,
    BM_SECTIONS_MAX,
    Image,
)
from tests import needs
from tests.layout_hint import laid
from tests.layout_hint.made import (
    CREATES,
    HISTORY,
    Lookup,
    made,
    made_byte_tree,
    row_of,
    some_creates,
    sums_of,
)

DRIVER = Path(__file__).with_name("lookup.c")
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
STANDARDS = {"c99": "c", "c++17": "c++"}
NO_IMAGE, NEWER, CHECKSUM, MALFORMED, OLDER, COSTLY = 2, 3, 5, 6, 7, 8
STATUS = {
    "truncated": 1,
    "not a compiled": NO_IMAGE,
    "newer version": NEWER,
    "more bytes": 4,
    "checksum": CHECKSUM,
    "malformed": MALFORMED,
    "older version": OLDER,
    "more steps": COSTLY,
}
SANITIZE = "-fsanitize=address,undefined"


def zig() -> list[str]:
    """Return the command of zig, which compiles for other machines, if it is there."""
    if found := shutil.which("zig"):
        return [found]
    spec = importlib.util.find_spec("ziglang")
    return [str(Path(spec.origin).with_name("zig"))] if spec and spec.origin else []


def compiled(command: list[str], out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    wanted = [*command, "-I", str(INCLUDE), *more, "-o", str(out)]
    return subprocess.run(wanted, capture_output=True, text=True)


@pytest.fixture(scope="session")
def lookup(tmp_path_factory: pytest.TempPathFactory) -> Lookup:
    """Return the C lookup, compiled with sanitizers where they are there."""
    needs.program("cc", "gcc")
    out = tmp_path_factory.mktemp("lookup") / "lookup"
    command = ["cc", "-std=c99", "-O1", *STRICT, str(DRIVER)]
    sanitized = compiled(command, out, SANITIZE, "-fno-sanitize-recover=all")
    if sanitized.returncode:
        plain = compiled(command, out)
        assert plain.returncode == 0, plain.stderr
    return Lookup([str(out)])


@pytest.mark.parametrize("compiler", ["gcc", pytest.param("clang", marks=pytest.mark.deep)])
@pytest.mark.parametrize("standard", STANDARDS)
@pytest.mark.parametrize("bits", ["-m64", pytest.param("-m32", marks=pytest.mark.deep)])
def test_the_header_compiles_freestanding_without_a_warning(compiler, standard, bits, tmp_path):
    needs.program(compiler)
    source = tmp_path / "use.c"
    source.write_text(USE)
    language = ["-x", STANDARDS[standard], f"-std={standard}", bits, "-ffreestanding", "-O2"]
    out = tmp_path / "use.o"
    done = compiled([compiler, *STRICT, *language, "-c", str(source)], out)
    if "stubs-32.h" in done.stderr or "bits/c++config.h" in done.stderr:
        needs.missing(f"{compiler} has no headers for {bits} (Debian: gcc-multilib, g++)")
    assert (done.returncode, done.stderr) == (0, "")
    symbols = subprocess.run(["nm", "-u", str(out)], capture_output=True, text=True).stdout
    allowed = {"memcpy", "memset", "memmove", "memcmp", "_GLOBAL_OFFSET_TABLE_"}
    assert set(re.findall(r"U (\S+)", symbols)) <= allowed
    sections = subprocess.run(["nm", str(out)], capture_output=True, text=True).stdout
    assert not re.search(r" [bBdDC] ", sections), "state is kept between calls"


USE = """
#include "birthmark.h"

int use(const void *, size_t, const struct bm_create *, struct bm_answers *);

int
use(const void *bytes, size_t size, const struct bm_create *create,
    struct bm_answers *answers)
{
	struct bm_scores scores;
	size_t len;

	if (bm_image_check(bytes, size) != BM_OK)
		return (bm_status_text(BM_MALFORMED)[0]);
	bm_lookup(bytes, create, answers);
	if (bm_abstains(bytes, 0))
		return ((int)bm_hash("x", 1));
	bm_score(bytes, create, &scores);
	return (bm_answer(answers, 0) + scores.of[0] + bm_predicate_key(bytes, 0, &len)[0]);
}
"""


@pytest.mark.deep
def test_hosts_of_the_other_byte_order_answer_alike(tmp_path):
    qemu = needs.program("qemu-ppc64", "qemu-user")
    if not zig():
        needs.missing("needs zig (pip install ziglang)")
    out = tmp_path / "lookup"
    target = ["-target", "powerpc64-linux-musl", "-static"]
    done = compiled([*zig(), "cc", *target, "-std=c99", "-O2", *STRICT, str(DRIVER)], out)
    assert done.returncode == 0, done.stderr
    other = Lookup([qemu, str(out)])
    for seed in range(3):
        agree(other, made(seed), seed, tmp_path)
    whole = made(1, n=1).image
    assert other.checks([whole, whole[:-1], whole[:50] + b"!" + whole[51:]]) == [0, 1, CHECKSUM]


def agree(lookup: Lookup, model, seed: int, folder: Path) -> None:
    creates = some_creates(random.Random(seed + 100), 150)
    rows = pa.Table.from_pylist(creates, schema=CREATES)
    found = lookup.answers(model.image, rows, folder)
    expected = [[key in yes for key in model.keys] for yes in model.answers(creates)]
    assert found.tolist() == expected
    scores = [list(model.score(create).values()) for create in creates]
    assert lookup.scores(model.image, rows, folder).tolist() == scores


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(20, 32))
def test_the_c_lookup_answers_as_the_model_that_the_image_was_made_of(seed, lookup, tmp_path):
    agree(lookup, made(seed), seed, tmp_path)


@pytest.mark.parametrize("columns", [1, 5, 8, 9, 20])
def test_the_sums_of_any_number_of_trees_are_those_of_a_simple_walk(columns, lookup, tmp_path):
    random_ = random.Random(columns)
    creates = some_creates(random_, 40)
    table = pa.Table.from_pylist(creates, schema=CREATES)
    features = [Feature("history", byte) for byte in range(HISTORY)]
    rows = [row_of(create, features, []) for create in creates]
    for count in (1, 7, 8, 9, 30, 92, 256):
        trees = [made_byte_tree(random_, len(features), columns) for _ in range(count)]
        keys = [str(column) for column in range(columns)]
        group = Group(columns, {key: int(key) for key in keys}, trees)
        sums = np.array([sums_of(group, row) for row in rows])
        cut = int(np.median(sums))
        image = plain_image(keys, [ForestSection(features, [], [group])], cut)
        assert lookup.scores(image, table, tmp_path).tolist() == sums.tolist()
        found = predict(Image(image), table)
        for key in keys:
            assert found[key].to_pylist() == (sums[:, int(key)] >= cut).tolist()


def test_every_flipped_bit_and_every_missing_byte_is_refused(lookup):
    whole = min((made(seed, n=1).image for seed in range(30)), key=len)
    flipped = []
    for bit in range(8 * len(whole)):
        flipped.append(bytearray(whole))
        flipped[-1][bit // 8] ^= 1 << bit % 8
    statuses = lookup.checks(map(bytes, flipped))
    assert len(statuses) == 8 * len(whole)
    assert 0 not in statuses
    assert {NO_IMAGE, NEWER, CHECKSUM} < set(statuses)
    assert set(lookup.checks(whole[:n] for n in range(len(whole)))) == {1}
    assert lookup.checks([whole, whole + b"\0"]) == [0, 4]


def status(content: bytes) -> int:
    """Return what the Rust reader says of an image, as the number of C's."""
    try:
        Image(content)
    except ValueError as error:
        return next(code for text, code in STATUS.items() if text in str(error))
    return 0


def test_both_readers_refuse_the_same_images_and_agree_on_those_that_they_accept(lookup, tmp_path):
    random_ = random.Random(7)
    images = [made(seed, n=2).image for seed in range(12)]
    damaged = []
    for _ in range(6000):
        content = bytearray(random_.choice(images))
        for _ in range(random_.choice([1, 1, 2, 8])):
            at = random_.randrange(20, len(content))
            content[at] = random_.choice([0, 1, 255, content[at] ^ 1 << random_.randrange(8)])
        checksum = zlib.crc32(content[20:], zlib.crc32(content[:16]))
        content[16:20] = struct.pack("<I", checksum)
        damaged.append(bytes(content))
    statuses = lookup.checks(damaged)
    assert statuses == [status(content) for content in damaged]
    accepted = [c for c, code in zip(damaged, statuses, strict=True) if code == 0]
    assert len(accepted) > 100
    assert statuses.count(MALFORMED) > 1000
    rows = pa.Table.from_pylist(some_creates(random_, 40), schema=CREATES)
    for content in accepted[:60]:
        columns = Image(content).predict(rows.to_batches()[0])
        expected = np.column_stack([c.to_numpy(zero_copy_only=False) for c in columns])
        assert np.array_equal(lookup.answers(content, rows, tmp_path), expected)


def both(lookup: Lookup, *images: bytes) -> list[int]:
    """Return what both readers say of each image: one status, which they must share."""
    statuses = lookup.checks(images)
    assert statuses == [status(content) for content in images]
    return statuses


def test_trees_that_share_a_long_way_are_refused_however_they_declare_it(lookup):
    """An image of a quarter of a megabyte took a second for each create."""
    for per_node in (0, 3):
        attack = laid.LaidTrees(laid.chain(10_000, per_node), [(0, 0)] * 10_000)
        image = laid.raw(laid.keys(1), attack)
        assert len(image) > 200_000
        assert both(lookup, image) == [MALFORMED]
    predicates = [(0, place) for place in range(256)]
    image = laid.raw(laid.keys(256), laid.LaidTrees(laid.chain(200), predicates))
    assert laid.declared(image) > 100_000
    smaller = (laid.sealed(image, laid.STEPS_AT, steps) for steps in (STEPS, 500, 0))
    assert both(lookup, image, *smaller) == [COSTLY] * 4
    shared = laid.raw(laid.keys(2), laid.LaidTrees(laid.chain(200), predicates[:2]))
    assert both(lookup, shared) == [0], "what costs little may share"


def test_each_predicate_has_one_tree_or_output_of_a_section(lookup):
    refused = dict(laid.refused())
    assert both(lookup, *refused.values()) == [MALFORMED] * len(refused)
    trees = [laid.LaidTrees(laid.chain(4), [(0, 0)]) for _ in range(2)]
    forest = laid.LaidForest(laid.ladder(3), [[0], [1]], 2)
    assert both(lookup, plain_image(laid.keys(2), [*trees, forest])) == [0]


@pytest.mark.parametrize("name", laid.arrays())
def test_each_array_is_aligned_and_inside(name, lookup):
    array = laid.arrays()[name]
    shifted = 0 if array.align == 1 else MALFORMED
    images = [array.moved(), array.moved(off=array.align // 2 or 1), array.moved(missing=1)]
    assert both(lookup, *images) == [0, shifted, MALFORMED]


def test_there_is_no_more_of_anything_than_allowed(lookup):
    most = [
        laid.whole(BM_ASSIGNMENTS_MAX),
        laid.whole(groups=BM_GROUPS_MAX),
        laid.whole(sections=BM_SECTIONS_MAX),
        laid.whole(predicates=BM_PREDICATES_MAX),
    ]
    assert both(lookup, *most) == [0] * 4
    more = dict(laid.too_many())
    assert both(lookup, *more.values()) == [MALFORMED] * len(more)


def test_a_forest_of_trees_as_high_as_can_be_is_refused(lookup):
    high = laid.LaidForest(laid.ladder(255), [[0]], 256)
    image = plain_image(laid.keys(1), [high])
    assert laid.declared(image) > STEPS // 2
    assert both(lookup, image) == [0]
    more = laid.LaidForest(laid.ladder(255), [[0], [1]], 256)
    assert both(lookup, laid.raw(laid.keys(2), more)) == [COSTLY]


@pytest.mark.parametrize("seed", range(60, 72))
def test_an_image_declares_just_the_steps_that_it_may_take(seed, lookup):
    image = made(seed).image
    declared = laid.declared(image)
    others = [declared - 1, declared + 1, STEPS, STEPS + 1, 2**32 - 1, 0]
    images = [laid.sealed(image, laid.STEPS_AT, steps) for steps in others]
    assert both(lookup, image, *images) == [0, COSTLY, 0, 0, COSTLY, COSTLY, COSTLY]


def test_no_lookup_takes_more_steps_than_its_image_declares(lookup, tmp_path):
    creates = some_creates(random.Random(5), 400)
    creates += [{**creates[0], "name": b"." * 255}, {**creates[0], "name": b"a." * 127 + b"a"}]
    rows = pa.Table.from_pylist(creates, schema=CREATES)
    images = [made(seed).image for seed in range(80, 90)]
    for image in [*images, *(image for _, image in laid.seeds())]:
        spent = lookup.steps(image, rows, tmp_path)
        short = [len(create["name"] or b"") <= 255 for create in creates]
        assert 0 < max(np.array(spent)[short]) <= laid.declared(image)


def test_the_most_steps_that_are_declared_are_taken_by_some_create(lookup, tmp_path):
    rows = pa.Table.from_pylist([{"name": b"x"}], schema=CREATES)
    for section in (
        laid.LaidTrees(laid.chain(60), [(0, 0)]),
        laid.LaidForest(laid.ladder(40), [[0]], 9),
    ):
        image = plain_image(laid.keys(1), [section])
        (spent,) = lookup.steps(image, rows, tmp_path)
        assert spent > 0.75 * laid.declared(image)


HISTORIES = dict(zip(HISTORY_SCOPES, ({}, {62: 0}, {110: 0}, {78: 0}), strict=True))
"""What is not known in the history of each scope: bytes that are 0."""


def scoped_creates() -> pa.Table:
    """Return a create of each history scope, in order."""
    histories = [bytearray(b"\1" * HISTORY) for _ in HISTORY_SCOPES]
    for history, zeros in zip(histories, HISTORIES.values(), strict=True):
        for byte, zero in zeros.items():
            history[byte] = zero
    creates = [{"name": b"a.lock", "history": bytes(history)} for history in histories]
    return pa.Table.from_pylist(creates, schema=CREATES)


def test_a_section_that_counts_for_nothing_at_a_scope_is_not_walked(lookup, tmp_path):
    rules = RulesSection([ImageRule("a", "any", b"", 9), ImageRule("b", "any", b"", 7)])
    counts = [{BOUNDED: keys, ACCURATE: ["b"]} for keys in (["a", "b"], ["b"], [], ["a"])]
    image = compile_image([plain_predicate(key) for key in "ab"], [Scoring(rules, counts)])
    scores = lookup.scores(image, scoped_creates(), tmp_path).tolist()
    assert scores == [[9, 7], [0, 7], [0, 0], [9, 0]]
    accurate = lookup.scores(at_point(image, ACCURATE), scoped_creates(), tmp_path).tolist()
    assert accurate == [[0, 7]] * 4
    steps = lookup.steps(image, scoped_creates(), tmp_path)
    assert steps[2] == 3 < min(steps[:2] + steps[3:]), "a mask and two cuts"


def test_the_cut_of_the_point_and_the_scope_makes_the_answer(lookup, tmp_path):
    rules = RulesSection([ImageRule("a", "any", b"", 9)])
    meanings = [
        {ACCURATE: Meaning(Cuts(accurate)), BOUNDED: Meaning(Cuts(bounded))}
        for accurate, bounded in ((9, 10), (8, 9), (10, 0), (9, 2**16 - 1))
    ]
    scoring = Scoring(rules, always(["a"]))
    image = compile_image([ImagePredicate("a", meanings)], [scoring])
    for point, expected in (("accurate", [1, 1, 0, 1]), ("bounded", [0, 1, 1, 0])):
        answers = lookup.answers(at_point(image, point), scoped_creates(), tmp_path)
        assert answers[:, 0].astype(int).tolist() == expected


def test_rules_of_a_place_and_of_earlier_ones_bound_the_score(lookup, tmp_path):
    rules = [
        ImageRule("a", "last", b"most", most=7),
        ImageRule("a", "middle", b"p", 9),
        ImageRule("a", "middle", b"q", 3, most=5),
        ImageRule("a", "middle", b"r", 20),
        ImageRule("a", "any", b"", 2),
    ]
    expected = {
        b"a.b": 2, b"a.most": 2, b"a.p.b": 9, b"a.q.b": 3, b"a.p.r.b": 20, b"a.r.p.b": 20,
        b"a.p.q.b": 5, b"a.q.p.b": 5, b"a.r.x.q.p.b": 5, b"a.r.most": 7, b"a.q.r.most": 5,
    }  # fmt: skip
    creates = pa.Table.from_pylist([{"name": name} for name in expected], schema=CREATES)
    scores = lookup.scores(plain_image(["a"], [RulesSection(rules)]), creates, tmp_path)
    assert scores[:, 0].tolist() == list(expected.values())


def test_the_greatest_score_of_the_sections_counts(lookup, tmp_path):
    sections = [RulesSection([ImageRule("a", "any", b"", least)]) for least in (3, 200, 7)]
    image = plain_image(["a"], sections)
    assert set(lookup.scores(image, scoped_creates(), tmp_path)[:, 0]) == {200}


def test_distinguishes_an_image_of_an_older_version_from_a_damaged_one(lookup):
    older = laid.sealed(made(1).image, laid.VERSION_AT, 1)
    assert both(lookup, older, older[:-1]) == [OLDER, OLDER]
    with pytest.raises(ValueError, match=r"older version than this reader knows \(4\)"):
        Image(older)


def test_the_predicates_of_an_image_can_be_read_in_c(lookup, tmp_path):
    image = tmp_path / "image"
    never: dict[Point, Meaning] = {}
    accurate, bounded = ({point: Meaning(Cuts(yes=1))} for point in POINTS)
    meanings = {
        "a": [bounded] * 4,
        "name:lock": [never] * 4,
        "without history": [never, never, never, bounded],
        "other point": [accurate] * 4,
    }
    predicates = [ImagePredicate(key, own) for key, own in meanings.items()]
    image.write_bytes(compile_image(predicates, [], point="bounded"))
    out = tmp_path / "keys"
    source = tmp_path / "keys.c"
    source.write_text(KEYS)
    done = compiled(["cc", "-std=c99", *STRICT, str(source)], out)
    assert done.returncode == 0, done.stderr
    printed = subprocess.run([out, image], capture_output=True, text=True, check=True).stdout
    assert printed == "a 0\nname:lock 1\nwithout history 0\nother point 1\n"


KEYS = """
#include <stdio.h>
#include "birthmark.h"

int
main(int argc, char **argv)
{
	static uint8_t image[4096];
	FILE *in = fopen(argv[argc - 1], "rb");
	size_t len, size = in == NULL ? 0 : fread(image, 1, sizeof(image), in);
	uint32_t i;

	if (bm_image_check(image, size) != BM_OK)
		return (1);
	for (i = 0; i < bm_predicates(image); i++) {
		const char *key = bm_predicate_key(image, i, &len);

		printf("%.*s %d\\n", (int)len, key, bm_abstains(image, i));
	}
	return (0);
}
"""


def days_agree(lookup: Lookup, days: list[Path], folder: Path, calibration: float) -> None:
    """Train on the first day, and hold the answers for all days in C to those in Rust."""
    files, names = read_files(days[0]), read_names(days[0])
    model = TrainedModel(trees=8, rounds=5, calibration=calibration).train(
        files, names, kinds=tuple(KINDS)
    )
    tables = []
    for day in days:
        lives = {"file": read_files, "name": read_names}
        for subject, read in lives.items():
            tables.append(model.creates(subject, births(read(day))))
    for models in model.models.values():
        image = compile_models(models, "accurate")
        for creates in tables:
            answers = predict(Image(image), creates).values()
            expected = np.column_stack([a.to_numpy(zero_copy_only=False) for a in answers])
            assert np.array_equal(lookup.answers(image, creates, folder), expected)


@pytest.fixture(scope="module")
def bundled_days(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("bundled")
    for day in DAYS:
        ingest([str(day)], folder / day.stem)
    return [folder / day.stem for day in DAYS]


@pytest.mark.deep
def test_every_bundled_row_is_answered_alike_in_c(lookup, bundled_days, tmp_path):
    days_agree(lookup, bundled_days, tmp_path, calibration=0.2)


def test_the_hint_image_of_a_bundled_day_is_answered_alike_in_c(lookup, bundled_days, tmp_path):
    files, names = read_files(bundled_days[0]), read_names(bundled_days[0])
    hot = [BUILT_IN["HotName"], BUILT_IN["HotWrite"]]
    model = TrainedModel(calibration=0).train(files, names, hot, kinds=["rules"])
    image = hint_image(model, "rules", "accurate", RegionCapacity(directories=40, blocks=100))
    seen = pa.concat_tables([files, read_files(bundled_days[1])])
    seen = seen.filter(seen["name"].is_valid())
    known = {name: seen[name] for name in ("name", "gid", "mode")}
    every = from_requests(pa.table(known | {"uid": seen["owner"]}).to_pylist())
    answers = predict(Image(image), every)
    expected = np.column_stack(
        [answer.to_numpy(zero_copy_only=False) for answer in answers.values()]
    )
    assert set(answers) == set(HINTS)
    assert all(0 < yes < len(seen) for yes in expected.sum(axis=0))
    assert np.array_equal(lookup.answers(image, every, tmp_path), expected)


def test_every_row_of_the_captured_days_is_answered_alike_in_c(lookup, captured_days, tmp_path):
    days_agree(lookup, captured_days, tmp_path, calibration=0)


def test_fuzzing_starts_from_what_is_laid_out_for_it():
    seeds = dict(laid.corpora())
    for folder in {path.parent for path in seeds}:
        assert set(folder.iterdir()) <= set(seeds), "a seed that nothing makes"
    for path, content in seeds.items():
        assert path.read_bytes() == content, f"{path}: python -m tests.layout_hint.laid"


def test_fuzzing_starts_from_images_that_are_sound(lookup):
    folder = Path(INCLUDE).parent / "fuzz" / "corpus"
    seeds = sorted((folder / "check").iterdir())
    assert len(seeds) > 3
    assert lookup.checks(seed.read_bytes() for seed in seeds) == [0] * len(seeds)
    for seed in seeds:
        asked = (folder / "lookup" / seed.name).read_bytes()
        assert asked.startswith(seed.read_bytes())
