"""``fleet simulate``: what it shows is what the same change, made by hand in the files, is planned to do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_components.model.manifest import Manifest
from fleet_components.review.planning.setting import FieldSetting
from fleet_components.review.planning.supposition import Addition, Supposed
from tests.cli.by_hand import ANYWHERE, CASES, Hand, put
from tests.cli.fleets import PROJECT, SECRET, run, write
from tests.cli.supposed import Objects, dumped, kubefleet, named, options, saved, simulated

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = r"fleet/[\w.-]+\.yaml|policy.yaml"


def outcome(document: Mapping[str, Any], files: str = FILES) -> dict[str, Any]:
    """What a document says comes of a change: not of which files and state, and in which line something stands."""
    about = {"fleet", "against", "headline", "state", "secretsHidden"}
    text = json.dumps({key: value for key, value in document.items() if key not in about})
    text = re.sub(rf"(as supposed|{files})(:\d+)?", "FILE", text)
    found: dict[str, Any] = json.loads(re.sub(r'"line": \d+', '"line": null', text))
    for item in found["subjects"]:
        item.pop("pending")
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "before").mkdir()
    monkeypatch.chdir(tmp_path / "before")
    return tmp_path


@pytest.mark.samples(10)
@pytest.mark.parametrize(
    ("system", "hand"), CASES, ids=[f"{system.__name__} {hand.options}" for system, hand in CASES]
)
def test_it_shows_what_the_change_does_that_is_made_by_hand(
    folder: Path, monkeypatch: pytest.MonkeyPatch, system: Callable[[], Objects], hand: Hand
) -> None:
    dumped(folder / "before/fleet", system())
    write(folder / "before", hand.files)
    state = saved()
    by_option = run(
        "simulate", "fleet", *options(hand.options), "--state", state, "-o", "json", "--all"
    )
    as_new = run("simulate", "fleet", *options(hand.options), "-o", "json", "--all")
    changed = system()
    hand.edit(changed)
    dumped(folder / "after/fleet", changed)
    monkeypatch.chdir(folder / "after")
    lost = [part for name in hand.lost for part in ("--lost", name)]
    by_hand = run("plan", "fleet", *lost, "--state", state, "-o", "json", "--all")
    assert by_hand.stdout, by_hand.stderr
    assert by_option.stdout, by_option.stderr
    assert outcome(json.loads(by_option.stdout)) == outcome(json.loads(by_hand.stdout))
    assert outcome(json.loads(as_new.stdout)) == outcome(json.loads(by_hand.stdout))
    assert by_option.exit_code == as_new.exit_code == by_hand.exit_code
    assert by_option.exit_code in (0, 3)


def test_the_first_lines_say_what_is_supposed(folder: Path) -> None:
    dumped(folder / "before/fleet", kubefleet())
    args = (
        "simulate",
        "fleet",
        "--lose",
        "region=europe",
        "--set",
        "iowa:taints.maintenance=null",
        "--set",
        "iowa:labels.a=b",
    )
    document = simulated(*args[1:])
    supposed = "taints.maintenance taken from iowa; labels.a=b on iowa; region=europe (2 members: amsterdam, dublin) lost"
    assert document["against"] == f"the fleet as it is, as if newly made, supposing: {supposed}"
    assert (
        run(*args, "--state", saved())
        .stdout.splitlines()[2]
        .startswith("compared with the state in ../state.json, supp")
    )
    for form in ("table", "markdown"):
        assert supposed in " ".join(run(*args, "-o", form).stdout.split())
    assert document["unfulfilled"]
    assert run(*args, "--strict").exit_code == 3


def test_a_member_like_one_that_leaves_does_not_leave() -> None:
    objects = kubefleet()
    named(objects, "dublin")["metadata"] |= {
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "uid": "1",
        "annotations": {"a": "b"},
    }
    fleet = Addition("oslo", "dublin").applied(Supposed(tuple(map(Manifest, objects))))
    assert fleet.members["oslo"].metadata == {
        "name": "oslo",
        "labels": fleet.members["dublin"].labels,
    }
    assert fleet.members["oslo"].data["spec"] == fleet.members["dublin"].data["spec"]


def test_a_new_fleet_has_rolled_out_with_all_approvals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    assert (
        run("plan", "staged-approval")
        .stdout.splitlines()[-1]
        .endswith("approval checkout-1-before-prod is needed")
    )
    document = simulated("staged-approval", "--set", "aks-cork:labels.a=b")
    assert document["headline"][0] == "nothing changes"
    (checkout,) = simulated("staged-approval", "--lose", "aks-cork")["subjects"]
    assert checkout["staying"] == ["aks-dublin", "aks-leeds", "aks-tokyo"]


def test_what_is_to_be_done_anyway_is_marked(folder: Path) -> None:
    dumped(folder / "before/fleet", kubefleet())
    state = saved()
    late = kubefleet()
    put("Deployment", "storefront", "spec", "replicas", value=4)(late)
    dumped(folder / "before/fleet", late)
    (shop,) = simulated("fleet", "--lose", "virginia", "--state", state)["subjects"]
    assert shop["pending"] is True
    assert simulated("fleet", "--lose", "virginia")["subjects"] == []
    (shop,) = simulated("fleet", "--lose", "dublin")["subjects"]
    assert shop["pending"] is False


def test_a_refusal_is_shown_with_its_token_and_a_loss_is_none(folder: Path) -> None:
    dumped(folder / "before/fleet", kubefleet())
    three = (
        "--set",
        "iowa:taints.maintenance=null",
        "--set",
        "virginia:labels.environment=production",
    )
    fewer = ("--set", "ClusterResourcePlacement/shop:spec.policy.numberOfClusters=0")
    refused = run("simulate", "fleet", *fewer)
    assert refused.exit_code == 3
    assert refused.stdout.startswith("refused: shop loses 2 clusters")
    (token,) = set(re.findall(r"--confirm (\w+)", refused.stdout))
    assert run("simulate", "fleet", *fewer, "--confirm", token).exit_code == 0
    assert run("simulate", "fleet", *fewer, "--sweep", "member").exit_code == 3
    assert run("simulate", "fleet", *fewer, "--sweep", "member", "--confirm", token).exit_code == 0
    everyone = run("simulate", "fleet", *three, "--lose", "*")
    assert everyone.exit_code == 0
    assert "not fulfilled" in everyone.stdout
    assert run("simulate", "fleet", "--lose", "dublin", "--detailed-exitcode").exit_code == 2
    assert (
        run("simulate", "fleet", "--set", "iowa:labels.a=b", "--detailed-exitcode").exit_code == 0
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_nothing_is_written_and_no_secret_is_shown(folder: Path) -> None:
    dumped(folder / "before/fleet", kubefleet())
    write(folder / "before", {"policy.yaml": ANYWHERE})
    before = contents(folder)
    payment = "Secret/shop/payment:stringData"
    override = "apiVersion: placement.kubernetes-fleet.io/v1\nkind: ResourceOverride\n"
    override += "metadata: {name: pay, namespace: shop}\nspec:\n  resourceSelectors:\n"
    override += "  - {group: '', version: v1, kind: Secret, name: payment}\n  policy: {overrideRules: [{jsonPatchOverrides: "
    override += "[{op: add, path: /stringData/x, value: hunter4-planted}]}]}\n"
    write(folder / "before/fleet", {"override.yaml": override})
    before = contents(folder)
    rule = "ResourceOverride/pay:spec.policy.overrideRules[0].jsonPatchOverrides[0].value"
    shown = ""
    for args in (
        (
            "--set",
            f"{payment}.token=hunter3-planted",
            "--set",
            f"{rule}=hunter5-planted",
            "--all",
            "--diff",
        ),
        ("--set", f"{payment}={{token: hunter3-planted}}", "--policy", "policy.yaml"),
        ("--set", "Secret/shop/p*:stringData.token=hunter6-planted"),
        (
            "--set",
            f"{payment}.token=hunter3-planted",
            "--set",
            f"{rule}=hunter5-planted",
            "--sweep",
            "region",
        ),
    ):
        for form in ("table", "json", "yaml", "markdown"):
            result = run("simulate", "fleet", *args, "-o", form)
            assert result.exit_code == 0, result.output
            shown += result.output
    assert "stringData.token [secret] -> [secret]" in shown
    assert not re.search(r"hunter\d", shown)
    assert SECRET not in shown
    assert contents(folder) == before


def test_a_project_stands_for_the_files_that_its_source_names(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder / "web", PROJECT)
    monkeypatch.chdir(folder / "web")
    args = ("--lose", "dublin", "-o", "json")
    of_project, of_files = (
        json.loads(run("simulate", path, *args).stdout) for path in (".", "stacks/fleet")
    )
    assert of_project == of_files
    write(folder / "web", {"stacks/Pulumi.dev.yaml": "config: {}\n"})
    result = run("simulate", ".", *args)
    assert result.exit_code == 1
    assert "says no fleet:source: its program makes the fleet" in result.stderr
    assert "hint: in the program: change it" in result.stderr


def test_standard_input_is_a_fleet_too(folder: Path) -> None:
    text = yaml.safe_dump_all(kubefleet())
    result = run("simulate", "-", "--lose", "dublin", stdin=text)
    assert result.exit_code == 0
    assert "shop moves from dublin" in result.stdout or "shop loses dublin" in result.stdout


def test_what_several_objects_get_is_hidden_where_one_of_them_is_a_secret() -> None:
    objects: Objects = [
        {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "data": {"token": "b2xk"}}
        for kind, name in (("ConfigMap", "plain"), ("ConfigMap", "other"), ("Secret", "payment"))
    ]
    fleet = Supposed(tuple(map(Manifest, objects)))
    (words,) = FieldSetting("ConfigMap/*", ("data", "token"), "bmV3").applied(fleet).words
    assert words == "ConfigMap plain, ConfigMap other: data.token -> bmV3"
    changed = FieldSetting("*/*", ("data", "token"), "bmV3").applied(fleet)
    assert changed.words == (
        "ConfigMap plain, ConfigMap other, Secret payment: data.token -> [secret]",
    )
    assert {item.data["data"]["token"] for item in changed.manifests} == {"bmV3"}


@pytest.mark.parametrize(
    ("known", "text", "expected"),
    [
        (5, "+2", 7),
        (5, "-9", 0),
        (5, "-20%", 4),
        (5, "+10%", 5),
        ("500m", "+1", "1500m"),
        ("2", "-500m", "1500m"),
        ("1Gi", "-50%", "536870912"),
        (None, "-1", -1),
        (5, "7", 7),
        ("web", "+1", 1),
    ],
)
def test_a_sign_in_front_changes_the_number_that_a_field_has(
    known: Any, text: str, expected: Any
) -> None:
    data = {"kind": "Widget", "metadata": {"name": "w"}, "spec": {"n": known}}
    fleet = Supposed((Manifest({"apiVersion": "v1", **data}),))
    (changed,) = FieldSetting("Widget/w", ("spec", "n"), text).applied(fleet).manifests
    assert changed.data["spec"]["n"] == expected
