"""The document of what an observation has brought."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from fleet_components.hub.folder.header import time_text
from fleet_components.hub.folder.writing import Changes
from fleet_components.hub.listing import Listing, in_words, missed
from fleet_components.hub.observation import HubObservation

_TEMPLATE = "Template/"


@attrs.frozen
class Observed:
    """Answers of hub, members and Azure together.

    Attributes:
        observation: the observation.
        listing: the answers of the hub; None for clusters without one.
        named: the context by name of the member, of those that could not be called as their context
            is.
        grant: the command that grants what is asked of the hub; empty without one.
    """

    observation: HubObservation
    listing: Listing | None
    named: Mapping[str, str] = attrs.field(factory=dict)
    grant: str = ""

    @property
    def has_hub(self) -> bool:
        """True if a hub was asked."""
        return self.listing is not None

    @property
    def refused(self) -> tuple[str, ...]:
        """Lists that the hub was asked for and has not answered, in words.

        Without its agent the release is not known, which is said apart.
        """
        if self.listing is None:
            return ()
        asked, system = missed(self.listing.refused), self.listing.system
        return in_words(
            {query: why for query, why in asked.items() if not system.tells_release(query)}
        )

    @property
    def left_out(self) -> tuple[str, ...]:
        """Lists that the hub was not to be asked for, in words."""
        refused = self.listing.refused if self.listing else {}
        return in_words(
            {query: why for query, why in refused.items() if query not in missed(refused)}
        )

    @property
    def incomplete(self) -> bool:
        """True if something that was asked for was not answered."""
        fleet = self.observation.fleet
        # What the user has left out on purpose is not missing.
        return bool(self.refused or self.observation.silent or (fleet and fleet.unread))


@attrs.frozen
class ObservedChanges:
    """Files that an observation has added, changed and removed."""

    added: Sequence[str]
    changed: Sequence[str]
    removed: Sequence[str]


@attrs.frozen(kw_only=True)
class ObservationDocument:
    """Content of an observation, and what is missing in it."""

    system: str
    hub: bool
    release: str | None
    as_of: str
    before: str | None
    directory: str
    members: int
    policies: int
    objects: int
    placements: int
    templates: int
    changes: ObservedChanges
    edited: Sequence[str]
    lost: Sequence[str]
    private: Sequence[str]
    named: Mapping[str, str]
    silent: Mapping[str, str]
    refused: Sequence[str]
    grant: str | None
    notes: Sequence[str]


def observed_document(
    found: Observed, changes: Changes, silent: Mapping[str, str], folder: Path, before: str
) -> ObservationDocument:
    """Return the document of an observation.

    Args:
        found: what was answered.
        changes: the files that were written for it.
        silent: the members that have not answered, each with the reason and what counts instead.
        folder: the directory.
        before: when the directory was observed last; empty if never.
    """
    observation, refused = found.observation, found.refused
    unknown = (observation.no_release,) if observation.no_release else ()
    templates = sum(subject.name.startswith(_TEMPLATE) for subject in observation.subjects)
    # The hint at the role helps only against missing rights, not against a silent hub.
    forbidden = any("is forbidden" in refusal for refusal in refused)
    # Of a cluster that is silent, its old record may be all that there is.
    members = {str(member["metadata"]["name"]) for member in observation.members} | silent.keys()
    return ObservationDocument(
        system=str(observation.system),
        hub=found.has_hub,
        release=observation.release or None,
        as_of=time_text(observation.as_of),
        before=before or None,
        directory=str(folder),
        members=len(members),
        policies=len(observation.policies),
        objects=len(observation.objects),
        placements=len(observation.subjects) - templates,
        templates=templates,
        changes=ObservedChanges(changes.added, changes.changed, changes.removed),
        edited=changes.edited,
        lost=changes.lost,
        private=changes.private,
        named=dict(sorted(found.named.items())),
        silent=dict(sorted(silent.items())),
        refused=refused,
        grant=found.grant if forbidden else None,
        notes=[*observation.notes, *unknown, *found.left_out, *changes.remarks],
    )
