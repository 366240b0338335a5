"""What a fleet delivers, as a program without one makes it: the same objects through a provider for each member."""

from __future__ import annotations

from pathlib import Path

import pulumi
import yaml
from pulumi_kubernetes import Provider
from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.core.v1 import ConfigMap, Namespace, ServiceAccount

KINDS = {"ConfigMap": ConfigMap, "ServiceAccount": ServiceAccount, "Deployment": Deployment}

space, *objects = list(yaml.load(Path("fleet/objects.yaml").read_text(), yaml.CSafeLoader)["items"])
ordered = pulumi.Config("bench").get_bool("ordered")
before: list[pulumi.Resource] = []
for member, kubeconfig in pulumi.Config("fleet").require_object("kubeconfigs").items():
    provider = Provider(
        member,
        kubeconfig=pulumi.Output.secret(Path(kubeconfig).read_text()),
        cluster_identifier=member,
        enable_config_map_mutable=True,
        enable_secret_mutable=True,
        upsert_existing_objects=True,
    )
    options = pulumi.ResourceOptions(provider=provider, depends_on=before if ordered else None)
    namespace = Namespace(member, metadata=space["metadata"], opts=options)
    options = pulumi.ResourceOptions(provider=provider, depends_on=[namespace])
    before = [
        KINDS[data["kind"]](
            f"{member}/{data['kind']}/{data['metadata']['name']}",
            opts=options,
            **{field: data[field] for field in ("metadata", "spec", "data") if field in data},
        )
        for data in objects
    ]
