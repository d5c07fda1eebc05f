"""The expected results of following."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from birthmark.data.ingest.run import ingest
from birthmark.data.traces.captures import write_capture
from tests.builders.followed import Rows, rows, spread
from tests.data.follow.traffic import Traffic, pass_by

SAMPLE = Path(__file__).parents[3] / "data" / "samples" / "day1.parquet"


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a capture, `whole.pcap`, and the dataset of it, `ingested`."""
    folder = tmp_path_factory.mktemp("whole")
    table = spread(pq.read_table(SAMPLE).slice(0, 1500), 400_000)
    write_capture(table.to_batches(), folder / "whole.pcap", cut_data=True)
    ingest([folder / "whole.pcap"], folder / "ingested")
    return folder


@pytest.fixture(scope="session")
def expected(whole: Path) -> Rows:
    """Return the rows that ingest makes of the capture."""
    return rows(whole / "ingested")


@pytest.fixture(scope="session")
def traffic(tmp_path_factory: pytest.TempPathFactory) -> Traffic:
    """Return traffic in parts, and the history of a follower that nothing disturbs."""
    return pass_by(tmp_path_factory.mktemp("traffic"))
