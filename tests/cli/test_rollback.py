"""``fleet rollback``: what is put back, that nothing else changes, and that the plan has the content of the revision."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_components.content.hidden_text import shown_lines
from fleet_components.content.insertion import UnwritableError
from fleet_components.content.load import load_text
from fleet_components.content.restoration import restored
from fleet_components.plan.delivered import delivered
from fleet_components.review.planning.past import read_state
from fleet_components.review.planning.survey import CommandLine, survey
from tests.cli.fleets import FLEET, SECRET, SHOP, edit, run, write
from tests.delivery.driver import InProcess
from tests.delivery.test_staged import staged


def known(state: Path) -> CommandLine:
    return CommandLine(state=read_state(state)) if state.exists() else CommandLine()


def told(folder: Path, state: Path) -> None:
    """Let what is planned now count as delivered, Secrets included, in the form of an export."""
    plan = survey([folder], known(state)).plans[0]
    resources = [
        {
            "urn": item.urn,
            "type": item.type,
            "custom": True,
            "inputs": {},
            "outputs": dict(item.outputs),
        }
        for item in delivered(plan, redacted=False)
    ]
    state.write_text(json.dumps({"version": 3, "deployment": {"resources": resources}}))


def contents(folder: Path) -> tuple[int, Any]:
    """The number and the objects of the revision that all members are to run."""
    (decided,) = survey([folder], known(folder.parent / "state.json")).plans[0].subjects
    return decided.record.revision, decided.record.content(decided.record.revision)


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """A fleet that is delivered."""
    folder = write(tmp_path / "fleet")
    told(folder, tmp_path / "state.json")
    return folder


def rolled(folder: Path, *args: object) -> Any:
    return run("rollback", "shop", folder, "--state", folder.parent / "state.json", *args)


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_bytes().decode() for path in folder.iterdir()}


CHANGES = {
    "values": [
        ("nginx:1.27.5", "nginx:1.28.0"),
        ("currency: EUR", "currency: USD"),
        (SECRET, "other-planted"),
    ],
    "a field more": [
        ("replicas: 3", "paused: true\n  replicas: 3"),
        ("data:\n", "data:\n  # why\n  more: x\n"),
    ],
    "a field less": [("  replicas: 3\n", ""), ("data:\n  currency: EUR\n", "")],
    "a list": [
        (
            'image: "nginx:1.27.5"}',
            'image: "nginx:1.27.5", args: [a, "1"]}\n      - {name: b, image: c}',
        )
    ],
}


@pytest.mark.samples(4)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", ["plain", "crlf", "json", "bom"])
def test_it_is_planned_with_the_content_of_the_revision_under_a_new_number(
    tmp_path: Path, form: str, change: str
) -> None:
    text = SHOP
    for old, new in CHANGES[change]:
        assert old in text
        text = text.replace(old, new)

    def formed(text: str) -> str:
        if form == "json":
            items = list(yaml.safe_load_all(text))
            return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=2)
        return {"plain": text, "crlf": text.replace("\n", "\r\n"), "bom": f"\ufeff{text}"}[form]

    folder = write(tmp_path / "fleet", {**FLEET, "shop.yaml": formed(SHOP)})
    told(folder, tmp_path / "state.json")
    first, at_first = contents(folder)
    write(folder, {"shop.yaml": formed(text)})
    told(folder, tmp_path / "state.json")
    second, changed = contents(folder)
    assert (first, second) == (0, 1)
    assert changed != at_first
    before = texts(folder)
    assert rolled(folder, "--to", 0).exit_code == 0
    assert texts(folder) == before
    result = rolled(folder, "--to", 0, "--write")
    assert result.exit_code == 0, result.output
    assert "to revision 2" in result.output
    assert not any(secret in result.output for secret in (SECRET, "other-planted"))
    after = texts(folder)
    third, now = contents(folder)
    assert third == 2
    assert {json.dumps(item, sort_keys=True) for item in now} == {
        json.dumps(item, sort_keys=True) for item in at_first
    }
    assert {name: text for name, text in after.items() if name != "shop.yaml"} == {
        name: text for name, text in before.items() if name != "shop.yaml"
    }
    if change == "values":
        assert after["shop.yaml"] == formed(SHOP)
    if form == "crlf":
        assert "\n" not in after["shop.yaml"].replace("\r\n", "")
    assert "no file has to change" in rolled(folder, "--to", 0).output


def test_it_lists_the_kept_revisions_and_who_runs_them(fleet: Path) -> None:
    edit(fleet / "shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
    edit(
        fleet / "placement.yaml", "maxUnavailable: 1, maxSurge: 1", "maxUnavailable: 0, maxSurge: 0"
    )
    told(fleet, fleet.parent / "state.json")
    result = rolled(fleet)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "ClusterResourcePlacement/shop revision 1 (the newest), run by none",
        "ClusterResourcePlacement/shop revision 0, run by amsterdam, dublin",
    ]
    unknown = rolled(fleet, "--to", 7)
    assert unknown.exit_code == 1
    assert (
        "revision 7 is not kept\n  hint: kept are: 1 (the newest), run by none; 0, run by"
        in unknown.stderr
    )
    misspelt = run("rollback", "shpo", fleet, "--to", 0)
    assert misspelt.exit_code == 1
    assert "did you mean shop?" in misspelt.stderr
    assert rolled(fleet, "--to", 0, "--name", "x").exit_code == 1
    assert run("rollback", "shop", fleet).stdout.endswith("no revision is kept; give the --state\n")


def test_what_came_since_is_named_and_what_went_is_written_to_a_new_file(fleet: Path) -> None:
    text = SHOP.replace(
        "name: storefront, namespace: shop}\ndata", "name: other, namespace: shop}\ndata"
    )
    write(fleet, {"shop.yaml": text})
    told(fleet, fleet.parent / "state.json")
    result = rolled(fleet, "--to", 0, "--write")
    assert result.exit_code == 0, result.output
    assert (
        "ConfigMap shop/other: came after revision 0 and stays; if it is to go as well, take it out of"
        in (result.output)
    )
    assert (fleet / "shop.yaml").read_text() == text
    back = yaml.safe_load((fleet / "rollback-shop-0.yaml").read_text())
    assert (back["metadata"]["name"], back["data"]) == ("storefront", {"currency": "EUR"})
    edit(
        fleet / "shop.yaml",
        text[
            text.index("apiVersion: v1\nkind: ConfigMap") : text.index(
                "---\napiVersion: v1\nkind: Secret"
            )
        ],
        "",
    )
    _, now = contents(fleet)
    assert {item["metadata"]["name"] for item in now if item["kind"] == "ConfigMap"} == {
        "storefront"
    }


def test_an_envelope_is_put_back_as_it_is_written(tmp_path: Path) -> None:
    envelope = """\
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourceEnvelope
metadata: {name: wrap, namespace: shop}
data:
  quota.yaml:
    apiVersion: v1
    kind: ResourceQuota
    metadata: {name: quota, namespace: shop}
    spec: {hard: {pods: "1"}}
"""
    folder = write(tmp_path / "fleet", {**FLEET, "wrap.yaml": envelope})
    told(folder, tmp_path / "state.json")
    edit(folder / "wrap.yaml", 'pods: "1"', 'pods: "2"')
    told(folder, tmp_path / "state.json")
    result = rolled(folder, "--to", 0)
    assert result.exit_code == 0, result.output
    assert '-    spec: {hard: {pods: "2"}}' in result.output
    assert '+    spec: {hard: {pods: "1"}}' in result.output
    assert rolled(folder, "--to", 0, "--write").exit_code == 0
    assert (folder / "wrap.yaml").read_text() == envelope


def test_a_state_that_hides_contents_is_refused(fleet: Path) -> None:
    edit(fleet / "shop.yaml", SECRET, "other-planted")
    told(fleet, fleet.parent / "state.json")
    state = json.loads((fleet.parent / "state.json").read_text())
    for item in state["deployment"]["resources"]:
        if "contents" in item["outputs"]:
            item["outputs"]["contents"] = {
                "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"
            }
    (fleet.parent / "state.json").write_text(json.dumps(state))
    result = rolled(fleet, "--to", 0)
    assert result.exit_code == 1
    assert "the state does not show the contents of its revisions" in result.stderr
    assert (
        "hint: give a state that does: pulumi stack export --show-secrets --file FILE"
        in result.stderr
    )


def test_a_secret_whose_data_is_not_known_is_never_written(fleet: Path) -> None:
    """The state of a render has no data of Secrets."""
    out = fleet.parent / "out"
    assert run("render", fleet, "--out", out).exit_code == 0
    state = out / "local" / "state.json"
    edit(fleet / "shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
    same = run("rollback", "shop", fleet, "--to", 0, "--state", state)
    assert same.exit_code == 0, same.output
    assert "Secret shop/payment: stays as it is: the state does not show its data" in same.output
    edit(fleet / "shop.yaml", "token: ", "pass: ")
    before = texts(fleet)
    refused = run("rollback", "shop", fleet, "--to", 0, "--state", state, "--write")
    assert refused.exit_code == 1
    assert "Secret shop/payment: the state does not show its data" in refused.stderr
    assert texts(fleet) == before


def test_a_placement_in_stages_goes_back_by_an_update_run(tmp_path: Path) -> None:
    driver = InProcess()
    staged(driver)
    driver.world.write(tmp_path / "fleet")
    told(tmp_path / "fleet", tmp_path / "state.json")
    driver.world.image = "web:2"
    driver.world.extra = [*driver.world.extra, copy.deepcopy(driver.world.extra[1])]
    driver.world.extra[2]["metadata"]["name"] = "second"
    driver.world.write(tmp_path / "fleet")
    told(tmp_path / "fleet", tmp_path / "state.json")
    result = rolled(tmp_path / "fleet", "--to", 0, "--write")
    assert result.exit_code == 0, result.output
    (run_back,) = yaml.safe_load_all((tmp_path / "fleet" / "shop-rollback-0.yaml").read_text())
    assert (run_back["kind"], run_back["metadata"]) == (
        "ClusterStagedUpdateRun",
        {"name": "shop-rollback-0"},
    )
    assert run_back["spec"] == {
        "placementName": "shop",
        "resourceSnapshotIndex": "0",
        "state": "Run",
        "stagedRolloutStrategyName": "careful",
    }
    for wave, member in enumerate("abcd", 1):
        assert (
            f"ClusterResourcePlacement/shop: wave {wave}: {member} to revision 0\n" in result.output
        )
    taken = rolled(tmp_path / "fleet", "--to", 0)
    assert taken.exit_code == 1
    assert "give another one: --name NAME" in taken.stderr
    assert rolled(tmp_path / "fleet", "--to", 0, "--name", "again").exit_code == 0


DEPLOYMENT = """\
# the shop
kind: ConfigMap
apiVersion: v1
metadata: {name: a}
---
kind: Deployment
apiVersion: apps/v1
metadata: {name: a}
spec:
  replicas: 3  # three
  # what runs
  template:
    spec:
      containers:
      - image: a  # the first
        name: b
      - {name: c, image: d}
---
kind: ConfigMap
apiVersion: v1
metadata: {name: last}
"""


def changed(text: str, change: Any) -> str:
    manifest = next(item for item in load_text(text) if item.kind == "Deployment")
    data = copy.deepcopy(dict(manifest.data))
    change(data["spec"])
    return restored(text, manifest, data)


def test_only_the_values_that_differ_are_written() -> None:
    def set_image(spec: Any) -> None:
        spec["template"]["spec"]["containers"][0]["image"] = "x:1"
        spec["template"]["spec"]["containers"][1]["image"] = "yes"

    expected = DEPLOYMENT.replace("image: a  #", "image: x:1  #").replace(
        "image: d}", 'image: "yes"}'
    )
    assert changed(DEPLOYMENT, set_image) == expected
    assert changed(DEPLOYMENT, lambda spec: spec.pop("replicas")) == DEPLOYMENT.replace(
        "  replicas: 3  # three\n", ""
    )
    more = changed(DEPLOYMENT, lambda spec: spec.update(paused=True))
    assert more == DEPLOYMENT.replace("  replicas: 3", "  paused: true\n  replicas: 3")


def test_what_an_anchor_shares_is_not_changed_for_others() -> None:
    apart = DEPLOYMENT.replace("replicas: 3", "replicas: &three 3\n  revisionHistoryLimit: *three")
    text = changed(apart, lambda spec: spec.update(replicas=4))
    (_, found, _) = yaml.safe_load_all(text)
    assert (found["spec"]["replicas"], found["spec"]["revisionHistoryLimit"]) == (4, 3)
    item = "{kind: Deployment, apiVersion: apps/v1, metadata: {name: %s}, spec: %s}"
    shared = f"kind: List\napiVersion: v1\nitems:\n- {item % ('a', '&s {replicas: 1}')}\n- {item % ('b', '*s')}\n"
    with pytest.raises(UnwritableError):
        changed(shared, lambda spec: spec.update(replicas=2))


@pytest.mark.parametrize(
    "secret",
    [
        "kind: Secret\nstringData:\n  # was hunter1\n  token: hunter2\n  more: |\n    hunter3\n    a: hunter4\ntype: x\n",
        "{kind: Secret, stringData: {token: hunter2}}\n",
        '{"kind": "Secret",\n "data": {\n  "token": "hunter2"}\n}\n',
        "kind: ConfigMap\ndata:\n  a: |\n    kind: Secret\n    data: {a: hunter2}\n",
        "kind: List\nitems:\n- kind: Secret\n  data: {a: hunter2}\n- kind: SecretList\n  items: [hunter3]\n",
    ],
)
def test_lines_show_nothing_secret(secret: str) -> None:
    text = f"kind: ConfigMap\ndata: {{a: shown}}\n---\n{secret}---\nkind: Namespace\n"
    lines = shown_lines(text)
    assert len(lines) == len(text.splitlines())
    assert "hunter" not in "\n".join(lines)
    assert lines[1] == "data: {a: shown}"
    assert lines[-1] == "kind: Namespace"
