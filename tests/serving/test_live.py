"""The service uses the live history of a follower for its answers.

Tests also serving/answers/histories.py.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from birthmark.data import lives
from birthmark.data.follow.updates import MEDIA_TYPE
from birthmark.data.samples import DAYS
from birthmark.data.schema import LOOKED_UP
from birthmark.features import CREATES, from_files
from birthmark.features.history_scope import HISTORY_SCOPES, HistoryScope, history_scopes
from birthmark.predictor.labels import births
from birthmark.predictor.trained import TrainedModel
from birthmark.serving.client import Client
from birthmark.serving.settings import Settings
from birthmark.training.registry import thresholds
from birthmark.training.registry.thresholds import MovedThreshold, MovedThresholds
from birthmark.training.registry.versions import Registry
from birthmark_native import HistoryKeeper, LiveHistory, SharedHistoryWriter
from tests.builders.abstaining import abstain
from tests.serving.services import served, settings_for
from tests.waiting import eventually

MANIFEST = {"serve": "forest", "point": "bounded", "trained_on": {"datasets": []}, "figures": []}
ROWS = 200


@dataclass
class Served:
    """A service with a live history of half a day, and creates of the rest."""

    client: httpx.Client
    model: TrainedModel
    live: LiveHistory
    writer: SharedHistoryWriter
    creates: pa.Table
    log: Path

    def commit(self, lag: float = 0.0, state: str = "following") -> None:
        """Publish the state of the follower."""
        self.writer.commit(self.live.history("file").clock, lag, 0.0, state)

    def expected(self, creates: pa.Table) -> dict[str, list[str]]:
        """Return the answers to creates with histories."""
        answers = self.model.predict(creates, "forest", "bounded")
        words = {
            key: ["yes" if yes else "no" for yes in own.to_pylist()] for key, own in answers.items()
        }
        return words

    def with_histories(self) -> pa.Table:
        """Return the creates with the follower's histories of files and names."""
        batch = pa.table({n: self.creates[n].cast(t) for n, t in LOOKED_UP.items()})
        (batch,) = batch.combine_chunks().to_batches()
        no_names = pa.nulls(len(batch), pa.large_binary())
        of_names = batch.set_column(2, "dir_name", no_names)
        histories = {
            "history": self.live.history("file").at(batch),
            "name_history": self.live.history("name").at(of_names),
        }
        creates = self.creates
        for name, column in histories.items():
            place = CREATES.get_field_index(name)
            creates = creates.set_column(place, CREATES.field(name), column.cast(pa.binary()))
        return creates


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("live")
    (folder / "run").mkdir(mode=0o700)
    operations = pq.read_table(DAYS[0])
    half = operations.slice(0, len(operations) // 2)
    files, names = lives.tables(half.to_batches())
    model = TrainedModel(trees=8, rounds=8).train(files, names, kinds=("forest",))
    Registry(folder / "registry").publish(model.save, MANIFEST)
    live = LiveHistory(HistoryKeeper(100_000), HistoryKeeper(100_000))
    for batch in half.to_batches():
        live.update(batch)
    later, _ = lives.tables(operations.to_batches())
    born = births(later)
    born = born.filter(pc.greater(born["born"], pc.max(half["time"]))).slice(0, ROWS)
    writer = SharedHistoryWriter(folder / "run" / "history", 200_000, 10_000, "0.1.0")
    writer.mirror(live)
    settings = settings_for(
        folder / "registry",
        history=folder / "run" / "history",
        history_age=1e6,
        log_predictions=folder / "log",
        log_minutes=0.0001,
    )
    with served(settings) as client:
        found = Served(client, model, live, writer, from_files(born), folder / "log")
        found.commit()
        writer.publish()
        assert eventually(lambda: asked(found)["live"]["why"] != "absent")
        yield found


def body(row: dict[str, Any], *known: str) -> dict[str, Any]:
    """Return the request for a create, with the `known` members of its directory."""
    file = {"name_base64": base64.b64encode(row["name"]).decode()}
    file |= {name: row[name] for name in ("mode", "uid", "gid", "client")}
    file["time"] = row["time"].isoformat()
    if "handle" in known:
        file["directory_handle"] = base64.b64encode(row["dir_fh"]).decode()
    if "name" in known and row["dir_name"] is not None:
        file["directory_base64"] = base64.b64encode(row["dir_name"]).decode()
    return file


def asked(service: Served, *known: str) -> dict[str, Any]:
    rows = [body(row, *known) for row in service.creates.to_pylist()]
    answer: dict[str, Any] = service.client.post("/v1/predictions", json=rows).json()
    return answer


def answers(found: dict[str, Any]) -> dict[str, list[str]]:
    predictions = found["predictions"]
    return {
        key: [each["predicates"][key] for each in predictions]
        for key in predictions[0]["predicates"]
    }


def test_answers_use_the_histories_of_the_follower(service: Served) -> None:
    service.commit()
    found, creates = asked(service, "handle", "name"), service.with_histories()
    words = [HISTORY_SCOPES[place] for place in history_scopes(creates)]
    assert [each["told"] for each in found["predictions"]] == words
    assert words.count("directory") == ROWS
    assert answers(found) == service.expected(creates)
    bare = service.expected(service.creates)
    assert answers(found) != bare, "histories make a difference"
    assert 0 <= found["live"]["age"] < 60
    assert found["live"]["why"] is None


def test_predicates_about_names_use_the_histories_of_names(service: Served) -> None:
    creates = service.with_histories()
    place = CREATES.get_field_index("name_history")
    without = creates.set_column(place, CREATES.field(place), pa.nulls(ROWS, pa.binary()))
    whole, files_alone = service.expected(creates), service.expected(without)
    differing = {key for key, words in whole.items() if words != files_alone[key]}
    assert differing
    assert all(key.startswith("name:") for key in differing)


def test_one_create_is_answered_as_it_is_in_a_list_and_in_arrow(service: Served) -> None:
    service.commit()
    listed = asked(service, "handle")["predictions"]
    (first, *_) = service.creates.to_pylist()
    one = service.client.post("/v1/predictions", json=body(first, "handle")).json()
    assert one["prediction"] == listed[0]
    columns = ("name", "mode", "uid", "gid", "client", "time")
    table = service.creates.select(columns).append_column(
        "directory_handle", service.creates["dir_fh"]
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    response = service.client.post(
        "/v1/predictions?answers=three",
        content=sink.getvalue().to_pybytes(),
        headers={"content-type": MEDIA_TYPE},
    )
    with pa.ipc.open_stream(response.content) as reader:
        found = reader.read_all()
    assert found["told"].to_pylist() == [each["told"] for each in listed]
    for key in listed[0]["predicates"]:
        words = ["yes" if yes else "no" for yes in found[key].to_pylist()]
        assert words == [each["predicates"][key] for each in listed]
    assert json.loads(found.schema.metadata[b"live"])["why"] is None


def test_an_explanation_agrees_with_the_answer(service: Served) -> None:
    service.commit()
    rows = [body(row, "handle") for row in service.creates.slice(0, 20).to_pylist()]
    explained = service.client.post("/v1/explanations", json=rows).json()
    for predicted, why in zip(
        asked(service, "handle")["predictions"], explained["predictions"], strict=False
    ):
        assert why["told"] == predicted["told"] == "directory"
        assert why["answers"] == predicted["answers"]
        assert {key: each["answer"] for key, each in why["predicates"].items()} == predicted[
            "predicates"
        ]
    assert explained["live"]["why"] is None


def test_without_the_directory_the_scope_is_the_caller(service: Served) -> None:
    service.commit()
    assert {each["told"] for each in asked(service)["predictions"]} == {"caller"}
    with Client(str(service.client.base_url), deadline=20) as client:
        assert client.predict(b"a.o").told == "name"
        (first, *_) = service.creates.to_pylist()
        known = {"uid": first["uid"], "client": first["client"]}
        assert client.predict(b"a", **known).told == "caller"
        found = client.predict(b"a", **known, directory_handle=first["dir_fh"])
        assert found.told == "directory"


def test_histories_in_requests_take_precedence(service: Served) -> None:
    service.commit()
    (row,) = service.with_histories().slice(7, 1).to_pylist()
    own = {name: base64.b64encode(row[name]).decode() for name in ("history", "name_history")}
    service.commit(state="stopped")
    found = service.client.post("/v1/predictions", json=body(row) | own).json()
    service.commit()
    live = service.client.post("/v1/predictions", json=body(row, "handle", "name")).json()
    assert found["prediction"] == live["prediction"]
    assert found["live"]["why"] == "stopped"


@pytest.mark.parametrize(
    ("lag", "state", "why"),
    [(0.0, "stopped", "stopped"), (60.0, "following", "behind"), (0.0, "starting", "starting")],
)
def test_without_a_fresh_history_the_answer_uses_the_create_alone(
    service: Served, lag: float, state: str, why: str
) -> None:
    service.commit(lag, state)
    found = asked(service, "handle", "name")
    assert found["live"] == {"age": None, "lag": None, "why": why}
    assert {each["told"] for each in found["predictions"]} == {"nothing"}
    assert answers(found) == service.expected(service.creates)


def test_the_log_holds_the_answers_as_given(service: Served, eventually: Any) -> None:
    service.commit()
    found = answers(asked(service, "handle", "name"))
    service.commit(state="stopped")  # stale before the log is written
    other = answers(asked(service, "handle", "name"))

    def logged() -> list[dict[str, list[str]]]:
        tables = [pq.read_table(path) for path in sorted(service.log.glob("*/[!.]*.parquet"))]
        if not tables:
            return []
        table = pa.concat_tables(tables, promote_options="default").sort_by("time")
        last = [table.slice(len(table) - 2 * ROWS, ROWS), table.slice(len(table) - ROWS)]
        return [
            {
                key: ["yes" if y else "no" for y in part[f"answer:{key}"].to_pylist()]
                for key in found
            }
            for part in last
        ]

    assert eventually(lambda: logged() == [found, other])
    assert found != other


def test_without_a_live_history_answers_have_no_freshness(service: Served, tmp_path: Path) -> None:
    settings = Settings.model_validate(settings_for(service.log.parent / "registry"))
    with served(settings) as client:
        found = client.post("/v1/predictions", json={"name": "a"}).json()
    assert "live" not in found
    assert found["prediction"]["told"] == "nothing"


def moved(service: Served, version: str, sums: dict[tuple[str, HistoryScope], int]) -> None:
    """Write thresholds of a version beside the live history."""
    path = thresholds.beside(service.log.parent / "run" / "history")
    models = service.model.of_kind("forest")
    rows = [
        MovedThreshold(
            predicate=key,
            told=scope,
            calibrated=models.point(key, scope).bounded,
            score=0.0 if least == 0 else None,
            sum=least,
            outcomes=10_000,
            false_positives=7,
        )
        for (key, scope), least in sums.items()
    ]
    thresholds.write(
        path, MovedThresholds(version=version, kind="forest", bound=0.01, clock=5, thresholds=rows)
    )


def test_adjusted_thresholds_are_in_force_for_their_version_while_the_follower_runs(
    service: Served,
) -> None:
    service.commit()
    key = "lifespan<=1"
    version = asked(service)["model"]

    def says() -> list[set[str]]:
        found = asked(service, "handle")["predictions"]
        return [{each[member][key] for each in found} for member in ("predicates", "answers")]

    def come() -> None:
        """Let every file be a yes."""
        moved(service, version, {(key, scope): 0 for scope in HISTORY_SCOPES})

    def are_counted() -> bool:
        return "birthmark_control_outcomes" in service.client.get("/metrics").text

    calibrated = says()
    come()
    assert eventually(lambda: says()[0] == {"yes"})
    assert "yes" in says()[1]
    assert are_counted()
    service.commit(state="stopped")
    without_history = service.expected(service.creates)[key]
    assert eventually(lambda: says()[0] == set(without_history))
    assert eventually(lambda: not are_counted())
    service.commit(lag=1e9)
    assert eventually(lambda: says()[0] == set(without_history))
    service.commit()
    assert eventually(lambda: says()[0] == {"yes"})
    moved(service, "another", {(key, scope): 0 for scope in HISTORY_SCOPES})
    assert eventually(lambda: says() == calibrated)
    come()
    assert eventually(lambda: says()[0] == {"yes"})
    text = service.client.get("/metrics").text
    row = f'predicate="{key}",told="directory"'
    assert f"birthmark_control_false_positives_total{{{row}}} 7.0" in text
    assert f"birthmark_control_outcomes_total{{{row}}} 10000.0" in text
    moved(
        service,
        version,
        {(key, scope): 0 for scope in HISTORY_SCOPES} | {("unknown", HISTORY_SCOPES[0]): 0},
    )
    assert eventually(lambda: says() == calibrated), "one invalid threshold invalidates all"
    thresholds.beside(service.log.parent / "run" / "history").unlink()
    assert eventually(lambda: says() == calibrated)


def test_an_explanation_uses_the_adjusted_threshold(service: Served) -> None:
    service.commit()
    key = "lifespan<=1"
    version = asked(service)["model"]
    row = body(service.creates.to_pylist()[0], "handle")
    for least, answer in ((0, "yes"), (2**32 - 1, "no")):
        moved(service, version, {(key, scope): least for scope in HISTORY_SCOPES})
        assert eventually(
            lambda answer=answer: (
                {answer}
                == {each["predicates"][key] for each in asked(service, "handle")["predictions"]}
            )
        )
        why = service.client.post("/v1/explanations", json=row).json()["prediction"]
        assert why["predicates"][key]["answer"] == answer
        assert why["predicates"][key]["threshold"] == (0.0 if answer == "yes" else None)
    thresholds.beside(service.log.parent / "run" / "history").unlink()


def test_the_followers_threshold_is_in_force_and_the_audits_without_it(service: Served) -> None:
    service.commit()
    key, registry = "lifespan<=1", Registry(service.log.parent / "registry")
    version = asked(service)["model"]

    def says() -> set[str]:
        return {each["predicates"][key] for each in asked(service, "handle")["predictions"]}

    abstain(registry, key)
    assert eventually(lambda: says() == {"no"})
    moved(service, version, {(key, scope): 0 for scope in HISTORY_SCOPES})
    assert eventually(lambda: says() == {"yes"})
    row = body(service.creates.to_pylist()[0], "handle")
    why = service.client.post("/v1/explanations", json=row).json()["prediction"]
    assert why["predicates"][key]["answer"] == "yes"
    thresholds.beside(service.log.parent / "run" / "history").unlink()
    assert eventually(lambda: says() == {"no"})
    (Path(registry.place) / thresholds.THRESHOLDS).unlink()
