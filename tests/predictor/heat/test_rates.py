from __future__ import annotations

import shutil

import pytest

from birthmark.features import from_files, from_requests
from birthmark.predictor import DamagedModelError
from birthmark.predictor.heat import RATES, WriteRates

BLOCK = 4096
HOUR = 3600


@pytest.fixture
def day(life, table):
    """Twenty logs of two blocks that are written ten times an hour, and twenty pages, once."""
    logs = [
        life(b"daemon%d.log" % n, 2 * HOUR, writes=20, bytes_written=900, max_size=BLOCK + 1)
        for n in range(20)
    ]
    pages = [
        life(b"page%d.html" % n, 4 * HOUR, writes=1, bytes_written=9, max_size=9) for n in range(20)
    ]
    return table(*logs, *pages)


def test_a_new_file_is_expected_to_be_written_as_others_of_its_kind_were(day):
    expected = (
        WriteRates()
        .partial_fit(day)
        .predict(from_requests([{"name": "mail.log"}, {"name": "new.html"}]))
    )
    assert expected.schema.equals(RATES)
    log, page = expected.to_pylist()
    assert log["writes_per_hour"] == pytest.approx(10, rel=0.05)
    assert log["blocks"] == pytest.approx(2, rel=0.05)
    assert log["benefit"] == pytest.approx(5, rel=0.1)
    assert (log["evidence"], page["evidence"]) == (20, 20)
    assert page["writes_per_hour"] < 0.5 < 5 < log["writes_per_hour"]


def test_a_name_of_its_own_outweighs_its_suffix(day, life, table):
    quiet = [life(b"quiet.log", HOUR, max_size=9, writes=1) for _ in range(20)]
    rates = WriteRates().partial_fit(day).partial_fit(table(*quiet))
    names = from_requests([{"name": "quiet.log"}, {"name": "other.log"}])
    quiet_rate, other = rates.predict(names)["writes_per_hour"].to_pylist()
    assert quiet_rate < 2 < other


def test_files_count_for_the_time_for_which_they_were_watched(life, table):
    long = life(b"a.log", 9 * HOUR, writes=9, max_size=1)
    short = life(b"b.log", HOUR, writes=11, max_size=1)
    (rate,) = (
        WriteRates()
        .partial_fit(table(long, short))
        .predict(from_requests([{"name": "c.log"}]))["writes_per_hour"]
        .to_pylist()
    )
    assert rate == pytest.approx(20 / 10)


def test_files_that_were_old_when_the_trace_began_are_not_learned_from(day, life, table):
    old = life(b"old.log", HOUR, born=False, writes=10**6, max_size=1)
    asked = from_requests([{"name": "mail.log"}])
    without = WriteRates().partial_fit(day).predict(asked)
    assert WriteRates().partial_fit(day).partial_fit(table(old)).predict(asked).equals(without)


def test_a_files_own_writes_outweigh_the_expectation(day, life, table):
    rates = WriteRates().partial_fit(day)
    lives = table(
        life(b"new.log"),
        life(b"busy.html", 4 * HOUR, writes=4000, max_size=9),
        life(b"silent.log", 400 * HOUR, max_size=9),
        life(b"dead.log", HOUR, alive=False, writes=50, max_size=9),
    )
    before = rates.predict(from_files(lives))["writes_per_hour"].to_pylist()
    after = rates.reconsider(lives)["writes_per_hour"].to_pylist()
    assert after[0] == pytest.approx(before[0])
    assert after[1] > 400 > 1 > before[1]
    assert after[2] < 0.1 < 9 < before[2]
    assert after[3] == 0 < before[3]
    assert rates.reconsider(lives)["benefit"].to_pylist()[3] == 0


def test_a_saved_table_answers_the_same_and_a_damaged_one_is_refused(day, tmp_path):
    rates = WriteRates().partial_fit(day)
    asked = from_requests([{"name": "mail.log"}, {"name": "x"}])
    (name,) = rates.save(tmp_path)
    assert WriteRates.load(tmp_path).predict(asked).equals(rates.predict(asked))
    shutil.copy(__file__, tmp_path / name)
    with pytest.raises(DamagedModelError, match=name):
        WriteRates.load(tmp_path)


def test_an_unfitted_model_expects_nothing():
    (rate,) = WriteRates().predict(from_requests([{"name": "x"}])).to_pylist()
    assert (rate["writes_per_hour"], rate["benefit"], rate["evidence"]) == (0, 0, 0)
