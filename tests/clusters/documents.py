"""YAML documents, and how an API server judges them without keeping them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import yaml
from httpx2 import Client, Timeout
from lightkube import KubeConfig
from lightkube.config import client_adapter

from tools.clusters.cluster import Cluster

Document = dict[str, Any]


def documents(folder: Path) -> list[Document]:
    """The objects in a YAML file, or in all of a folder and those below it."""
    files = sorted(folder.rglob("*.yaml")) if folder.is_dir() else [folder]
    return [
        found
        for file in files
        for found in yaml.safe_load_all(file.read_text())
        if found and "kind" in found
    ]


def namespaces_of(found: Iterable[Document]) -> list[Document]:
    """The namespaces that objects are in, as documents."""
    names = {item["metadata"].get("namespace") for item in found} - {None, "default"}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for name in sorted(names)
    ]


@attrs.define
class Judge:
    """A connection to an API server, and the kinds that it is known to serve."""

    client: Client
    paths: dict[tuple[str, str], str] = attrs.field(factory=dict)

    def make(self, wanted: Iterable[Document], **options: str) -> None:
        """Make objects, or change those that are there, and wait until definitions are served.

        Raises:
            AssertionError: one is refused; the API server says why.
        """
        for item in wanted:
            refusal = self._apply(item, **options)
            assert not refusal, refusal
            if item["kind"] == "CustomResourceDefinition":
                group, version = item["spec"]["group"], item["spec"]["versions"][0]["name"]
                while not self._find(f"{group}/{version}", item["spec"]["names"]["kind"]):
                    pass

    def refused(self, tried: Iterable[Document]) -> list[str]:
        """Why the API server would not take objects, not even a field that it does not know; nothing is kept."""
        return [
            said
            for item in tried
            if (said := self._apply(item, dryRun="All", fieldValidation="Strict"))
        ]

    def _apply(self, document: Document, **options: str) -> str:
        path = self.path(document)
        answer = self.client.patch(
            path,
            params={"fieldManager": "fleet", "force": "true", **options},
            content=yaml.safe_dump(document).encode(),
            headers={"Content-Type": "application/apply-patch+yaml"},
        )
        return "" if answer.is_success else f"{path}: {answer.json()['message']}"

    def path(self, document: Document) -> str:
        """Where an object is, if it is there; it needs no more than its apiVersion, kind and names."""
        key = document["apiVersion"], document["kind"]
        pattern = self.paths.get(key) or self._find(*key)
        assert pattern, f"{key} is not served"
        return pattern.format(
            namespace=document["metadata"].get("namespace", "default"),
            name=document["metadata"]["name"],
        )

    def _find(self, api_version: str, kind: str) -> str:
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        answer = self.client.get(root)
        for item in answer.json()["resources"] if answer.is_success else ():
            if item["kind"] == kind and "/" not in item["name"]:
                space = "/namespaces/{namespace}" if item["namespaced"] else ""
                self.paths[api_version, kind] = f"{root}{space}/{item['name']}/{{name}}"
        return self.paths.get((api_version, kind), "")


@contextmanager
def judging(cluster: Cluster) -> Iterator[Judge]:
    """Connect to a cluster."""
    config = KubeConfig.from_file(cluster.kubeconfig).get()
    assert config
    with client_adapter.Client(
        config, client_adapter.ConnectionParams(timeout=Timeout(60))
    ) as client:
        yield Judge(client)
