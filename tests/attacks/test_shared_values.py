"""A value that an override gives a Secret is shown in no other object that gets it, by the same rule or another."""

from __future__ import annotations

import json
from contextlib import chdir
from pathlib import Path

import pytest

from fleet_components import Fleet
from fleet_components.testing import redact, run_program
from tests.attacks.test_canary import FORMS, said, unpacked, written
from tests.cli.fleets import PROJECT, export, write

VALUE = "Y2FuYXJ5LW9mLXRoZS1vdmVycmlkZQ=="
OBJECTS = """
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: shop}
data: {a: YQ==}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {a: public}
"""
KARMADA = f"""
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {{name: east}}
spec: {{syncMode: Push}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {{name: shop}}
spec:
  resourceSelectors:
  - {{apiVersion: v1, kind: Secret, namespace: shop}}
  - {{apiVersion: v1, kind: ConfigMap, namespace: shop}}
---{OBJECTS}---
"""
KUBEFLEET = f"""
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: {{name: east, labels: {{env: prod}}}}
spec: {{identity: {{kind: ServiceAccount, name: east, namespace: fleet-system}}}}
---
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {{name: shop}}
spec:
  resourceSelectors: [{{group: "", version: v1, kind: Namespace, name: shop}}]
  policy: {{placementType: PickAll}}
---{OBJECTS}---
"""
CLUSTER_POLICY = """
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterOverridePolicy
metadata: {name: all}
spec:
  overrideRules:
  - overriders:
      plaintext:
"""
RESOURCE_OVERRIDE = """
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: %s
metadata: %s
spec:
  %s
  policy:
    overrideRules:
    - clusterSelector: {clusterSelectorTerms: [{labelSelector: {matchLabels: {env: prod}}}]}
      jsonPatchOverrides:
"""
BOTH = (
    'resourceSelectors: [{group: "", version: v1, kind: Secret, name: keys}, '
    '{group: "", version: v1, kind: ConfigMap, name: settings}]'
)
NAMESPACE = 'clusterResourceSelectors: [{group: "", version: v1, kind: Namespace, name: shop}]'
ONE = f"      - {{operator: add, path: /data/password, value: {VALUE}}}\n"
WHOLE = f"      - {{operator: replace, path: /data, value: {{password: {VALUE}}}}}\n"
OF_KIND = """
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: %s, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: v1, kind: %s}]
  overrideRules:
  - overriders:
      plaintext:
"""
# Without the namespace, which the policy could not be applied to.
ALONE = KARMADA.replace("kind: Namespace", "kind: LimitRange")
HELD = KARMADA.replace(
    "resourceSelectors:", "resourceSelectors:\n  - {apiVersion: v1, kind: Namespace, name: shop}"
)
FLEETS = {
    "a policy without selectors": ALONE + CLUSTER_POLICY + ONE,
    "a whole field": ALONE + CLUSTER_POLICY + WHOLE,
    "two policies": ALONE
    + OF_KIND % ("a", "Secret")
    + ONE
    + "---"
    + OF_KIND % ("b", "ConfigMap")
    + ONE,
    "a ResourceOverride": KUBEFLEET
    + RESOURCE_OVERRIDE % ("ResourceOverride", "{name: all, namespace: shop}", BOTH)
    + ONE.replace("operator", "op"),
    "a variable": KUBEFLEET
    + RESOURCE_OVERRIDE % ("ResourceOverride", "{name: all, namespace: shop}", BOTH)
    + ONE.replace("operator", "op").replace(VALUE, f'"{VALUE[:-2]}${{MEMBER-CLUSTER-NAME}}"'),
    "a namespace": KUBEFLEET
    + RESOURCE_OVERRIDE % ("ClusterResourceOverride", "{name: all}", NAMESPACE)
    + WHOLE.replace("operator: replace", "op: add"),
}


def shown(text: str) -> list[str]:
    return [line for line in text.splitlines() if VALUE.rstrip("=") in line]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fleet", FLEETS.values(), ids=FLEETS)
def test_a_plan(tmp_path: Path, fleet: str, form: tuple[str, ...]) -> None:
    """It is in no form of a plan, whether the object is new or changes, and the public value beside it is shown."""
    with chdir(tmp_path):
        write(Path("fleet"), {"fleet.yaml": fleet})
        new = said(*form, "fleet")
        assert not shown(new)
        assert "settings" in new
        before = said("render", "fleet", "--out", "out", "--show-secrets")
        assert Path("out/local/state.json").exists(), before
        write(Path("fleet"), {"fleet.yaml": fleet.replace(VALUE[:-3], f"{VALUE[:-4]}A")})
        changed = said(*form, "fleet", "--state", "out/local/state.json")
        assert VALUE[:-4] not in changed
        assert "settings" in changed


@pytest.mark.parametrize("fleet", FLEETS.values(), ids=FLEETS)
def test_a_render(tmp_path: Path, fleet: str) -> None:
    """It is in no file, also not in what the next render reads; a plan from there finds no change."""
    with chdir(tmp_path):
        write(Path("fleet"), {"fleet.yaml": fleet})
        said("render", "fleet", "--out", "out")
        texts = [*written(Path("out"))]
        assert any("settings" in text for text in texts)
        assert not [text for text in texts if shown(text)]
        again = said("plan", "fleet", "--state", "out/local/state.json")
        assert "nothing changes" in again, again


@pytest.mark.parametrize("fleet", FLEETS.values(), ids=FLEETS)
def test_with_secrets(tmp_path: Path, fleet: str) -> None:
    """Who asks for secrets gets them, in the ConfigMap too."""
    with chdir(tmp_path):
        write(Path("fleet"), {"fleet.yaml": fleet})
        said("render", "fleet", "--out", "out", "--show-secrets")
        (file,) = Path("out").rglob("*configmap*.yaml")
        assert shown(file.read_text())


@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.parametrize("fleet", FLEETS.values(), ids=FLEETS)
def test_a_stack(tmp_path: Path, fleet: str, encrypted: bool) -> None:
    """The engine gets it as a secret, so that no preview and no state has it as it is."""
    with chdir(tmp_path):
        write(Path("."), {name: data for name, data in PROJECT.items() if "/fleet/" not in name})
        write(Path("stacks/fleet"), {"fleet.yaml": fleet})
        config = {
            "fleet:source": str(Path("stacks/fleet").resolve()),
            "fleet:render": "../rendered",
        }
        done = run_program(
            lambda: Fleet.from_config("dev"),
            project="web",
            stack="dev",
            config=config,
            preview=False,
        )
        assert done.error is None
        registered = [redact(registration.inputs) for registration in done.registrations]
        assert any("settings" in str(item) for item in registered)
        assert not shown(json.dumps(registered, default=str))
        Path("state.json").write_text(json.dumps(export(done, encrypted=encrypted)))
        assert "nothing changes" in said("plan", ".", "--state", "state.json", "--any-state")


def test_a_value_of_no_secret_is_shown(tmp_path: Path) -> None:
    """Where no Secret gets it, or another value or field is meant, a reviewer sees what a policy writes."""
    alone = KARMADA + OF_KIND % ("b", "ConfigMap") + ONE
    elsewhere = KARMADA + OF_KIND % ("a", "Secret") + ONE + "---" + OF_KIND % ("b", "ConfigMap")
    elsewhere += ONE.replace("password", "other")
    with chdir(tmp_path):
        for fleet in (alone, elsewhere):
            write(Path("fleet"), {"fleet.yaml": fleet})
            assert shown(said("plan", "fleet", "--diff"))


def test_what_a_state_keeps(tmp_path: Path) -> None:
    """The rules of a render without secrets can be unpacked, and do not have it."""
    with chdir(tmp_path):
        write(Path("fleet"), {"fleet.yaml": FLEETS["a policy without selectors"]})
        said("render", "fleet", "--out", "out")
        kept = [*unpacked(json.loads(Path("out/local/state.json").read_text()))]
        assert any("[secret]" in text for text in kept)
        assert not any(shown(text) for text in kept)


@pytest.mark.parametrize("form", FORMS)
def test_a_held_update(tmp_path: Path, form: tuple[str, ...]) -> None:
    """It is not shown either where the rule fails on another object, so that nothing is sent yet."""
    with chdir(tmp_path):
        write(Path("fleet"), {"fleet.yaml": HELD + CLUSTER_POLICY + ONE})
        new = said(*form, "fleet")
        assert "settings" in new
        assert not shown(new)
