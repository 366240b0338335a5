"""All that is wrong with a fleet comes at once, and both doors say the same of it: the directory and the project."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components import FleetError, read_source
from fleet_components.plan.source import gather
from tests.cli.fleets import FLEET, PLACEMENT, PROJECT, SHOP, run, write

GROUP = "placement.kubernetes-fleet.io/v1beta1"
STATE, READING, REFUSED, MATCHING, PLANNING = range(5)
"""The layers: each works on what the ones before it could read."""


def placement(name: str, old: str, new: str) -> str:
    """A further placement, changed somewhere."""
    text = PLACEMENT.replace("name: shop}\nspec", f"name: {name}}}\nspec")
    assert old in text
    return text.replace(old, new)


@attrs.frozen
class Wrong:
    """One thing that is wrong.

    Attributes:
        files: the files that have it.
        says: what is said of it.
        layer: the layer that finds it.
        follows: it may be there only because of what an earlier layer could not read.
        options: the options that have it.
    """

    files: Mapping[str, str | bytes]
    says: str
    layer: int
    follows: bool = False
    options: tuple[str, ...] = ()


WRONG: Mapping[str, Wrong] = {
    "broken YAML": Wrong({"broken.yaml": "a: [1\n"}, "broken.yaml:2: not YAML", READING),
    "no text": Wrong({"bytes.yaml": b"\xff\xfe"}, "bytes.yaml:1: not UTF-8", READING),
    "a field twice": Wrong(
        {
            "twice.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}\ndata: {a: b, a: c}\n"
        },
        "twice.yaml:4: data.a: given twice",
        READING,
    ),
    "no name": Wrong(
        {"nameless.yaml": "apiVersion: v1\nkind: Pod\n"}, "nameless.yaml:1: Pod: metadata", READING
    ),
    "an object twice": Wrong(
        {"again.yaml": SHOP.partition("---")[0]}, "Namespace shop: metadata.name: given", READING
    ),
    "a refused policy": Wrong(
        {"refused.yaml": placement("refused", "PickN", "PickSome")},
        "spec.policy.placementType: Unsupported",
        REFUSED,
    ),
    "a refused member": Wrong(
        {
            "member.yaml": "apiVersion: cluster.kubernetes-fleet.io/v1\nkind: MemberCluster\nmetadata: {name: odd}\n"
            "spec:\n  identity: {kind: ServiceAccount, name: odd, namespace: fleet-system}\n"
            "  taints: [{key: a, effect: NoExecute}]\n"
        },
        "MemberCluster odd: spec.taints[0].effect: Unsupported",
        REFUSED,
    ),
    "a kind that is not carried out": Wrong(
        {
            "quota.yaml": "apiVersion: policy.karmada.io/v1alpha1\nkind: FederatedResourceQuota\n"
            "metadata: {name: q, namespace: shop}\nspec: {overall: {cpu: 1}}\n"
        },
        "FederatedResourceQuota is not carried out",
        REFUSED,
    ),
    "an unknown kind": Wrong(
        {
            "widgets.yaml": placement(
                "widgets",
                'group: "", version: v1, kind: Namespace, name: shop',
                "group: x.io, version: v1, kind: Widget",
            )
        },
        'no matches for kind "Widget"',
        REFUSED,
        follows=True,
    ),
    "no token": Wrong(
        {}, 'confirm: "what" is not a token', PLANNING, options=("--confirm", "what")
    ),
    "selected twice": Wrong(
        {
            "double.yaml": placement(
                "double",
                "  policy:\n",
                '  - {group: "", version: v1, kind: Namespace, name: shop}\n  policy:\n',
            )
        },
        "ClusterResourcePlacement double: spec.resourceSelectors[1]: found duplicate",
        MATCHING,
    ),
    "no strategy": Wrong(
        {
            "staged.yaml": placement(
                "staged",
                "type: RollingUpdate\n    rollingUpdate: {maxUnavailable: 1, maxSurge: 1}",
                "type: External",
            ),
            "run.yaml": f"apiVersion: {GROUP}\nkind: ClusterStagedUpdateRun\nmetadata: {{name: go}}\n"
            "spec: {placementName: staged, stagedRolloutStrategyName: calm, state: Run}\n",
        },
        'there is no ClusterStagedUpdateStrategy "calm"',
        PLANNING,
        follows=True,
    ),
    "no quantity": Wrong(
        {
            "cheap.yaml": "apiVersion: cluster.kubernetes-fleet.io/v1\nkind: MemberCluster\n"
            "metadata: {name: cheap, labels: {environment: production}}\n"
            "spec: {identity: {kind: ServiceAccount, name: cheap, namespace: fleet-system}}\n"
            "status: {properties: {kubernetes.azure.com/per-cpu-core-cost: {value: much}}}\n"
        },
        "value much of property",
        PLANNING,
    ),
    "a state that is none": Wrong(
        {"../../bad.json": "{"}, "bad.json:1: is not JSON", STATE, options=("--state", "bad.json")
    ),
}
"""Each may stand beside any other."""


def said(text: str) -> set[str]:
    """The errors, with their hints; how a kind is passed over is told in the words of each door."""
    parts = text.replace("fleet:passOver", "--pass-over").split("error: ")
    return {f"error: {part}" for part in parts if part}


@pytest.mark.parametrize("name", WRONG)
def test_both_doors_say_it(name: str) -> None:
    both_say({name})


def test_both_doors_say_everything() -> None:
    both_say(set(WRONG))


@settings(max_examples=40)
@given(st.sets(st.sampled_from(sorted(WRONG)), min_size=2, max_size=6))
def test_both_doors_say_all_of_it(names: set[str]) -> None:
    both_say(names)


def both_say(names: Collection[str]) -> None:
    """The directory and the project name the same: all that is wrong, and nothing that only follows from it."""
    wrong = [WRONG[name] for name in sorted(names)]
    files = {f"stacks/fleet/{name}": text for item in wrong for name, text in item.files.items()}
    options = [option for item in wrong for option in item.options]
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.chdir(write(Path(place), {**PROJECT, **files}))
        directory = run("plan", "stacks/fleet", *options)
        project = run("plan", ".", *options)
    for result in (directory, project):
        assert (result.exit_code, result.stdout) == (1, "")
    assert said(directory.stderr) == said(project.stderr)
    broken = min((item.layer for item in wrong if not item.follows), default=PLANNING)
    expected = [item.says for item in wrong if not item.follows or item.layer <= broken]
    for text in expected:
        assert text in directory.stderr
    assert directory.stderr.count("error: ") == len(expected)


def test_what_could_be_read_goes_on(tmp_path: Path) -> None:
    write(tmp_path, {**FLEET, **WRONG["broken YAML"].files, **WRONG["a refused policy"].files})
    source = gather(tmp_path)
    assert [problem.file for problem in source.problems] == [
        str(tmp_path / "broken.yaml"),
        str(tmp_path / "refused.yaml"),
    ]
    assert [cluster.name for cluster in source.clusters] == [
        "amsterdam",
        "dublin",
        "iowa",
        "virginia",
    ]
    assert [placement.key for placement in source.placements] == ["shop"]
    with pytest.raises(FleetError) as refused:
        read_source(tmp_path)
    assert refused.value.problems == source.problems


def test_an_object_that_is_broken_is_judged_no_further(tmp_path: Path) -> None:
    """What is left of it may say anything; the objects beside it in one list are whole."""
    items = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}}
        for name in "ab"
    ]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).replace(
        '"name": "a"', '"name": "a", "name": "c"'
    )
    source = gather(write(tmp_path, {**FLEET, "list.json": text}))
    assert [problem.what for problem in source.problems] == ["given twice, first on line 1"]
    names = [
        manifest.name for manifest in source.catalogue.manifests if manifest.kind == "ConfigMap"
    ]
    assert names == ["b", "storefront"]


def test_a_member_in_two_lists_is_named(tmp_path: Path) -> None:
    members = (
        "apiVersion: fleet-components/v1\nkind: Members\nmetadata: {name: m}\nspec:\n  members:\n"
        "  - {name: dublin, region: northeurope, kubeconfigFile: k}\n"
    )
    source = gather(write(tmp_path, {**FLEET, "more.yaml": members}))
    assert [cluster.name for cluster in source.clusters].count("dublin") == 1
    assert [problem.what for problem in source.problems] == [
        "the member is in a list of members too"
    ]
