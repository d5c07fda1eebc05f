from __future__ import annotations

import shutil
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from birthmark.data import lives
from birthmark.data.traces.reader import open_trace
from birthmark.features import DIRECTORIES, from_directories, seen_before
from birthmark.predictor import DamagedModelError, NameModel
from birthmark.predictor.heat import HotDirs, directories
from birthmark.predictor.predicates import DIRECTORY_PREDICATES
from tests import needs

HOT_DIR = DIRECTORY_PREDICATES["HotDir"]


def rows(*given: tuple[bytes, bytes, int, int]) -> pa.Table:
    """Return directories: name, parent's name, births, and how many of them were hot."""
    columns = ("name", "parent_name", "births", "hot_births")
    return pa.Table.from_pylist(
        [
            {"server": "s", "fh": b"%d" % n} | dict(zip(columns, row, strict=True))
            for n, row in enumerate(given)
        ],
        schema=DIRECTORIES,
    )


PAST = rows(
    *[(name, b"home", 50, 45) for name in (b"ann", b"ben", b"cat", b"dan", b"eve")],
    *[(b".cache", name, 20, 19) for name in (b"ann", b"ben", b"cat", b"dan")],
    (b"mail", b"spool", 400, 400),
    *[(name, b"src", 30, 1) for name in (b"lib", b"doc", b"man", b"cmd", b"sys", b"bin")],
)


def test_home_mail_and_cache_directories_are_found_without_a_list_of_them():
    new = rows((b"fay", b"home", 0, 0), (b".cache", b"fay", 0, 0), (b"mail", b"var", 0, 0))
    assert HotDirs().partial_fit(PAST).predict(new).to_pylist() == [True, True, True]
    cold = rows((b"usr", b"src", 0, 0), (b"lib", b"local", 0, 0))
    assert HotDirs().partial_fit(PAST).predict(cold).to_pylist() == [False, False]


def test_births_so_far_outweigh_the_expectation_of_the_name():
    dirs = HotDirs().partial_fit(PAST)
    cold_home, hot_source = rows((b"gus", b"home", 30, 0), (b"new", b"src", 30, 30)).to_pylist()
    table = pa.Table.from_pylist([cold_home, hot_source], schema=DIRECTORIES)
    assert dirs.predict(table).to_pylist() == [False, True]
    first = dirs.shares(rows((b"gus", b"home", 1, 0)))[0]
    assert 0.3 < first < dirs.shares(rows((b"gus", b"home", 0, 0)))[0]


def test_a_directory_of_many_births_counts_as_one_directory():
    huge = rows((b"odd", b"home", 10**6, 0), *[(n, b"home", 9, 9) for n in (b"a", b"b", b"c")])
    (share,) = HotDirs().partial_fit(huge).shares(rows((b"new", b"home", 0, 0)))
    assert share > 0.5


def test_births_make_the_labels_and_old_files_do_not(life, table):
    inside = {"dir_fh": b"h", "dir_name": b"ben"}
    home = life(b"ben", kind="directory", fh=b"h", dir_fh=b"r", dir_name=b"home")
    files = table(
        home,
        life(b"lock", 1, alive=False, **inside),
        life(b"page", 60, max_size=9, **inside),
        life(b"not.known", 1, max_size=9, **inside),
        life(b"old", 0, born=False, **inside),
    )
    (found,) = directories(files).to_pylist()
    assert (found["births"], found["hot_births"], found["parent_name"]) == (2, 1, b"home")
    assert HOT_DIR.evaluate(directories(files)).to_pylist() == [True]


def test_name_models_learn_hot_directories_as_they_learn_files():
    labels = HOT_DIR.evaluate(PAST)
    model = NameModel(mincount=2).fit(from_directories(PAST), labels)
    new = from_directories(rows((b".cache", b"x", 0, 0), (b"lib", b"x", 0, 0)))
    assert model.predict(new).tolist() == [True, False]


def test_a_saved_model_answers_the_same_and_a_damaged_one_is_refused(tmp_path):
    dirs = HotDirs().partial_fit(PAST)
    (name,) = dirs.save(tmp_path)
    assert HotDirs.load(tmp_path).shares(PAST).tolist() == dirs.shares(PAST).tolist()
    shutil.copy(__file__, tmp_path / name)
    with pytest.raises(DamagedModelError, match=name):
        HotDirs.load(tmp_path)


def test_most_hot_births_of_the_second_sample_are_in_directories_found_from_the_first():
    first, second = (
        lives.tables(open_trace(f"data/samples/day{day}.parquet"))[0] for day in (1, 2)
    )
    past, coming = directories(first), directories(second)
    found = HotDirs().partial_fit(past).predict(seen_before(coming, past))
    names = zip(
        *(coming.filter(found)[c].to_pylist() for c in ("parent_name", "name")), strict=True
    )
    assert {(b"var", b"mail"), (b"dan", b"tmp"), (b"libnfs", b".git")} <= set(names)
    births, hot = (
        (pc.sum(table["births"]).as_py(), pc.sum(table["hot_births"]).as_py())
        for table in (coming.filter(found), coming)
    )
    everywhere = hot[1] / hot[0]
    assert births[1] / births[0] > everywhere + 0.2
    assert births[1] > 0.4 * hot[1]


@pytest.mark.deep
@pytest.mark.parametrize(("name", "rate"), [("campus", 0.02), ("eecs03", 0.03)])
def test_on_a_generated_workload_directories_without_known_names_go_by_their_past(name, rate):
    workloads = needs.research("workloads")
    start = needs.research("workloads.profile").read_profile(name).start
    workload = workloads.Workload(name, 1, start, 2, rate)
    files, _ = lives.tables(workloads.generate(workload))
    since = pc.coalesce(files["born"], files["first_seen"])
    second_day = pc.min(since).as_py() + timedelta(days=1)
    past = directories(files.filter(pc.less(since, second_day)))
    coming = directories(files.filter(pc.greater_equal(since, second_day)))
    coming = coming.filter(pc.greater(coming["births"], 9))
    assert len(coming) > 10
    assert coming["name"].null_count == len(coming)
    truth = np.asarray(pc.divide(coming["hot_births"].cast("float64"), coming["births"]))
    found = HotDirs().partial_fit(past).shares(seen_before(coming, past))
    everywhere = pc.sum(past["hot_births"]).as_py() / pc.sum(past["births"]).as_py()
    error, error_of_guess = (np.abs(shares - truth).mean() for shares in (found, everywhere))
    assert error < max(0.05, 0.6 * error_of_guess)
