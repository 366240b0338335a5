"""A small Karmada fleet that tests change from run to run, as its users would: by editing YAML."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import attrs
import yaml

from fleet_components import Fleet
from fleet_components.testing import ProgramRun, Registration, StackState, run_program
from tests.delivery.driver import Outcome, changes, cluster_of, is_deployment, kubeconfigs

POLICY = "policy.karmada.io/v1alpha1"
WEB = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}


def member(name: str, **spec: Any) -> dict[str, Any]:
    """A member as Karmada declares it."""
    labels = spec.pop("labels", {})
    return {
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": name, "labels": labels},
        "spec": {"syncMode": "Push", **spec},
    }


def deployment(replicas: int | None = 2, image: str = "web:1", name: str = "web", **pod: Any) -> dict[str, Any]:
    """A Deployment in the namespace ``shop``."""
    labels = {"app": name}
    spec = {"containers": [{"name": name, "image": image}], **pod}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", "labels": labels},
        "spec": {
            **({} if replicas is None else {"replicas": replicas}),
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def policy(name: str = "web", kind: str = "PropagationPolicy", **spec: Any) -> dict[str, Any]:
    """A policy for the Deployment ``web``."""
    metadata = {"name": name} if kind.startswith("Cluster") else {"name": name, "namespace": "shop"}
    whole = {"resourceSelectors": [WEB], **spec}
    return {"apiVersion": POLICY, "kind": kind, "metadata": metadata, "spec": whole}


def weights(**by_member: int) -> dict[str, Any]:
    """A placement that divides replicas by static weights."""
    rules = [{"targetCluster": {"clusterNames": [name]}, "weight": weight} for name, weight in by_member.items()]
    return {
        "replicaScheduling": {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Weighted",
            "weightPreference": {"staticWeightList": rules},
        }
    }


def on(*members: str) -> dict[str, Any]:
    """A placement that takes these members."""
    return {"clusterAffinity": {"clusterNames": list(members)}}


@attrs.define
class World:
    """What the user has written, and the stack that came of it.

    Attributes:
        members: the members by name.
        objects: everything else, by a name of the test's own.
        config: further ``fleet:`` configuration.
        state: the stack.
    """

    members: dict[str, dict[str, Any]] = attrs.field(factory=lambda: {n: member(n) for n in ("a", "b", "c")})
    objects: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    config: dict[str, Any] = attrs.field(factory=dict)
    state: StackState = StackState()

    def up(self, fails: Collection[str] = ()) -> Outcome:
        """Update; on the named clusters Deployments are refused."""
        run = self.run(preview=False, fails=fails)
        self.state = run.state()
        return _outcome(run)

    def preview(self) -> Outcome:
        """What an update would do."""
        return _outcome(self.run())

    def run(self, *, preview: bool = True, fails: Collection[str] = ()) -> ProgramRun:
        """Run the program."""

        def refused(registration: Registration) -> bool:
            return is_deployment(registration.type) and cluster_of(registration.name) in fails

        with tempfile.TemporaryDirectory() as folder:
            documents = [*self.members.values(), *self.objects.values()]
            (Path(folder) / "fleet.yaml").write_text(yaml.safe_dump_all(documents))
            config = {f"fleet:{key}": value for key, value in self.config.items()}
            return run_program(
                lambda: Fleet.from_config("dev"),
                state=self.state,
                config={"fleet:source": folder, "fleet:kubeconfigs": kubeconfigs(self.members), **config},
                preview=preview,
                fails=refused,
            )

    def stands(self, kind: str = "Deployment") -> dict[str, Mapping[str, Any]]:
        """What really stands of a kind, by cluster."""
        found = (r for r in self.state.resources.values() if r.type.endswith(f":{kind}") and "@" in r.name)
        return {cluster_of(r.name): r.inputs for r in found}

    def replicas(self) -> dict[str, int]:
        """The replicas of the Deployments that really stand, by cluster."""
        return {cluster: int(data["spec"]["replicas"]) for cluster, data in self.stands().items()}

    def images(self) -> dict[str, str]:
        """Their images."""
        return {c: data["spec"]["template"]["spec"]["containers"][0]["image"] for c, data in self.stands().items()}

    def decided(self, key: str = "shop/Deployment/web") -> Mapping[str, Any]:
        """The inputs of a template's placement as the state holds them."""
        return next(r.inputs for r in self.state.resources.values() if r.inputs.get("key") == f"Template/{key}")


def _outcome(run: ProgramRun) -> Outcome:
    text = "\n".join([message for _, message in run.messages] + ([str(run.error)] if run.error else []))
    return Outcome(run.error is None, text, changes(run))
