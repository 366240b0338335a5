"""What an observation of a hub that lies writes can be read again; or it writes nothing, and says why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from fleet_components.cli.command import fleet
from tests.cli.test_observe import Place, member, observed
from tests.live.api_server import Api, api_server
from tests.live.hubs import MEMBERS, kubefleet, reads

Lie = Callable[[Api, pytest.MonkeyPatch], object]


def named(name: str) -> Lie:
    return lambda hub, _: hub.lists[MEMBERS].append(member(name))


def dated(date: str) -> Lie:
    def lie(_: Api, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("http.server.BaseHTTPRequestHandler.date_time_string", lambda *_: date)

    return lie


def changed(**fields: object) -> Lie:
    return lambda hub, _: hub.lists[MEMBERS][0].update(fields)


LIES: Mapping[str, Lie] = {
    **{f"a member named {name}": named(name) for name in (".git", "-", "a b", "A", "a..b", "~", "x" * 250, "con", "'")},
    **{
        f"the date {date}": dated(date)
        for date in (
            "Fri, 31 Dec 9999 23:59:59 GMT",
            "Mon, 01 Jan 0001 00:00:00 GMT",
            "Mon, 01 Jan 2900 00:00:00 GMT",
            "Fri, 31 Dec 9999 23:59:59 -2300",
        )
    },
    "a heartbeat of another age": changed(status={"agentStatus": [{"lastReceivedHeartbeat": "9999-12-31T23:59:59Z"}]}),
    "a status that is none": changed(status=[1]),
    "a spec that is none": changed(spec="x"),
    "a taint of another age": changed(spec={"taints": [{"key": "a", "effect": "NoSchedule", "timeAdded": "9999-12-31T23:59:59Z"}]}),
    "labels that are none": changed(metadata={"name": "east", "labels": [1]}),
}  # fmt: skip


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(tmp_path)
    reads(monkeypatch, read=observed)
    with api_server() as hub:
        kubefleet(hub)
        hub.lists[MEMBERS] = [member("east"), member("west")]
        (tmp_path / "hub").write_text(hub.kubeconfig())
        yield Place(hub, hub, tmp_path)


@pytest.mark.samples(12)
@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
@pytest.mark.parametrize("again", [False, True])
def test_what_is_written_can_be_read(
    place: Place, lie: Lie, again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if again:
        assert place.observe().exit_code == 0
        before = place.files()
    lie(place.hub, monkeypatch)
    done = place.observe(*(["--update"] if again else []))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    if done.exit_code == 0:
        plan = CliRunner().invoke(fleet, ["plan", "out"])
        assert plan.exit_code == 0, (done.output, plan.output)
    else:
        assert done.exit_code == 1
        assert "error: " in done.output
        assert not (place.folder / "out").exists() or (again and place.files() == before)
