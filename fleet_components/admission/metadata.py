"""Structure of ``metadata``, and the API server's checks of names, labels and annotations.

Source: the object metadata validation of the Kubernetes API machinery, ``k8s.io/apimachinery/pkg/api/validation``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fleet_components.admission.finding import Finding
from fleet_components.admission.schema import anything, listing, mapping, struct, text
from fleet_components.model.labels import key_errors, subdomain_errors, value_errors

_SET_BY_SERVER = (
    "creationTimestamp deletionGracePeriodSeconds deletionTimestamp generation managedFields ownerReferences "
    "resourceVersion selfLink uid"
)

METADATA = struct(
    {
        "name": text(example="my-name"),
        "generateName": text(),
        "namespace": text(example="my-namespace"),
        "labels": mapping(text(), example={"env": "prod"}),
        "annotations": mapping(text(), example={"owner": "team-a"}),
        "finalizers": listing(text()),
        **dict.fromkeys(_SET_BY_SERVER.split(), anything()),
    },
    go="v1.ObjectMeta",
    example={"name": "my-name"},
)


def check_metadata(metadata: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield findings on the values of a well-formed ``metadata``."""
    yield from _check_name(metadata)
    for field in ("labels", "annotations"):
        for key in metadata.get(field, {}):
            for error in key_errors(key):
                yield _invalid(key, error, field, key, hint="write, for example, example.com/owner")
    for key, value in metadata.get("labels", {}).items():
        for error in value_errors(value):
            yield _invalid(value, error, "labels", key, hint="write another value, or make it an annotation")


def _check_name(metadata: Mapping[str, Any]) -> Iterator[Finding]:
    name = metadata.get("name", "")
    if not name and not metadata.get("generateName"):
        what = "Required value: name or generateName is required"
        yield Finding(what, ("metadata", "name"), "add metadata: {name: my-name}")
    for error in subdomain_errors(name) if name else ():
        yield _invalid(name, error, "name", hint="write lower-case letters, digits and '-'")


def _invalid(value: str, error: str, *path: str, hint: str) -> Finding:
    shown = json.dumps(value, ensure_ascii=False)
    return Finding(f"Invalid value: {shown}: {error}", ("metadata", *path), hint)
