"""Kubernetes events as the real control planes record them."""

from __future__ import annotations

import attrs


@attrs.frozen
class Event:
    """A Kubernetes event. ``type`` is ``Normal`` or ``Warning``."""

    type: str
    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.type} {self.reason} {self.message}"
