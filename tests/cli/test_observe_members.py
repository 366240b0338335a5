"""``fleet observe --members`` without a hub: names that a member may have, words without a hub, and a first plan."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from fleet_components.cli import clock
from fleet_components.cli.command import fleet
from fleet_components.model.cluster import read_time
from fleet_components.starting.workflow import OBSERVING
from tests.cli.clone import Clone
from tests.live.api_server import Api, api_server, refuses
from tests.live.test_members import NODES, plain

ARN = "arn:aws:eks:eu-central-1:1234567890:cluster/shop"
OF_ARN = "arn-aws-eks-eu-central-1-1234567890-cluster-shop"
POLICY = """
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: shop}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: shop}]
  policy:
    placementType: PickAll
    affinity:
      clusterAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          clusterSelectorTerms: [{labelSelector: {matchLabels: {env: prod}}}]
"""


@pytest.fixture
def apis(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[Api]]:
    """Three clusters in one kubeconfig."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:
        found = [plain(stack.enter_context(api_server())) for _ in range(3)]
        configs = [yaml.safe_load(api.kubeconfig()) for api in found]
        names = ("kind-east", ARN, "admin@west")
        clusters = [
            {**config["clusters"][0], "name": name}
            for name, config in zip(names, configs, strict=True)
        ]
        told = [{"name": name, "context": {"cluster": name, "user": "u"}} for name in names]
        whole = {**configs[0], "clusters": clusters, "contexts": told, "current-context": ARN}
        Path("config").write_text(yaml.safe_dump(whole))
        yield found


def run(*args: object, columns: int = 200) -> Result:
    return CliRunner().invoke(fleet, list(map(str, args)), env={"COLUMNS": str(columns)})


def observe(*args: object, columns: int = 200) -> Result:
    return run("observe", "--members", "config", "--out", "out", *args, columns=columns)


def member(name: str) -> Any:
    return yaml.safe_load(Path(f"out/members/{name}.yaml").read_text())


def header() -> Any:
    return yaml.safe_load(Path("out/observed/hub.yaml").read_text())["spec"]


def test_each_context_is_a_member_and_a_name_that_it_may_not_have_is_told(apis: list[Api]) -> None:
    done = observe()
    assert done.exit_code == 0, done.output
    assert {path.stem for path in Path("out/members").iterdir()} == {
        "kind-east",
        OF_ARN,
        "admin-west",
    }
    assert member(OF_ARN)["metadata"]["name"] == OF_ARN
    assert f"note: member {OF_ARN} is the context {ARN}\n" in done.stdout
    assert "note: member admin-west is the context admin@west\n" in done.stdout
    assert "kind-east" not in done.stdout
    found = json.loads(observe("--update", "-o", "json").stdout)
    assert found["named"] == {OF_ARN: ARN, "admin-west": "admin@west"}


def test_one_context_by_any_name(apis: list[Api]) -> None:
    done = run(
        "observe",
        "--members",
        f"config:{ARN}",
        "--members",
        "west=config:admin@west",
        "--out",
        "out",
    )
    assert done.exit_code == 0, done.output
    assert {path.stem for path in Path("out/members").iterdir()} == {OF_ARN, "west"}


@pytest.mark.parametrize("name", ["East", "a_b", "x" * 64])
def test_a_name_that_no_member_may_have_is_refused(apis: list[Api], name: str) -> None:
    done = run("observe", "--members", f"{name}=config", "--out", "out")
    assert (done.exit_code, Path("out").exists()) == (1, False)
    assert f'"{name}" cannot be the name of a member' in done.stderr


def test_nothing_is_said_of_a_hub(apis: list[Api]) -> None:
    apis[0].answers[NODES] = refuses(403)
    said = observe().output + observe("--update").output
    assert said.startswith("3 clusters as of ")
    assert ", as members of KubeFleet\n" in said
    assert "hub" not in said.replace("observed/hub.yaml", "")
    for word in ("polic", "placement"):
        assert f"0 {word}" not in said
    assert "0 objects" not in said


def test_a_first_plan_with_labels_and_a_policy_as_it_is_said(apis: list[Api]) -> None:
    done = observe()
    assert done.stdout.endswith(
        "\nnext:\n  write labels into out/members, which stay, and objects with their policies into out\n  fleet plan out\n"
    )
    file = Path("out/members/kind-east.yaml")
    file.write_text(
        file.read_text().replace("metadata:\n", "metadata:\n  labels: {env: prod}\n", 1)
    )
    Path("out/shop.yaml").write_text(POLICY)
    apis[0].lists[NODES] = []
    again = observe("--update")
    assert again.exit_code == 0, again.output
    assert "edited" not in again.stdout
    assert member("kind-east")["metadata"]["labels"] == {"env": "prod"}
    assert Path("out/shop.yaml").read_text() == POLICY
    planned = run("plan", "out")
    assert planned.exit_code == 0, planned.output
    assert planned.stdout.startswith("shop is new on kind-east")


def test_a_plan_speaks_of_clusters_where_there_is_no_hub(
    apis: list[Api], monkeypatch: pytest.MonkeyPatch
) -> None:
    observe()
    assert "\n  hub: false\n" in Path("out/observed/hub.yaml").read_text()
    apis[0].answers[NODES] = refuses(403)
    observe("--update")
    Path("out/shop.yaml").write_text(POLICY.replace("name: shop}", "name: store}", 1))
    clone = Clone(Path(), {"kind-east.yaml": "{}"})
    start = f"from 3 clusters as observed {header()['asOf']}"
    document = json.loads(run("plan", "out", "-o", "json").stdout)
    assert document["headline"][2].startswith(f"{start}: unchanged are ")
    assert document["observed"]["hub"] is False
    assert "kind-east did not answer when the clusters were observed" in str(document["warnings"])
    Path("out/shop.yaml").write_text(
        POLICY.replace("env: prod", "env: test").replace("name: shop}", "name: store}", 1)
    )
    clone.commit()
    monkeypatch.setattr(clock, "now", lambda: read_time(header()["asOf"]) + timedelta(hours=25))  # type: ignore[operator]
    for words in ("plan", "plan -o markdown", "review --base main", "explain"):
        said = run(*words.split(), "out").output.replace("\\", "")
        assert "hub" not in said.replace("observed/hub.yaml", ""), said
    assert "the clusters were observed 1 day ago" in run("explain", "out").stderr


@pytest.mark.parametrize(
    "words",
    [
        "render out --out to",
        "rollout out --yes",
        "move out --to kubefleet",
        "drift out",
        "status out",
    ],
)
def test_what_is_for_stacks_says_that_no_hub_is_there(apis: list[Api], words: str) -> None:
    observe()
    done = run(*words.split())
    assert done.exit_code == 1, done.output
    assert (
        "out: is observed of clusters without a hub, and nothing has been delivered from it"
        in done.stderr
    )


@pytest.mark.parametrize("ci", OBSERVING)
def test_the_job_that_observes_asks_the_clusters(apis: list[Api], ci: str) -> None:
    observe()
    assert run("init", "out", "--ci", ci, "--install", "make it").exit_code == 0
    (job,) = Path().rglob("*fleet-observe.yml")
    said = job.read_text()
    assert re.search(r"fleet observe --members \S+ --out out --update --strict", said)
    assert "hub" not in said.replace("github", "")


@pytest.mark.parametrize("columns", [40, 80])
def test_no_name_and_no_path_is_broken(apis: list[Api], columns: int) -> None:
    observe()
    apis[1].lists[NODES] = []
    said = observe("--update", columns=columns).stdout
    assert f"members/{OF_ARN}.yaml\n" in said
    assert f"  {ARN}\n" in said
    assert "\x1b" not in said
    assert all(
        len(line) <= columns for line in said.splitlines() if ARN not in line and OF_ARN not in line
    )


def test_one_command_is_for_the_first_run_and_for_later_ones(apis: list[Api]) -> None:
    first = observe("--update", "--detailed-exitcode")
    assert (first.exit_code, "next:" in first.stdout) == (2, True)
    assert "out: made, with 10 files\n" in first.stdout
    later = observe("--update")
    assert (later.exit_code, "next:" in later.stdout) == (0, False)
    refused = observe()
    assert refused.exit_code == 1
    assert "out: is an observed directory\n  hint: --update brings it up to date" in refused.stderr


@pytest.mark.parametrize("there", [(), (".gitkeep",)])
def test_an_empty_directory_is_made_one(apis: list[Api], there: tuple[str, ...]) -> None:
    Path("out").mkdir()
    for name in there:
        Path("out", name).write_text("")
    assert observe("--update").exit_code == 0
    assert member("kind-east")
