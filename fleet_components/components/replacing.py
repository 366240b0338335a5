"""How an object is registered that has to be deleted and made anew.

A preview tries the new object on the API server while the old one still stands, and fails where the difference is
one that is refused. A field that is not known yet makes the provider skip that trial; nothing of it is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from fleet_components.components.process import in_process, unknown
from fleet_components.content.stamp import annotated

_MARK = "fleet-components/replaced"


def untried(data: Mapping[str, Any]) -> dict[str, Any]:
    """The object as a preview registers it, so that the provider does not try it; in an update as it is."""
    if not pulumi.runtime.is_dry_run() or in_process():
        return dict(data)
    return annotated(data, {_MARK: unknown()})


def trial_ignored() -> list[str]:
    """The field that nothing is to be said of in a preview."""
    return [f'metadata.annotations["{_MARK}"]'] if pulumi.runtime.is_dry_run() and not in_process() else []
