"""Writes the state after a plan into a file."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from fleet_components.model.problem import FleetError, Problem
from fleet_components.review.planning.past import is_made_up
from fleet_components.review.rendering.target import check_links


def save(file: Path, state: Mapping[str, Any]) -> None:
    """Write a state; an earlier one that was made by a plan or a render is replaced.

    Raises:
        FleetError: the file is another one, a state of an engine perhaps, a link leads to it, or it cannot be written.
    """
    check_links(file)
    if file.exists() and not is_made_up(file):
        what = "exists, and neither fleet plan --save-state nor fleet render has written it"
        raise FleetError([Problem(what, file=str(file), hint="nothing was written; name another file")])
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, new = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent, text=True)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(json.dumps(state, indent=1, sort_keys=True) + "\n")
            os.replace(new, file)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(new)
    except OSError as error:
        raise FleetError([Problem(f"cannot be written: {error.strerror}", file=str(file))]) from error
