"""Registration of objects that have to be deleted and created anew.

A preview tries the new object on the API server while the old one still exists, and fails if the server rejects the
change. A field with an unknown value makes the Kubernetes provider skip that trial; the field itself is never sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from fleet_components.components.process import in_process, unknown
from fleet_components.content.stamp import annotated

_MARK = "fleet-components/replaced"


def untried(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object with an unknown annotation in a preview, so that the provider skips the trial."""
    if not pulumi.runtime.is_dry_run() or in_process():
        return dict(data)
    return annotated(data, {_MARK: unknown()})


def trial_ignored() -> list[str]:
    """Return the path of the unknown annotation in a preview, so that its change can be ignored."""
    return [f'metadata.annotations["{_MARK}"]'] if pulumi.runtime.is_dry_run() and not in_process() else []
