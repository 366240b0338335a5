"""A program with Kubernetes resources of its own, and with a fleet in a later release."""

from __future__ import annotations

from pathlib import Path

import pulumi
import yaml
from pulumi_kubernetes import Provider
from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.core.v1 import ConfigMap, Namespace

from fleet_components import Fleet

KINDS = {"Namespace": Namespace, "ConfigMap": ConfigMap, "Deployment": Deployment}

if pulumi.Config("own").get_bool("plain"):
    provider = Provider(
        "west", kubeconfig=pulumi.Config("fleet").require_object("kubeconfigs")["a"]
    )
    before: list[pulumi.Resource] = []
    for data in yaml.safe_load_all(Path("fleet/fleet.yaml").read_text()):
        if kind := KINDS.get(data["kind"]):
            fields = {key: data[key] for key in ("metadata", "spec", "data") if key in data}
            options = pulumi.ResourceOptions(provider=provider, depends_on=before)
            before = [kind(f"my-{data['kind'].lower()}", opts=options, **fields)]
else:
    Fleet.from_config("dev")
