"""The image of GitLab's jobs, which is one and the same for good by its digest alone."""

from __future__ import annotations

import re

from fleet_components.model.problem import FleetError, Problem

DEFAULT = "python:3.13"
"""Image of the jobs where none is given: a tag, which can move."""
_PINNED = re.compile(r"[a-z0-9][\w./:-]*@sha256:[0-9a-f]{64}")


def pinned(image: str) -> str:
    """Return an image as it is given.

    Raises:
        FleetError: it has no digest.
    """
    if not _PINNED.fullmatch(image):
        hint = f"docker buildx imagetools inspect {DEFAULT} prints it: --image {DEFAULT}@sha256:DIGEST"
        raise FleetError([Problem("--image has no digest", hint=hint)])
    return image
