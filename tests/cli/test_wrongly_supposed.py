"""What cannot be supposed: each is refused with what is wrong, where, and what would do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.fleets import PLACEMENT, run, write
from tests.cli.supposed import dumped, karmada, kubefleet, named, options, simulated
from tests.delivery.karmada.world import member


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "before").mkdir()
    monkeypatch.chdir(tmp_path / "before")
    return tmp_path


SHOP = "ClusterResourcePlacement/shop"
WRONG: Sequence[tuple[str, str]] = (
    ("--lose dubln", 'error: there is no member "dubln"\n  hint: did you mean dublin?'),
    ("--lose x-*", 'error: there is no member "x-*"\n  hint: the members are: amsterdam, dublin, iowa, virginia'),
    ("--lose region=europ", "error: no member has region=europ\n  hint: did you mean europe?"),
    ("--lose regon=europe", 'error: no member has a label "regon"\n  hint: did you mean region?'),
    ("--lose ", "write MEMBER|LABEL=VALUE, as in --lose aks-iowa"),
    ("--sweep regoin", 'error: no member has a label "regoin"\n  hint: did you mean region?'),
    ("--add dublin:like=iowa", 'error: there is a member "dublin" already'),
    ("--add oslo:like=dubln", "hint: did you mean dublin?"),
    ("--add oslo:like=*", "error: * (4 members: amsterdam, dublin, iowa, virginia) is not a MemberCluster or Cluster of its"),
    ("--add oslo:likedublin", "write NAME[:like=MEMBER][,LABEL=VALUE...], as in --add aks-oslo:like=aks-dublin"),
    ("--add oslo:a=b,a=c", "a is given twice"),
    ("--add OSLO:like=dublin", "error: as supposed: MemberCluster OSLO: metadata.name: "),
    ("--set dublin:labels=a", "labels: cannot be set\n  hint: write labels.KEY=VALUE"),
    ("--set dublin:labels.nothing=null", "error: dublin has no labels.nothing\n  hint: nothing would change"),
    ("--set dublin:labels[a b]=c", "error: as supposed: MemberCluster dublin: metadata.labels.a b: "),
    ("--set dublin:taints.a=Never", "error: as supposed: MemberCluster dublin: spec.taints[0].effect: "),
    ("--set dublin:taints.a.NoSchedule=x", "taints.a.NoSchedule: cannot be set\n  hint: write taints.KEY=EFFECT"),
    ("--set dublin:taints.maintenance=null", "error: dublin has no taints.maintenance\n"),
    ("--set iowa:taints.maintenance.NoExecute=null", "error: iowa has no taints.maintenance.NoExecute\n"),
    ("--set dublin:properties=1", "properties: cannot be set\n  hint: write properties[NAME]=VALUE"),
    ("--set dublin:capacity.cpu=lots", "capacity.cpu: lots is not a quantity\n  hint: write capacity.RESOURCE=AMOUNT"),
    ("--set dublin:capacity.cpu=null", "capacity.cpu: cannot be set\n  hint: write capacity.RESOURCE=AMOUNT"),
    ("--set dublin:capacity.gpu=+1", "error: fleet/membercluster-dublin.yaml:18: MemberCluster dublin: status.resourceUsage.allocatable.gpu: no amount of its gpu is known"),
    ("--set dublin:capacity.gpu=-20%", "no amount of its gpu is known"),
    ("--set dubln:labels.a=b", 'error: there is no member "dubln"\n  hint: did you mean dublin?'),
    ("--set region=europ:labels.a=b", "error: no member has region=europ\n  hint: did you mean europe?"),
    ("--set ClusterResourcePlacement/x*:spec.x=1", 'error: there is no object "ClusterResourcePlacement/x*"'),
    ("--set dublin", "write MEMBER|KIND/NAME:FIELD=VALUE, as in"),
    ("--set dublin:spec", "write MEMBER|KIND/NAME:FIELD=VALUE, as in"),
    ("--set a=b:c", "write MEMBER|KIND/NAME:FIELD=VALUE, as in"),
    (f"--set {SHOP}:spec.policy.numberOfCluster=3", 'error: as supposed: ClusterResourcePlacement shop: spec.policy.numberOfCluster: unknown field'),
    (f"--set {SHOP}:spec.policy.numberOfClusters=many", "error: as supposed: ClusterResourcePlacement shop: spec.policy.numberOfClusters: "),
    (f"--set {SHOP}:spec.resourceSelectors[4].name=x", "spec.resourceSelectors[4]: there is no such item\n  hint: the list has 1; the next one is [1]"),
    (f"--set {SHOP}:spec.resourceSelectors.name=x", "spec.resourceSelectors.name: the field above it is a list"),
    (f"--set {SHOP}:spec.policy.numberOfClusters.x=1", "the field above it is a single value"),
    (f"--set {SHOP}:spec..x=1", "spec..x is not the path of a field"),
    (f"--set {SHOP}:spec.x={{", "what is behind = is not a value in YAML"),
    ("--set ClusterResourcePlacement/shp:spec.x=1", 'error: there is no object "ClusterResourcePlacement/shp"\n  hint: did you mean ClusterResourcePlacement/shop?'),
    ("--set shop:spec.x=1", 'error: there is no member "shop"'),
    ("--policy nowhere.yaml", "error: nowhere.yaml: cannot be read: No such file or directory"),
    ("--policy -", "give a file: standard input is taken by DIR and --state only"),
    ("--policy twice.yaml", "error: twice.yaml:25: ClusterResourcePlacement shop: metadata.name: given twice"),
    ("--sweep region --diff", "and --sweep makes many"),
    ("--sweep region --sweep member", "region, member is more than one"),
    ("--sweep region --member dublin", "and --sweep makes many"),
    ("--stack local", "say what is supposed: --lose, --add, --set, --policy, or --sweep"),
)  # fmt: skip


@pytest.mark.samples(8)
@pytest.mark.parametrize(("wrong", "expected"), WRONG, ids=[wrong for wrong, _ in WRONG])
def test_what_cannot_be_supposed_is_refused_with_what_would_do(
    folder: Path, wrong: str, expected: str
) -> None:
    dumped(folder / "before/fleet", kubefleet())
    write(folder / "before", {"twice.yaml": f"{PLACEMENT}---\n{PLACEMENT}"})
    result = run("simulate", "fleet", *options(wrong))
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    assert expected in result.stderr


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (
            "--set a:properties[kubernetes.azure.com/per-cpu-core-cost]=1",
            "Cluster a: has no properties: Karmada knows no kubernetes.azure.com/per-cpu-core-cost",
        ),
        (
            "--set a:capacity.memory=+1Gi",
            "status.resourceSummary.allocatable.memory: no amount of its memory is known",
        ),
        (
            "--set b:capacity.cpu=1",
            "status.resourceSummary.allocatableModelings: counts its nodes by grades",
        ),
        ("--set Deployment/shop/wep:spec.replicas=1", "hint: did you mean Deployment/shop/web?"),
        (
            "--set PropagationPolicy/web:spec.placement.x=1",
            "as supposed: PropagationPolicy shop/web: spec.placement.x: unknown field",
        ),
    ],
)
def test_what_karmada_does_not_know_is_refused(folder: Path, wrong: str, expected: str) -> None:
    objects = karmada()
    named(objects, "b")["status"]["resourceSummary"]["allocatableModelings"] = [
        {"grade": 0, "count": 2}
    ]
    dumped(folder / "before/fleet", objects)
    result = run("simulate", "fleet", *options(wrong))
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    assert expected in result.stderr


def test_all_that_is_wrong_is_said_at_once(folder: Path) -> None:
    dumped(folder / "before/fleet", kubefleet())
    result = run(
        "simulate", "fleet", "--lose", "dubln", "--set", "iwa:labels.a=b", "--set", "Secret/x:a=b"
    )
    assert result.stderr.count("error: ") == 3


def test_a_new_member_of_a_fleet_of_both_systems_has_to_be_like_one(folder: Path) -> None:
    dumped(folder / "before/fleet", [*kubefleet(), member("k")])
    result = run("simulate", "fleet", "--add", "oslo")
    assert "could be a MemberCluster or Cluster: the fleet has both" in result.stderr
    assert run("simulate", "fleet", "--add", "oslo:like=k").exit_code == 0
    dumped(folder / "before/other", kubefleet())
    (shop,) = simulated("other", "--add", "oslo:environment=production", "--lose", "dublin")[
        "subjects"
    ]
    assert "oslo" in {item["name"] for item in shop["clusters"]}


def test_a_member_of_a_list_is_changed_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    for change in ("--set eus-1:labels.a=b", "--add new:like=eus-1", "--set eus-1:capacity.cpu=1"):
        result = run("simulate", "stacks/azure", *options(change))
        assert result.exit_code == 1
        assert "eus-1 is not a MemberCluster or Cluster of its own" in result.stderr
    there = "Members/shop:spec.members[2]=null"
    lines = run("simulate", "stacks/azure", "--set", there).stdout.splitlines()
    assert lines[0].startswith("eus-1 leaves the fleet")
    assert '"region": "eastus2", "group": "second"} -> none' in lines[2]
    assert run("simulate", "stacks/azure", "--lose", "region=eastus2").stdout.startswith(
        "shop moves from eus-1"
    )
