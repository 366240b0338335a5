"""The document of what an observation has brought."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fleet_components.hub.folder.header import told_time
from fleet_components.hub.folder.writing import Changes
from fleet_components.hub.observation import Observation
from fleet_components.review.documents.form import Document


def observed_document(
    observation: Observation,
    changes: Changes,
    silent: Mapping[str, str],
    refused: Sequence[str],
    folder: Path,
    before: str,
) -> Document:
    """Return the document of an observation.

    Args:
        observation: the observation.
        changes: the files that were written for it.
        silent: the members that have not answered, each with the reason and what counts instead.
        refused: what was not answered, in words.
        folder: the directory.
        before: when the directory was observed last; empty if never.
    """
    return {
        "system": str(observation.system),
        "asOf": told_time(observation.as_of),
        "before": before or None,
        "directory": str(folder),
        "members": len(observation.members),
        "policies": len(observation.policies),
        "objects": len(observation.objects),
        "subjects": len(observation.subjects),
        "changes": {
            "added": list(changes.added),
            "changed": list(changes.changed),
            "removed": list(changes.removed),
        },
        "edited": list(changes.edited),
        "lost": list(changes.lost),
        "private": list(changes.private),
        "silent": dict(sorted(silent.items())),
        "refused": list(refused),
        "notes": [*observation.notes, *changes.remarks],
    }
