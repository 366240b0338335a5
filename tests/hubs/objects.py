"""Objects of a hub and of its members: made, read, and compared without what changes when nothing happens."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from typing import Any

import attrs

from tests.clusters.documents import Document, Judge

_VOLATILE = {"managedFields", "observationTime", "resourceVersion"}


@attrs.define
class Objects:
    """The objects of a cluster, asked for over one connection: kubectl takes a second of a core each time."""

    judge: Judge

    def apply(self, wanted: Iterable[Document]) -> None:
        """Make objects, or change those that are there, in this order.

        Raises:
            AssertionError: the API server refuses one, or does not know a field of it, and says why.
        """
        self.judge.make(wanted, fieldValidation="Strict")

    def create(self, path: str, wanted: Document, **options: str) -> Document:
        """Make an object where its status is taken too, and return it.

        Raises:
            AssertionError: the API server refuses it, and says why.
        """
        answer = self.judge.client.post(path, json=wanted, params=options)
        made: Document = answer.json()
        assert answer.is_success, made["message"]
        return made

    def delete(self, path: str) -> None:
        """Delete an object, or all objects of a collection, with what they own, as kubectl does; it takes its time."""
        answer = self.judge.client.delete(path, params={"propagationPolicy": "Background"})
        assert answer.is_success or answer.status_code == 404, answer.text

    def get(self, path: str) -> Document | None:
        """An object, or the list of a collection; None when it is not there."""
        while (answer := self.judge.client.get(path)).status_code == 429:
            time.sleep(0.2)  # a definition is served a moment before its objects are
        found: Document = answer.json()
        if answer.status_code == 404:
            return None
        assert answer.is_success, found["message"]
        return found

    def of_group(self, group_version: str, without: Iterable[str] = ()) -> dict[str, str]:
        """All objects of a group as text, without times of observation and addresses of memory.

        Args:
            group_version: as ``GROUP/VERSION``.
            without: plurals of kinds that are left out.
        """
        served = self.get(f"/apis/{group_version}")
        assert served, group_version
        plurals = {item["name"] for item in served["resources"] if "/" not in item["name"]} - set(
            without
        )
        found: dict[str, str] = {}
        for plural in sorted(plurals):
            listed = self.get(f"/apis/{group_version}/{plural}") or {"items": ()}
            for item in listed["items"]:
                path = (plural, item["metadata"].get("namespace"), item["metadata"]["name"])
                found["/".join(filter(None, path))] = _lasting(item)
        return found


def _lasting(document: Document) -> str:
    def kept(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: kept(inner) for key, inner in value.items() if key not in _VOLATILE}
        return [kept(inner) for inner in value] if isinstance(value, list) else value

    return re.sub("0x[0-9a-f]+", "0x", json.dumps(kept(document), sort_keys=True))
