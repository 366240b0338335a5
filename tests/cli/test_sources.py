"""Charts, kustomizations and standard input: the same plan by each door, and what is said where there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs
import pytest
import yaml

from tests.cli.fleets import FLEET, MEMBERS, PLACEMENT, PROJECT, SECRET, SHOP, plan, run, write
from tests.tools import StandIns, rendered, stand_ins

STACK = "organization/web/dev"
NAMESPACE, *REST = SHOP.split("---\n")
CHARTED = rendered(
    "shop",
    [(f"templates/{n}.yaml", text.replace(", namespace: shop", "")) for n, text in enumerate(REST)],
)
CHART = """\
apiVersion: fleet-components/v1
kind: Chart
metadata: {name: storefront}
spec: {path: charts/shop, namespace: shop, valueFiles: [values.yaml]}
"""
KUSTOMIZATION = """\
apiVersion: fleet-components/v1
kind: Kustomization
metadata: {name: storefront}
spec: {path: overlays/production}
"""
STEERING = {"members.yaml": MEMBERS, "placement.yaml": PLACEMENT, "namespace.yaml": NAMESPACE}
IN_NAMESPACE = SHOP.split("---\n", 1)[1]


@attrs.frozen
class Source:
    """Files below ``fleet``, and the paths that name them, from where it lies."""

    files: Mapping[str, str]
    paths: Sequence[str] = ("fleet",)


SOURCES = {
    "a directory": Source(FLEET),
    "files and directories": Source(
        {"a/members.yaml": MEMBERS, "b.yaml": SHOP, "c/placement.yaml": PLACEMENT},
        ("fleet/a", "fleet/b.yaml", "fleet/c"),
    ),
    "a chart that is declared": Source(
        {
            **STEERING,
            "chart.yaml": CHART,
            "charts/shop/Chart.yaml": "name: shop",
            "values.yaml": "a: 1",
        }
    ),
    "a chart that is a source itself": Source(
        {
            "in/members.yaml": MEMBERS,
            "in/placement.yaml": PLACEMENT,
            "shop/Chart.yaml": "name: shop",
        },
        ("fleet/in", "fleet/shop"),
    ),
    "a kustomization that is declared": Source(
        {
            **STEERING,
            "shop.yaml": KUSTOMIZATION,
            "overlays/production/kustomization.yaml": "resources: [../../base]",
            "base/kustomization.yaml": "resources: []",
        }
    ),
    "a kustomization that is a source itself": Source(
        {"members.yaml": MEMBERS, "shop/kustomization.yaml": ""},
        ("fleet/members.yaml", "fleet/shop"),
    ),
}


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIns:
    return stand_ins(tmp_path / "tools", monkeypatch)


def members(folder: Path) -> dict[str, str]:
    """What each member gets, file by file."""
    files = (path for path in folder.rglob("*.yaml") if path.parent != folder)
    return {str(path.relative_to(folder)): path.read_text() for path in files}


@pytest.mark.samples(2)
@pytest.mark.parametrize("name", SOURCES)
def test_the_directory_and_the_project_have_the_same(
    name: str, tools: StandIns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the same as the plain manifests that they stand for."""
    source = SOURCES[name]
    whole = SHOP if name == "a chart that is a source itself" else IN_NAMESPACE
    every = SHOP + "---\n" + PLACEMENT
    tools.printing("helm", rendered("shop", [("x.yaml", SHOP)]) if whole == SHOP else CHARTED)
    tools.printing(
        "kustomize", every if name == "a kustomization that is a source itself" else IN_NAMESPACE
    )
    config = {"fleet:source": source.paths[0] if len(source.paths) == 1 else list(source.paths)}
    config |= {"fleet:render": "../rendered"}
    project = {key: text for key, text in PROJECT.items() if "/fleet/" not in key}
    project |= {"stacks/Pulumi.dev.yaml": yaml.safe_dump({"config": config})}
    write(tmp_path, project | {f"stacks/fleet/{path}": text for path, text in source.files.items()})
    write(tmp_path / "plain")
    monkeypatch.chdir(tmp_path)
    for out, args in (
        ("plain", ("plain", "--stack", STACK)),
        ("directory", (*(f"stacks/{path}" for path in source.paths), "--stack", STACK)),
        ("project", (".",)),
    ):
        result = run("render", *args, "--out", f"../out-{tmp_path.name}/{out}")
        assert result.exit_code == 0, result.output
    outs = [
        members(tmp_path.parent / f"out-{tmp_path.name}/{out}/dev")
        for out in ("plain", "directory", "project")
    ]
    assert len(outs[0]) == 8
    assert outs[0] == outs[1] == outs[2]


def test_what_a_chart_says_is_said_by_both_doors(
    tools: StandIns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate, annotations: {"helm.sh/hook": post-install}}\n'
    tools.printing("helm", CHARTED + rendered("shop", [("templates/migrate.yaml", hook)]))
    files = {**STEERING, "chart.yaml": CHART, "charts/shop/Chart.yaml": "", "values.yaml": ""}
    write(tmp_path, {**PROJECT, **{f"stacks/fleet/{path}": text for path, text in files.items()}})
    (tmp_path / "stacks/fleet/shop.yaml").unlink()
    monkeypatch.chdir(tmp_path)
    told = [plan(path)["warnings"] for path in ("stacks/fleet", ".")]
    wanted = "chart.yaml:4: Chart storefront: spec.path: 1 hook of the chart passed over: Job migrate (post-install)"
    assert [len(texts) for texts in told] == [1, 1]
    assert all(wanted in texts[0] for texts in told)


def test_what_is_wrong_in_a_chart_is_said_by_both_doors(
    tools: StandIns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools.printing(
        "helm",
        rendered("shop", [("templates/placement.yaml", PLACEMENT.replace("PickN", "PickSome"))]),
    )
    declaration = CHART.replace("charts/shop", "shop").replace(", valueFiles: [values.yaml]", "")
    files = {
        "members.yaml": MEMBERS,
        "namespace.yaml": NAMESPACE,
        "shop/Chart.yaml": "",
        "chart.yaml": declaration,
    }
    project = {key: text for key, text in PROJECT.items() if "/fleet/" not in key}
    write(tmp_path, project | {f"stacks/fleet/{path}": text for path, text in files.items()})
    monkeypatch.chdir(tmp_path)
    for path in ("stacks/fleet", "."):
        result = run("plan", path)
        wanted = "error: stacks/fleet/shop/templates/placement.yaml: ClusterResourcePlacement shop: spec.policy.placementType"
        assert wanted in result.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("plan", "members.yaml", "-", "-o", "json"),
        ("plan", "-", "members.yaml", "-o", "json"),
        ("explain", "members.yaml", "--with", "-", "-o", "json"),
        ("explain", "-", "shop", "--with", "members.yaml", "-o", "json"),
    ],
)
def test_standard_input_is_a_source(
    args: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write(tmp_path))
    piped = run(*args, stdin=SHOP + "---\n" + PLACEMENT)
    files = ("shop.yaml", "placement.yaml")
    if args[0] == "plan":
        plain = run("plan", "members.yaml", *files, "-o", "json")
    else:
        names = [arg for arg in args if arg == "shop"]
        plain = run(
            "explain", "members.yaml", *names, *(f"--with={file}" for file in files), "-o", "json"
        )
    assert (piped.exit_code, plain.exit_code) == (0, 0), piped.output + plain.output
    here, there = (json.dumps(_unplaced(json.loads(result.stdout))) for result in (piped, plain))
    assert here == there


def _unplaced(document: object) -> object:
    """A document without where things were read."""
    if isinstance(document, Mapping):
        return {
            key: _unplaced(value)
            for key, value in document.items()
            if key not in ("paths", "source")
        }
    return list(map(_unplaced, document)) if isinstance(document, list) else document


def test_standard_input_is_named_with_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write(tmp_path))
    document = json.loads(
        run("plan", "members.yaml", "-", "-o", "json", stdin=SHOP + "---\n" + PLACEMENT).stdout
    )
    assert document["fleet"]["paths"] == ["members.yaml", "standard input"]
    assert document["subjects"][0]["source"] == "standard input:29"


def test_standard_input_is_rendered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write(tmp_path))
    result = run("render", "-", "placement.yaml", "members.yaml", "--out", "out", stdin=SHOP)
    assert "wrote 8 manifests of 2 members to out/local" in result.stdout
    assert SECRET not in "".join(members(tmp_path / "out/local").values())


PIPED: Mapping[str, tuple[Sequence[str], str | bytes, str]] = {
    "nothing": (
        ("plan", "fleet", "-"),
        " \n",
        "error: standard input: is empty\n  hint: see whether the command before",
    ),
    "comments alone": (
        ("plan", "fleet", "-"),
        "# none\n",
        "error: standard input: no Kubernetes objects found",
    ),
    "no YAML": (("plan", "fleet", "-"), "a: [", "error: standard input:2: not YAML"),
    "no text": (("plan", "fleet", "-"), b"\xff", "error: standard input:1: not UTF-8"),
    "no object": (("plan", "-"), "a: 1", "error: standard input:1: not a Kubernetes object"),
    "twice": (("plan", "-", "-"), SHOP, "error: standard input: is asked for twice"),
    "the state too": (("plan", "-", "--state", "-"), "{}", "error: standard input: has neither"),
    "a state that is one": (
        ("plan", "fleet", "-", "--state", "-"),
        '{"deployment": {"resources": []}}',
        "error: standard input: is asked for twice\n  hint: give one of the two as a file",
    ),
    "what is there already": (
        ("plan", "fleet", "-"),
        NAMESPACE,
        "error: standard input:3: Namespace shop: metadata.name: given twice, first in fleet/shop.yaml:1",
    ),
    "no member": (
        ("plan", "-", "fleet/shop.yaml"),
        PLACEMENT,
        "error: standard input, fleet/shop.yaml: there is no member",
    ),
    "a chart to render": (
        ("plan", "fleet", "-"),
        CHART,
        "error: standard input:2: Chart storefront: kind: is carried out",
    ),
    "beside a project": (
        ("plan", "project", "-"),
        SHOP,
        "error: project: is a Pulumi project among other paths",
    ),
}


@pytest.mark.parametrize(("args", "given", "wanted"), PIPED.values(), ids=PIPED)
def test_standard_input_that_cannot_be_worked_with(
    args: Sequence[str],
    given: str | bytes,
    wanted: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(tmp_path / "project", PROJECT)
    write(tmp_path / "fleet")
    monkeypatch.chdir(tmp_path)
    result = run(*args, stdin=given)
    assert wanted in result.stderr
    assert (result.exit_code, result.stdout) == (1, "")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("", "is not set"),
        ("[]", "names no path"),
        ("[fleet, 3]", "names no path"),
        ('[fleet, ""]', "names no path"),
        ("[fleet, nowhere]", "cannot be read"),
    ],
)
def test_a_source_in_the_configuration_that_names_none(
    given: str, wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        tmp_path,
        {
            **PROJECT,
            "stacks/Pulumi.dev.yaml": f"config:\n  fleet:source: {given}\n  fleet:render: ../out\n",
        },
    )
    monkeypatch.chdir(tmp_path)
    result = run("plan", ".")
    assert wanted in result.stderr
    assert "error: stacks/" in result.stderr
    assert result.exit_code == 1


MADE = """\
import pulumi
import pulumi_kubernetes as k8s
import fleet_components as fc

def shop():
    inside = {"namespace": k8s.core.v1.Namespace("shop").metadata["name"]}
    k8s.core.v1.ConfigMap("storefront", metadata=inside, data={"currency": "EUR"})
    k8s.core.v1.Secret("payment", metadata=inside, string_data={"token": "hunter2-planted"})
    container = {"name": "storefront", "image": "nginx:1.27.5"}
    k8s.apps.v1.Deployment("storefront", metadata=inside, spec={
        "replicas": 3,
        "selector": {"match_labels": {"app": "storefront"}},
        "template": {"metadata": {"labels": {"app": "storefront"}}, "spec": {"containers": [container]}},
    })

fc.Fleet("dev", fc.FleetArgs(fc.read_source("fleet"), render_to="../rendered", objects=fc.objects_of(shop)))
"""


def test_objects_of_the_program_are_planned_like_those_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write(tmp_path / "plain", PROJECT))
    plain = plan(".")
    write(tmp_path / "made", {**PROJECT, "stacks/__main__.py": MADE})
    (tmp_path / "made/stacks/fleet/shop.yaml").unlink()
    monkeypatch.chdir(tmp_path / "made")
    made = plan(".")
    assert made["subjects"] == plain["subjects"]
    assert [item["name"] for item in made["resources"]] == [
        item["name"] for item in plain["resources"]
    ]
    assert SECRET not in json.dumps(made)


def test_what_is_wrong_with_an_object_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = MADE.replace('{"currency": "EUR"}', '{"currency": pulumi.Output.secret("EUR")}')
    monkeypatch.chdir(write(tmp_path, {**PROJECT, "stacks/__main__.py": wrong}))
    result = run("plan", ".")
    assert (
        "error: the program: ConfigMap shop/storefront: data.currency: is secret" in result.stderr
    )
    assert "hint: put it into the data of a Secret" in result.stderr
    assert (result.exit_code, result.stdout) == (1, "")
