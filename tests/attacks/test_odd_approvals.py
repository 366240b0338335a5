"""A hub whose requests for approvals are not as any API server has them: each ends in a message, none in a traceback."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fleet_components.cli.command import fleet
from tests.live.api_server import Api, api_server, send

GROUP = "/apis/placement.kubernetes-fleet.io/v1"
KINDS = {
    "clusterapprovalrequests": ("ClusterApprovalRequest", False),
    "clusterstagedupdateruns": ("ClusterStagedUpdateRun", False),
    "approvalrequests": ("ApprovalRequest", True),
    "stagedupdateruns": ("StagedUpdateRun", True),
}
ODD: tuple[Any, ...] = (
    None,
    1,
    2.5,
    True,
    "x",
    [],
    {},
    [None],
    [[]],
    ["x"],
    {"a": 1},
    {"name": None},
)
REQUEST = {"spec": {"parentStageRollout": "r", "targetStage": "s"}, "status": {"conditions": []}}
TASK = {"approvalRequestName": "r-after-s", "type": "Approval", "conditions": []}
STAGE = {
    "stageName": "s",
    "clusters": [{"clusterName": "a", "conditions": []}],
    "afterStageTaskStatus": [TASK],
    "beforeStageTaskStatus": [],
}
RUN = {
    "spec": {"placementName": "p", "state": "Run"},
    "status": {"conditions": [], "stagesStatus": [STAGE]},
}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with api_server() as found:
        yield found


def mutated(rng: random.Random, data: Any, share: float) -> Any:
    """A value in which some values are odd ones."""
    if rng.random() < share:
        return rng.choice(ODD)
    if isinstance(data, dict):
        return {key: mutated(rng, value, share) for key, value in data.items()}
    return [mutated(rng, value, share) for value in data] if isinstance(data, list) else data


def asked(api: Api, rng: random.Random, share: float) -> None:
    """Let a hub answer so."""
    resources = [
        {"name": name, "kind": kind, "namespaced": spaced} for name, (kind, spaced) in KINDS.items()
    ]
    api.answers[GROUP] = partial(
        send, status=200, body=mutated(rng, {"resources": resources}, share / 3)
    )
    for plural, (kind, spaced) in KINDS.items():
        metadata = {
            "name": "r" if kind.endswith("Run") else "r-after-s",
            **({"namespace": "shop"} if spaced else {}),
        }
        item = {"metadata": metadata, **(RUN if kind.endswith("Run") else REQUEST)}
        api.answers[f"{GROUP}/{plural}"] = partial(
            send, status=200, body=mutated(rng, {"metadata": {}, "items": [item]}, share)
        )


@pytest.mark.samples(1)
@pytest.mark.parametrize("seed", range(4))
def test_odd_answers_end_in_a_message(api: Api, tmp_path: Path, seed: int) -> None:
    rng, file = random.Random(seed), tmp_path / "kubeconfig"
    file.write_text(api.kubeconfig())
    statuses = []
    for number in range(60):
        asked(api, rng, 0.02 if number else 0)
        done = CliRunner().invoke(fleet, ("approve", "--hub", str(file)))
        assert isinstance(done.exception, SystemExit | None), done.exc_info
        assert done.exit_code in (0, 1), done.output
        statuses.append(done.exit_code)
    assert statuses[0] == 0
    assert 1 in statuses
