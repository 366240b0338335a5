"""Finds the documents and vectors that lie beside the checkout, and skips where they are not there."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared"


def shared(path: str) -> Path:
    """The shared file or folder of that name; skips the calling test where it is missing."""
    found = SHARED / path
    if not found.exists():
        pytest.skip(f"needs {path} of the shared folder beside the checkout, which is not here")
    return found
