"""The release that decides: named by an option, by an observed hub, by a stack, or by nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet_components.content.guarded import read_yaml
from fleet_components.hub.folder.writing import write_observation
from fleet_components.systems.registry import SYSTEMS
from tests.cli.fleets import FLEET, PROJECT, plan, run, write
from tests.hub.folder.hubs import KARMADA, kubefleet, observed

NEWER = "main-2026-08"
PICKED = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: nobody}
spec:
  resourceSelectors: [{group: rbac.authorization.k8s.io, version: v1, kind: ClusterRole, name: reader}]
  policy: {placementType: PickFixed}
"""
REFUSED = "cluster names cannot be empty for policy type PickFixed"


@pytest.mark.parametrize("command", ["plan", "render"])
def test_a_directory_is_decided_by_the_release_that_is_named(command: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "fleet", {**FLEET, "nobody.yaml": PICKED})
    more = ["--out", tmp_path / "out"] if command == "render" else []
    refused = run(command, folder, *more)
    assert (refused.exit_code, REFUSED in refused.stderr) == (1, True)
    assert run(command, folder, *more, "--kubefleet", NEWER).exit_code == 0


def test_a_state_says_which_release_counts(tmp_path: Path) -> None:
    folder = write(tmp_path / "fleet", {**FLEET, "nobody.yaml": PICKED})
    run("plan", folder, "--kubefleet", NEWER, "--save-state", tmp_path / "state.json")
    again = plan(folder, "--state", tmp_path / "state.json")
    assert not again["changes"]
    assert (
        REFUSED
        in run("plan", folder, "--state", tmp_path / "state.json", "--kubefleet", "0.3.1").stderr
    )


def test_a_project_hears_the_option_and_its_configuration(tmp_path: Path) -> None:
    files = {**PROJECT, "stacks/fleet/nobody.yaml": PICKED}
    config = f"{files['stacks/Pulumi.dev.yaml']}  fleet:kubefleet: {NEWER}\n"
    named = write(tmp_path / "named", files)
    configured = write(tmp_path / "configured", {**files, "stacks/Pulumi.dev.yaml": config})
    assert REFUSED in run("plan", named).stderr
    assert run("plan", named, "--kubefleet", NEWER).exit_code == 0
    assert run("plan", configured).exit_code == 0
    assert REFUSED in run("plan", configured, "--kubefleet", "0.3.1").stderr


def test_an_unknown_release_is_refused_with_those_that_are_known(tmp_path: Path) -> None:
    found = run("plan", write(tmp_path), "--kubefleet", "0.9")
    assert found.exit_code == 1
    assert "'0.9' is not one of '0.3.1', 'main-2026-08'" in found.stderr


def test_an_observed_hub_says_which_release_counts(tmp_path: Path) -> None:
    for name, release in (("old", "0.3.1"), ("new", NEWER), ("unknown", "")):
        folder = tmp_path / name
        write_observation(folder, observed(kubefleet(), release=release), update=False)
        assert (
            read_yaml((folder / "observed/hub.yaml").read_bytes())["spec"].get("release", "")
            == release
        )
        assert not plan(folder)["changes"]
        write(folder, {"policies/ClusterResourcePlacement/nobody.yaml": PICKED})
        assert (REFUSED in run("plan", folder).stderr) is (release != NEWER)


@pytest.mark.parametrize(("option", "release"), [("--kubefleet", NEWER), ("--karmada", "1.17")])
def test_a_release_is_named_for_a_hub_alone(option: str, release: str, tmp_path: Path) -> None:
    found = run("observe", "--members", tmp_path / "k", "--out", tmp_path / "o", option, release)
    assert (
        f"{option} is the release of a hub that is observed: give --hub or --azure" in found.stderr
    )


FORMER_MODE = """\
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: reader}
spec:
  resourceSelectors: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: reader}]
  failover: {cluster: {purgeMode: Immediately}}
"""
NO_MODE = 'Unsupported value: "Immediately"'


def test_the_release_of_karmada_is_named_by_option_configuration_state_and_observation(
    tmp_path: Path,
) -> None:
    folder = write(tmp_path / "fleet", {**FLEET, "former.yaml": FORMER_MODE})
    assert NO_MODE in run("plan", folder).stderr
    assert (
        run("plan", folder, "--karmada", "1.18", "--save-state", tmp_path / "state.json").exit_code
        == 0
    )
    assert run("plan", folder, "--state", tmp_path / "state.json").exit_code == 0
    assert (
        NO_MODE
        in run("plan", folder, "--state", tmp_path / "state.json", "--karmada", "1.19").stderr
    )
    files = {**PROJECT, "stacks/fleet/former.yaml": FORMER_MODE}
    project = write(tmp_path / "project", files)
    assert NO_MODE in run("plan", project).stderr
    assert run("plan", project, "--karmada", "1.17").exit_code == 0
    config = f"{files['stacks/Pulumi.dev.yaml']}  fleet:karmada: '1.17'\n"
    configured = write(tmp_path / "configured", {**files, "stacks/Pulumi.dev.yaml": config})
    assert run("plan", configured).exit_code == 0
    assert NO_MODE in run("plan", configured, "--karmada", "1.19").stderr
    hub = tmp_path / "hub"
    write_observation(hub, observed(KARMADA, SYSTEMS["karmada"], release="1.18"), update=False)
    write(hub, {"policies/ClusterPropagationPolicy/former.yaml": FORMER_MODE})
    assert run("plan", hub).exit_code == 0
    assert NO_MODE in run("plan", hub, "--karmada", "1.19").stderr
