"""``fleet status`` after real failures: what broke, what was said of it, and how to go on, in one screen."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.control_planes import Planes
from tests.engine.driver import Engine
from tests.engine.test_clusters import clusters, image, planes
from tests.engine.test_failures import NEW, allow, deny

__all__ = ["clusters", "planes"]
pytestmark = [
    pytest.mark.engine,
    pytest.mark.clusters,
    pytest.mark.parametrize("planes", ["abc"], indirect=True),
]
DENIED = "deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'images' with binding 'images' denied request"


def screen(engine: Engine, *options: str, ends: int = 0) -> list[str]:
    """The lines of the status in a terminal of 80 columns."""
    with engine.fleet("status", ".", "--stack", "dev", *options, COLUMNS="80") as process:
        out, err = process.communicate(timeout=300)
    assert process.returncode == ends, err
    assert "Traceback" not in err, err
    assert max(map(len, out.splitlines())) <= 80
    return out.splitlines()


def one_line(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


def up(engine: Engine, log: Path) -> str:
    """Update with a log of the events."""
    engine.environment["PULUMI_DEBUG_COMMANDS"] = "true"
    _, text = engine.command("up", "--yes", "--skip-preview", "--event-log", str(log))
    return text


def test_a_refused_object(clusters: Engine, planes: Planes, tmp_path: Path) -> None:
    assert clusters.up().ok
    assert screen(clusters, "--detailed-exitcode")[-1].startswith(
        "1 placement on 3 members: 3 of 3 as decided"
    )
    clusters.world.image = NEW
    deny(planes["b"])
    try:
        with clusters.fleet("rollout", ".", "--stack", "dev", "--yes", COLUMNS="80") as process:
            rolled, _ = process.communicate(timeout=300)
    finally:
        allow(planes["b"])
    asked = screen(clusters, "--live")
    assert "1 placement on 3 members: 1 of 3 as decided, as the members say" in asked
    assert "its API server would take it now" in one_line(asked)
    lines = screen(clusters, "--detailed-exitcode", ends=2)
    assert len(lines) <= 40
    assert lines[0] == "ClusterResourcePlacement shop broke in wave 2 on b"
    assert lines[1] == "  Deployment shop/web on b was refused"
    assert DENIED in one_line(lines)
    assert "  stands: revision 1 on a; revision 0 on b, c" in lines
    assert "  next: pulumi up begins with b, then c" in lines
    assert "back: fleet rollback shop . --stack dev --to 0 --state FILE" in one_line(lines)
    # The rollout has told the same at its end.
    assert "\n".join(lines[:3]) in rolled
    (shop,) = [item for item in items(clusters) if item["kind"] == "ClusterResourcePlacement"]
    (failed,) = [
        item
        for entry in shop["status"]["placementStatuses"]
        for item in entry.get("failedPlacements", ())
    ]
    assert DENIED in failed["condition"]["message"]
    assert clusters.up().ok
    screen(clusters, "--detailed-exitcode")
    screen(clusters, "--strict", "--live")
    planes["c"].kubectl("delete", "deployment", "web", "-n", "shop")
    screen(clusters, "--detailed-exitcode")
    lines = screen(clusters, "--live", "--detailed-exitcode", ends=2)
    assert "  Deployment shop/web on c is missing" in lines
    assert "pulumi up --refresh brings back" in one_line(lines)


def items(engine: Engine) -> list[dict[str, Any]]:
    with engine.fleet("status", ".", "--stack", "dev", "-o", "json") as process:
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    found: list[dict[str, Any]] = json.loads(out)["items"]
    return found


def test_a_workload_that_never_gets_ready_and_an_update_that_is_killed(
    clusters: Engine, planes: Planes, tmp_path: Path
) -> None:
    assert clusters.up().ok
    clusters.world.image = NEW
    clusters.world.extra.append(stuck("x:1"))
    clusters.world.config["readyTimeout"] = 10
    assert not clusters.up().ok
    lines = screen(clusters)
    assert lines[:2] == [
        "ClusterResourcePlacement shop broke in wave 1 on a",
        "  Deployment shop/stuck on a is not ready",
    ]
    assert "'stuck' timed out waiting to be Ready" in one_line(lines)
    assert "  stands: parts of revision 1 over revision 0 on a; revision 0 on b, c" in lines
    asked = screen(clusters, "--live")
    assert len(asked) <= 40
    assert "node" in one_line(asked[1:5])  # of a pod that no node takes
    for sign, words in (
        (signal.SIGKILL, "an update was killed while updating it"),
        (signal.SIGINT, "was cancelled"),
    ):
        clusters.world.extra[-1] = stuck(f"x:{sign}")
        log = tmp_path / f"{sign}.jsonl"
        stop(clusters, planes, sign, log)
        lines = screen(clusters, "--events", str(log))
        assert lines[1] == "  Deployment shop/stuck on a is unfinished"
        assert words in one_line(lines)
        assert len(lines) <= 40
        if sign == signal.SIGKILL:
            assert clusters.command("cancel", "--yes")[0] == 0


def stuck(of: str) -> dict[str, Any]:
    """A Deployment that no node takes."""
    pod = {"nodeSelector": {"no": "node"}, "containers": [{"name": "x", "image": of}]}
    labels = {"app": "stuck"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "stuck", "namespace": "shop"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def stop(engine: Engine, planes: Planes, sign: int, log: Path) -> None:
    """Update, and send a signal once the new Deployment is on its member."""
    engine.world.config["readyTimeout"] = 300
    engine.environment["PULUMI_DEBUG_COMMANDS"] = "true"
    with engine.start("up", "--yes", "--skip-preview", "--event-log", str(log)) as process:
        try:
            for _ in range(300):
                spec = planes["a"].get("deployment", "stuck", "-n", "shop")["spec"]["template"][
                    "spec"
                ]
                if spec["containers"][0]["image"] == f"x:{sign}":
                    break
                assert process.poll() is None, process.communicate()[0]
                time.sleep(0.1)
        finally:
            if sign == signal.SIGKILL:
                os.killpg(process.pid, sign)
            else:
                process.send_signal(sign)
            process.communicate(timeout=120)


def test_a_member_that_hangs(clusters: Engine, planes: Planes, tmp_path: Path) -> None:
    assert clusters.up().ok
    clusters.world.image = NEW
    planes["b"].pause()
    try:
        up(clusters, tmp_path / "log")
        asked = screen(clusters, "--live", "--timeout", "2")
        assert asked[1] == "  b does not answer"
        assert "does not answer in 2 s" in one_line(asked)
    finally:
        planes["b"].resume()
    assert image(planes["b"]) != NEW
    told = screen(clusters, "--events", str(tmp_path / "log"))
    assert told[1] == "  b does not answer"
    assert "cluster is unreachable" in one_line(told)
    lines = screen(clusters)
    assert lines[1] == "  Deployment shop/web on b is unfinished"
    assert "--events FILE has what the update said" in one_line(lines)
