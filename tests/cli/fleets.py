"""Small fleets on disk, and the command run on them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from fleet_components.cli.command import fleet
from fleet_components.testing import ProgramRun

MEMBERS = """\
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata:
  name: amsterdam
  labels: {region: europe, environment: production}
spec:
  identity: {kind: ServiceAccount, name: amsterdam, namespace: fleet-system}
status:
  properties:
    kubernetes.azure.com/per-cpu-core-cost: {value: "0.058"}
---
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata:
  name: dublin
  labels: {region: europe, environment: production}
spec:
  identity: {kind: ServiceAccount, name: dublin, namespace: fleet-system}
status:
  properties:
    kubernetes.azure.com/per-cpu-core-cost: {value: "0.049"}
---
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata:
  name: iowa
  labels: {region: america, environment: production}
spec:
  identity: {kind: ServiceAccount, name: iowa, namespace: fleet-system}
  taints:
  - {key: maintenance, value: "true", effect: NoSchedule}
status:
  properties:
    kubernetes.azure.com/per-cpu-core-cost: {value: "0.041"}
---
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata:
  name: virginia
  labels: {region: america, environment: test}
spec:
  identity: {kind: ServiceAccount, name: virginia, namespace: fleet-system}
"""

SHOP = """\
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: storefront, namespace: shop}
data:
  currency: EUR
---
apiVersion: v1
kind: Secret
metadata: {name: payment, namespace: shop}
stringData:
  token: hunter2-planted
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: storefront, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: storefront}}
  template:
    metadata: {labels: {app: storefront}}
    spec:
      containers:
      - {name: storefront, image: "nginx:1.27.5"}
"""

PLACEMENT = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: shop}
spec:
  resourceSelectors:
  - {group: "", version: v1, kind: Namespace, name: shop}
  policy:
    placementType: PickN
    numberOfClusters: 2
    affinity:
      clusterAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          clusterSelectorTerms:
          - labelSelector: {matchLabels: {environment: production}}
        preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 60
          preference:
            propertySorter: {name: kubernetes.azure.com/per-cpu-core-cost, sortOrder: Ascending}
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxUnavailable: 1, maxSurge: 1}
"""

FLEET: Mapping[str, str] = {"members.yaml": MEMBERS, "shop.yaml": SHOP, "placement.yaml": PLACEMENT}

PROGRAM = """\
import pulumi
from fleet_components import Fleet

Fleet.from_config(pulumi.get_stack())
"""
PROJECT: Mapping[str, str] = {
    "Pulumi.yaml": "name: web\nruntime: python\nmain: stacks/\nstackConfigDir: stacks\n",
    "stacks/__main__.py": PROGRAM,
    "stacks/Pulumi.dev.yaml": "config:\n  fleet:source: fleet\n  fleet:render: ../rendered\n",
    **{f"stacks/fleet/{name}": text for name, text in FLEET.items()},
}
SECRET = "hunter2-planted"


def write(folder: Path, files: Mapping[str, str | bytes] = FLEET) -> Path:
    """Write files into a folder."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def edit(file: Path, old: str, new: str) -> None:
    """Change a file; what is changed has to be in it."""
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def run(
    *args: object,
    width: int | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str | bytes | None = None,
) -> Result:
    """Run the command, which is asked for a project where there is one; a fault of its own comes through."""
    surroundings = {"COLUMNS": str(width) if width else None, "NO_COLOR": None, **(env or {})}
    words = asking([str(arg) for arg in args])
    return CliRunner().invoke(fleet, words, input=stdin, env=surroundings, catch_exceptions=False)


def asking(words: list[str]) -> list[str]:
    """The words of a command line, with ``--project`` where the path is a project and nothing asks to run it yet."""
    asked = {"--project", "--stack", "--no-program"}.intersection(words)
    project = any((Path(word) / "Pulumi.yaml").is_file() for word in words)
    return [*words, "--project"] if project and not asked else words


def plan(*args: object, status: int = 0) -> dict[str, Any]:
    """The document of a plan; with status 3 of one that is refused."""
    result = run("plan", "--all", *args, "-o", "json")
    assert result.exit_code == status, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def clusters(document: Mapping[str, Any], placement: str = "shop") -> dict[str, str]:
    """What happens to each member of a placement."""
    found = next(item for item in document["subjects"] if item["key"] == placement)
    return {cluster["name"]: cluster["change"] for cluster in found["clusters"]}


def export(run: ProgramRun, *, encrypted: bool) -> dict[str, Any]:
    """The state after a run, as ``pulumi stack export`` prints it with or without ``--show-secrets``."""
    resources = [
        {
            "urn": r.urn,
            "type": r.type,
            "custom": r.custom,
            "id": f"id-of-{r.name}",
            "inputs": _stored(r.inputs, encrypted),
            "outputs": _stored(r.inputs if r.custom else run.registered.get(r.urn, {}), encrypted),
            "parent": r.parent,
            "provider": r.provider,
            "dependencies": list(r.dependencies),
            **{key: True for key in ("retainOnDelete", "protect") if r.options.get(key)},
        }
        for r in run.registrations
    ]
    root = resources[0]["urn"].split("::")
    stack = f"{root[0]}::{root[1]}::pulumi:pulumi:Stack::{root[1]}-{root[0].rpartition(':')[2]}"
    default = f"{root[0]}::{root[1]}::pulumi:providers:pulumi-python::default"
    outputs = _stored(run.exports, encrypted)
    own = [
        {"urn": stack, "type": "pulumi:pulumi:Stack", "outputs": outputs},
        {"urn": default, "type": "pulumi:providers:pulumi-python"},
    ]
    return {"version": 3, "deployment": {"resources": [*own, *resources]}}


_SIGNATURE = "4dabf18193072939515e22adb298388d"


def _stored(value: Any, encrypted: bool) -> Any:
    """A value as it stands in an export."""
    if isinstance(value, Mapping) and _SIGNATURE in value:
        hidden = (
            {"ciphertext": "v1:unreadable"}
            if encrypted
            else {"plaintext": json.dumps(value["value"])}
        )
        return {_SIGNATURE: value[_SIGNATURE], **hidden}
    if isinstance(value, Mapping):
        return {key: _stored(item, encrypted) for key, item in value.items()}
    return [_stored(item, encrypted) for item in value] if isinstance(value, list) else value
