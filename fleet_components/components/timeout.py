"""The longest time that an update waits for each object to become ready, or to be gone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import pulumi

from fleet_components.model.manifest import Manifest
from fleet_components.model.text import few

_ANNOTATION = "pulumi.com/timeoutSeconds"
_WHOLE = re.compile("[0-9]{1,9}")


def ready_timeouts(data: Mapping[str, Any], seconds: int) -> pulumi.CustomTimeouts | None:
    """Return the timeouts of an object's resource; None if the object has an annotation of its own.

    A deletion waits until the finalizers of the object are gone. The engine takes its timeout from
    the state, so it counts once an update has recorded it.
    """
    # The provider reads the annotation only if the resource has no timeout
    # (pulumi/pulumi-kubernetes v4.34.2, provider/pkg/metadata/overrides.go, TimeoutDuration), for
    # deletions too.
    text = f"{seconds}s"
    own = _own(Manifest(data))
    return None if own else pulumi.CustomTimeouts(create=text, update=text, delete=text)


def waiting(objects: Iterable[Mapping[str, Any]], seconds: int) -> str:
    """Return the line that says how long an update waits for objects, those with a timeout of their
    own by name.
    """
    own = [
        f"{manifest.key} {text} s" for data in objects if (text := _own(manifest := Manifest(data)))
    ]
    return (
        f"waiting up to {seconds} s for each object to become"
        f" ready{f' ({few(own)})' if own else ''}"
    )


def _own(manifest: Manifest) -> str:
    """Return the seconds that an object's annotation sets; empty without one, and for what the
    provider ignores.
    """
    annotated = str((manifest.metadata.get("annotations") or {}).get(_ANNOTATION) or "")
    return annotated if _WHOLE.fullmatch(annotated) else ""
