"""Input that cannot be worked with: each is refused with its file, line and field, and with what would do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import attrs
import pytest

from tests.cli.fleets import FLEET, PLACEMENT, PROGRAM, PROJECT, run, write

Files = Mapping[str, str | bytes]
STATE_HINT = "hint: give the output of: pulumi stack export --file FILE, the state.json of a fleet render, or an observed"
DEV = "stacks/Pulumi.dev.yaml"


@attrs.frozen
class Case:
    """Files, the arguments after the command, and lines that have to be in what is printed."""

    name: str
    files: Files
    expected: tuple[str, ...]
    args: tuple[str, ...] = ("plan", ".")


def fleet(name: str, old: str, new: str) -> Files:
    assert old in FLEET[name]
    return {**FLEET, name: FLEET[name].replace(old, new, 1)}


def project(name: str, old: str, new: str) -> Files:
    assert old in PROJECT[name]
    return {**PROJECT, name: PROJECT[name].replace(old, new, 1)}


def state(text: str) -> tuple[Files, tuple[str, ...]]:
    return {**FLEET, "s.json": text}, ("plan", ".", "--state", "s.json")


CASES = [
    Case(
        "bytes that are no text",
        {"a.yaml": b"\xff\xfe"},
        ("error: a.yaml:1: not UTF-8", "hint: save the file"),
    ),
    Case(
        "a chart",
        {**FLEET, "app/Chart.yaml": "x: 1"},
        (
            "error: app/Chart.yaml: is a Helm chart",
            "hint: give its folder as a source of its own: app; or declare it",
        ),
    ),
    Case(
        "no manifest",
        {"a.txt": "hi"},
        ('error: a.txt: unknown extension ".txt"', "hint:"),
        ("plan", "a.txt"),
    ),
    Case(
        "no such directory",
        {},
        ("error: nowhere: cannot be read: No such file", "hint:"),
        ("plan", "nowhere"),
    ),
    Case(
        "nothing there",
        {},
        ("error: .: no Kubernetes objects found", "hint: give files or a directory"),
    ),
    Case("broken YAML", {"m.yaml": "a: [1"}, ("error: m.yaml:2: not YAML",)),
    Case(
        "no object",
        {"m.yaml": "- 1\n"},
        ("error: m.yaml:1: not a Kubernetes object", "hint: an object starts with"),
    ),
    Case(
        "label that is not text",
        fleet("members.yaml", "region: europe", "region: 1"),
        (
            "members.yaml:5: MemberCluster amsterdam: metadata.labels.region: must be text, not 1",
            "hint: write it in qu",
        ),
    ),
    Case(
        "unknown group",
        fleet("placement.yaml", "placement.kubernetes-fleet.io", "placement.kubernetes-fleet.com"),
        (
            'no matches for kind "ClusterResourcePlacement" in',
            "hint: write apiVersion: placement.kubernetes-fleet.io/v1",
        ),
    ),
    Case(
        "unknown kind",
        fleet("placement.yaml", "ClusterResourcePlacement", "ClusterResourcePlacment"),
        (
            "placement.yaml:2: ClusterResourcePlacment shop: kind: no matches for kind",
            "hint: write kind: Cluster",
        ),
    ),
    Case(
        "unknown placement type",
        fleet("placement.yaml", "PickN", "PickSome"),
        (
            "placement.yaml:8: ClusterResourcePlacement shop: spec.policy.placementType: Unsup",
            "hint: write one of",
        ),
    ),
    Case(
        "negative number",
        fleet("placement.yaml", "numberOfClusters: 2", "numberOfClusters: -1"),
        (
            "placement.yaml:9: ClusterResourcePlacement shop: spec.policy.numberOfClusters: Invalid value",
            "hint: write",
        ),
    ),
    Case(
        "wrong operator",
        fleet(
            "placement.yaml",
            "matchLabels: {environment: production}",
            "matchExpressions: [{key: environment, operator: Is, values: [production]}]",
        ),
        (
            "placement.yaml:14: ",
            ".clusterSelectorTerms[0].labelSelector: ",
            '"Is" is not a valid',
            "hint: operators are",
        ),
    ),
    Case(
        "property that is not a quantity",
        fleet("members.yaml", '{value: "0.041"}', "{value: cheap}"),
        (
            "members.yaml:34: MemberCluster iowa: status.properties[kubernetes.azure.com/per-cpu-core-cost]: ",
            "value cheap of property",
            "hint: write a quantity",
        ),
    ),
    Case(
        "wrong taint",
        fleet("members.yaml", "effect: NoSchedule", "effect: NoExecute"),
        (
            "members.yaml:31: MemberCluster iowa: spec.taints[0].effect: Unsupported value",
            "hint: write effect: NoSch",
        ),
    ),
    Case(
        "two members of one name",
        fleet("members.yaml", "name: dublin\n", "name: amsterdam\n"),
        (
            "members.yaml:15: MemberCluster amsterdam: metadata.name: given twice, first in members.yaml:1",
            "hint: keep",
        ),
    ),
    Case(
        "refused policy",
        fleet("placement.yaml", "    numberOfClusters: 2\n", ""),
        (
            "placement.yaml:7: ClusterResourcePlacement shop: spec.policy.numberOfClusters: ",
            "hint: write",
        ),
    ),
    Case(
        "selector of an unknown kind",
        fleet("placement.yaml", "kind: Namespace", "kind: Widget"),
        (
            "placement.yaml:6: ClusterResourcePlacement shop: spec.resourceSelectors[0].kind: ",
            '"Widget"',
            "hint:",
        ),
    ),
    Case(
        "empty catalogue",
        {name: text for name, text in FLEET.items() if name != "shop.yaml"},
        (
            "placement.yaml:5: ClusterResourcePlacement shop: spec.resourceSelectors: there is no object",
            "hint: add man",
        ),
    ),
    Case(
        "no members",
        {name: text for name, text in FLEET.items() if name != "members.yaml"},
        ("error: .: there is no member", "hint: add MemberCluster objects"),
    ),
    Case(
        "no placement",
        {name: text for name, text in FLEET.items() if name != "placement.yaml"},
        ("error: .: there is no placement", "hint: add a ClusterResourcePlacement"),
    ),
    Case(
        "no such state",
        FLEET,
        ("error: no.json: cannot be read", STATE_HINT),
        ("plan", ".", "--state", "no.json"),
    ),
    Case(
        "a state that is not JSON",
        state("{")[0],
        ("error: s.json:1: is not JSON", STATE_HINT),
        state("")[1],
    ),
    Case(
        "a state that is a list",
        state("[]")[0],
        ("error: s.json: is not a state of a fleet", STATE_HINT),
        state("")[1],
    ),
    Case(
        "a state of something else",
        state("{}")[0],
        ("error: s.json: has neither", STATE_HINT),
        state("")[1],
    ),
    Case(
        "a render of another version",
        state('{"format": "fleet-components/render", "version": 9}')[0],
        ("error: s.json: version: is not of version 2", "hint: render anew with --fresh"),
        state("")[1],
    ),
    Case(
        "a render of the version before",
        state('{"format": "fleet-components/render", "version": 1}')[0],
        (
            "error: s.json: version: is not of version 2, which this fleet render writes",
            "hint: render anew",
        ),
        state("")[1],
    ),
    Case(
        "a damaged render",
        state('{"format": "fleet-components/render", "version": 2}')[0],
        ("error: s.json: resources: is not a map of resources", "hint: render anew with --fresh"),
        state("")[1],
    ),
    Case(
        "a damaged export",
        state('{"deployment": {"resources": [{"type": "x"}]}}')[0],
        (
            "error: s.json: deployment.resources[0].urn: is missing",
            "hint: mend it: pulumi stack export --file FILE",
        ),
        state("")[1],
    ),
    Case(
        "unknown placement",
        FLEET,
        ('error: there is no placement or template "shp"', "hint: did you mean shop?"),
        ("explain", ".", "shp"),
    ),
    Case(
        "unknown member",
        FLEET,
        ('error: there is no member "zurich"', "hint: there is: amsterdam, dublin, iowa, virginia"),
        ("explain", ".", "shop", "zurich"),
    ),
    Case(
        "a file where the folder goes",
        {**FLEET, "out/local": "mine"},
        ("error: out/local: is not a folder", "hint: move it away"),
        ("render", *FLEET, "--out", "out"),
    ),
    Case(
        "a foreign folder where ours goes",
        {**FLEET, "out/local/notes.txt": "mine"},
        (
            "error: out/local: was not written by fleet render: it holds notes.txt",
            "hint: move it away",
        ),
        ("render", *FLEET, "--out", "out"),
    ),
    Case(
        "a file where the folders go",
        {**FLEET, "out": "mine"},
        ("error: out/local: cannot be written: Not a directory", "hint: nothing was changed"),
        ("render", *FLEET, "--out", "out"),
    ),
    Case(
        "a name that is a path",
        fleet(
            "shop.yaml",
            "metadata: {name: storefront, namespace: shop}\ndata",
            "metadata: {name: ../x, namespace: shop}\ndata",
        ),
        ('ConfigMap shop/../x: metadata.name: "../x" cannot be a name', "hint:"),
        ("render", *FLEET, "--out", "out"),
    ),
    Case(
        "a stack that would be another folder",
        FLEET,
        ('".." cannot be the name of a folder', "hint: --stack NAME"),
        ("render", ".", "--out", "../out", "--stack", ".."),
    ),
    Case(
        "a place that is read itself",
        FLEET,
        ("error: out: lies in ., which is read", "hint: write to a place outside of it"),
        ("render", ".", "--out", "out"),
    ),
    Case(
        "a project among other paths",
        {**PROJECT, "other.yaml": PLACEMENT},
        ("error: .: is a Pulumi project among other paths", "hint: plan the project alone"),
        ("plan", ".", "other.yaml"),
    ),
    Case(
        "unknown stack",
        PROJECT,
        ('error: stacks/Pulumi.prod.yaml: there is no stack "prod"', "hint: the stacks are: dev"),
        ("plan", ".", "--stack", "prod"),
    ),
    Case(
        "several stacks",
        {**PROJECT, "stacks/Pulumi.prod.yaml": ""},
        ("error: Pulumi.yaml: has several stacks", "hint: --stack NAME; the stacks are: dev, prod"),
    ),
    Case(
        "no stack",
        {name: text for name, text in PROJECT.items() if name != DEV},
        ("error: Pulumi.yaml: has no stack file", "hint: --stack NAME"),
    ),
    Case(
        "project without a name",
        project("Pulumi.yaml", "name: web\n", ""),
        ("error: Pulumi.yaml:1: name: name is missing", "hint: write name: my-fleet"),
    ),
    Case(
        "project in another language",
        project("Pulumi.yaml", "runtime: python", "runtime: nodejs"),
        ("error: Pulumi.yaml:2: runtime: the runtime is nodejs", "hint: only runtime: python"),
    ),
    Case(
        "project without a program",
        project("Pulumi.yaml", "main: stacks/", "main: src"),
        ('error: Pulumi.yaml:3: main: there is no program at "src"', "hint: main names"),
    ),
    Case(
        "broken Pulumi.yaml",
        project("Pulumi.yaml", "name: web", "name: [web"),
        ("error: Pulumi.yaml:2: not YAML",),
    ),
    Case("broken stack file", {**PROJECT, DEV: "config: ["}, (f"error: {DEV}:2: not YAML",)),
    Case(
        "stack file that is a list",
        {**PROJECT, DEV: "- a\n"},
        (f"error: {DEV}:1: is not a map", "hint: write fields"),
    ),
    Case(
        "config that is a list",
        {**PROJECT, DEV: "config: [a]\n"},
        (f"error: {DEV}:1: config: config is not a map",),
    ),
    Case(
        "misspelled key",
        project(DEV, "fleet:source", "fleet:sorce"),
        (f"error: {DEV}:2: config.fleet:sorce: is not a key", "hint: did you mean fleet:source?"),
    ),
    Case(
        "source that is not there",
        project(DEV, "source: fleet", "source: flet"),
        ("error: stacks/flet: cannot be read", "hint: the path is taken from"),
    ),
    Case(
        "share that is none",
        project(DEV, "fleet:render: ../rendered", "fleet:limit: 7"),
        (f"error: {DEV}:3: config.fleet:limit: is not a share", "hint: give a share"),
    ),
    Case(
        "kubeconfig of nobody",
        project(DEV, "fleet:render: ../rendered", "fleet:kubeconfigs: {berlin: x}"),
        (
            f'error: {DEV}:3: config.fleet:kubeconfigs: there is no member "berlin"',
            "hint: the members are: amsterdam",
        ),
    ),
    Case(
        "refused policy in a project",
        project("stacks/fleet/placement.yaml", "PickN", "PickSome"),
        (
            "error: stacks/fleet/placement.yaml:8: ClusterResourcePlacement shop: spec.policy.placementType",
            "hint:",
        ),
    ),
    Case(
        "required configuration",
        {**PROJECT, "Pulumi.yaml": PROJECT["Pulumi.yaml"] + "config:\n  region: {type: string}\n"},
        (
            f"error: {DEV}:1: config.web:region: the project requires region",
            "hint: pulumi config set region VALUE",
        ),
    ),
    Case(
        "configuration of the wrong type",
        {
            **PROJECT,
            "Pulumi.yaml": PROJECT["Pulumi.yaml"] + "config:\n  size: {type: integer}\n",
            DEV: PROJECT[DEV] + "  web:size: big\n",
        },
        (f"error: {DEV}:4: config.web:size: must be of type integer", "hint:"),
    ),
    Case(
        "configuration that has to be encrypted",
        {
            **PROJECT,
            "Pulumi.yaml": PROJECT["Pulumi.yaml"]
            + "config:\n  token: {type: string, secret: true}\n",
            DEV: PROJECT[DEV] + "  web:token: open\n",
        },
        (
            f"error: {DEV}:4: config.web:token: must be encrypted",
            "hint: pulumi config set --secret web:token",
        ),
    ),
    Case(
        "the state of another stack",
        {
            **PROJECT,
            "s.json": '{"deployment": {"resources": [{"urn": "urn:pulumi:qa::web::a::b", "type": "a"}]}}',
        },
        (
            "error: s.json: is the state of stack qa of project web, not of stack dev of project web",
            "hint: pulumi stack export",
        ),
        ("plan", ".", "--state", "s.json"),
    ),
    Case(
        "a program that ends itself",
        {**PROJECT, "stacks/__main__.py": "import sys\nsys.exit(3)\n"},
        ("error: the program ended itself with exit status 3",),
    ),
    Case(
        "a program that refuses",
        {
            **PROJECT,
            "stacks/__main__.py": PROGRAM + "raise pulumi.RunError('the region is closed')\n",
        },
        ("error: the region is closed",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_is_refused(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit status 1, nothing on stdout, every expected text on stderr, nothing written."""
    monkeypatch.chdir(write(tmp_path, case.files))
    before = {path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts}
    result = run(*case.args)
    for text in case.expected:
        assert text in result.stderr
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Traceback" not in result.stderr
    assert {path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts} == before


USAGE = {
    "no arguments": ("plan",),
    "unknown form": ("plan", ".", "-o", "xml"),
    "unknown option": ("plan", ".", "--colour"),
    "no time": ("plan", ".", "--as-of", "yesterday"),
    "time without a zone": ("plan", ".", "--as-of", "2026-01-31T12:00:00"),
    "no place to write to": ("render", "."),
    "unknown command": ("apply", "."),
}


@pytest.mark.parametrize("args", USAGE.values(), ids=USAGE.keys())
def test_wrong_usage_is_an_error_like_any_other(args: tuple[str, ...]) -> None:
    result = run(*args)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Usage: fleet" in result.stderr


def test_all_problems_come_at_once(tmp_path: Path) -> None:
    files = fleet("members.yaml", "effect: NoSchedule", "effect: NoExecute")
    write(
        tmp_path,
        {
            **files,
            "placement.yaml": PLACEMENT.replace("PickN", "PickSome"),
            "a.yaml": "kind: Pod\n",
        },
    )
    result = run("plan", tmp_path)
    assert result.stderr.count("error: ") >= 2
