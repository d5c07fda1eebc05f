from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from birthmark.data import lives
from birthmark.data.schema import NAMES
from birthmark.data.traces.reader import open_trace
from birthmark.features import name_pieces
from birthmark.predictor import BUILT_IN, TrainedModel
from birthmark.predictor.allocation.verdicts import HINTS, RegionCapacity, hint_image, verdicts
from birthmark.predictor.models.kinds import Kind
from birthmark_native import Image
from tests.builders.lives import UNKNOWN, files_of, life

SAMPLES = Path(__file__).parents[3] / "data" / "samples"
START = datetime(2003, 2, 24, tzinfo=UTC)
KINDS: tuple[Kind, ...] = ("name", "able", "rules", "forest")
NAME, DIR, WRITE = 1, 2, 4
USERS = range(1, 21)


def of_user(name: bytes | None, uid: int, lifespan: float | None, **columns: Any) -> dict[str, Any]:
    """Return a row of the files table; a `lifespan` of None: it was there before, and stays."""
    old = lifespan is None
    born = None if old else 60.0 * columns.pop("minute", 0)
    known = {"dir_fh": b"home %d" % uid, "owner": uid, "uid": None if old else uid, "max_size": 0}
    return life(name, born, lifespan, day=START, **UNKNOWN | known | columns)


def campus() -> pa.Table:
    """Return a day of mail: locks of all users, and inboxes; user 1's is written most."""
    rows = []
    for uid in USERS:
        home = of_user(None, uid, None, kind="directory")
        rows.append({**home, "fh": b"home %d" % uid})
        written = 10_000 if uid == 1 else 20
        size = {"max_size": 40_000, "bytes_written": written, "writes": written}
        rows += [of_user(b".inbox", uid, None, **size), of_user(b"notes", uid, None, max_size=9000)]
        rows += [of_user(b".inbox.lock", uid, 0.1, minute=n) for n in range(30 if uid <= 10 else 0)]
        once = {"max_size": 90_000, "bytes_written": 90_000, "writes": 30}
        rows += [of_user(b"db-journal", uid, 0.5, minute=n, **once) for n in range(3 * (uid <= 10))]
    return files_of(*rows)


@pytest.fixture(scope="module")
def trained() -> TrainedModel:
    hot = [BUILT_IN["HotName"], BUILT_IN["HotWrite"]]
    files, names = campus(), NAMES.empty_table()
    return TrainedModel(rounds=5, calibration=0).train(files, names, hot, kinds=KINDS)


def ask(image: bytes, *rows: tuple[bytes, int | None, bool], **columns: Any) -> list[int]:
    """Return the verdicts on creates of a name by an owner, of a directory or not."""
    names, uids, directory = zip(*rows, strict=True)
    table = pa.table({"name": names, "uid": pa.array(uids, pa.uint32()), "directory": directory})
    for name, column in columns.items():
        table = table.append_column(name, column)
    answers: list[int] = verdicts(Image(image), table).to_pylist()
    return answers


@pytest.mark.parametrize("kind", KINDS)
def test_the_image_has_exactly_the_hints_whatever_the_kind(
    trained: TrainedModel, kind: Kind
) -> None:
    image = hint_image(trained, kind, "accurate")
    assert tuple(Image(image).predicates) == HINTS == ("HotName", "HotDir", "HotWrite")
    assert ask(image, (b".inbox.lock", 1, False)) == [NAME]


@pytest.mark.parametrize("kind", KINDS)
def test_names_of_files_that_last_are_not_hot_though_nearly_all_births_are(
    trained: TrainedModel, kind: Kind
) -> None:
    image = hint_image(trained, kind, "accurate")
    names = [b"notes"] if kind == "name" else [b"notes", b".inbox"]  # which shares "^" with locks
    bits = ask(image, *((name, user, False) for name in names for user in USERS))
    assert not any(verdict & NAME for verdict in bits)


@pytest.mark.parametrize("kind", KINDS)
def test_short_lived_files_with_data_are_not_hot(trained: TrainedModel, kind: Kind) -> None:
    (bits,) = ask(hint_image(trained, kind, "accurate"), (b"db-journal", 1, False))
    assert not bits & NAME


def test_columns_unknown_to_a_kernel_change_nothing(trained: TrainedModel) -> None:
    rows = [(b".inbox.lock", 1, False), (b".inbox", 1, False), (b"notes", 3, False)]
    modes = pa.array([0o600] * 3, pa.uint32())
    for kind in KINDS:
        image = hint_image(trained, kind, "accurate")
        answered = ask(image, *rows, mode=modes, hour=pa.array([3] * 3, pa.uint8()))
        assert answered == ask(image, *rows)


def test_a_home_is_known_by_its_owner_whatever_its_name(trained: TrainedModel) -> None:
    image = hint_image(trained, "rules", "accurate")
    homes = [(b"directory-%d" % uid, uid, True) for uid in USERS]
    assert ask(image, *homes) == [DIR if uid <= 10 else 0 for uid in USERS]
    assert ask(image, (b"directory-1", None, True), (b"directory-99", 99, True)) == [0, 0]


def test_only_the_owner_s_file_is_hot_that_is_written_over_and_over(trained: TrainedModel) -> None:
    image = hint_image(trained, "rules", "accurate", RegionCapacity(256, blocks=10))
    inboxes = ask(image, *((b".inbox", uid, False) for uid in USERS))
    assert inboxes == [WRITE] + [0] * (len(USERS) - 1)


def test_no_more_is_hot_than_there_is_room_for(trained: TrainedModel) -> None:
    def hot(room: RegionCapacity) -> tuple[int, int]:
        image = hint_image(trained, "rules", "accurate", room)
        inboxes = ask(image, *((b".inbox", uid, False) for uid in USERS))
        homes = ask(image, *((b"x", uid, True) for uid in USERS))
        return inboxes.count(WRITE), homes.count(DIR)

    assert hot(RegionCapacity(blocks=1000, directories=1000)) == (20, 10)
    assert hot(RegionCapacity(blocks=10, directories=1000)) == (1, 10)


def test_an_eighth_of_a_region_is_reserved_and_a_third_of_the_rest_is_for_directories() -> None:
    assert RegionCapacity.of(4 << 20) == RegionCapacity(
        directories=256, blocks=(7 * 256 - 256) // 2
    )
    assert RegionCapacity.of(16 << 10) == RegionCapacity(directories=2, blocks=(7 - 2) // 2)
    assert RegionCapacity.of(32 << 10, 4096) == RegionCapacity(directories=2, blocks=7 - 2)
    assert RegionCapacity.of(0) == RegionCapacity(0, 0)


def test_a_file_is_never_a_hot_directory_nor_a_directory_a_hot_file(trained: TrainedModel) -> None:
    image = hint_image(trained, "rules", "accurate")
    every = [(b".inbox.lock", 1, False), (b".inbox", 1, False)]
    assert ask(image, *every) == [NAME, WRITE]
    assert ask(image, *((name, uid, True) for name, uid, _ in every)) == [DIR, DIR]


def test_a_model_without_hot_name_gives_no_hints() -> None:
    model = TrainedModel(calibration=0).train(
        campus(), NAMES.empty_table(), [BUILT_IN["lock"]], kinds=["rules"]
    )
    with pytest.raises(ValueError, match="has not learned HotName"):
        hint_image(model, "rules", "accurate")
    with pytest.raises(ValueError, match="no models of kind 'able'"):
        hint_image(model, "able", "accurate")


def test_a_loaded_model_makes_the_same_image(trained: TrainedModel, tmp_path: Path) -> None:
    trained.save(tmp_path)
    for counts in (True, False):
        loaded = TrainedModel.load(tmp_path, counts)
        for kind in KINDS:
            image = hint_image(loaded, kind, "accurate")
            assert image == hint_image(trained, kind, "accurate")


def test_on_a_captured_day_the_image_answers_as_the_scores() -> None:
    files, names = lives.tables(open_trace(str(SAMPLES / "day1.parquet")))
    model = TrainedModel(calibration=0).train(files, names, [BUILT_IN["HotName"]], kinds=["rules"])
    image = hint_image(model, "rules", "bounded", RegionCapacity(40, 100))
    for places, bar, bit in (
        (model.heat.hot_writes, model.heat.hot_writes.bar(100, partly=True), WRITE),
        (model.heat.hot_dirs, model.heat.hot_dirs.bar(40, 1), DIR),
    ):
        known = {
            c: column.filter(places.learned_["uid"].is_valid().combine_chunks())
            for c, column in places.known().items()
        }
        rows = zip(*(known[c].to_pylist() for c in ("name", "uid")), strict=True)
        bits = np.array(ask(image, *((n, u, bit == DIR) for n, u in rows))) & bit > 0
        by_name = places.scores(suffix=known["suffix"], name=known["name"]) >= bar
        wanted = (places.scores(**known) >= bar) | by_name
        assert name_pieces(known["name"])["last"].equals(known["suffix"])
        assert (bits == wanted).all()
        assert 0 < bits.sum() < len(bits) / 2, bit
