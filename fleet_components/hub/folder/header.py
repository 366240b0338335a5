"""The header of an observed directory: which system was observed, when, and what is not in the
observation.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError, read_yaml
from fleet_components.content.observed import MEND, UPGRADE, read_part
from fleet_components.content.wire import to_yaml
from fleet_components.hub.azure.fleet_resource import AZURE_FILE
from fleet_components.hub.folder.paths import HEADER
from fleet_components.hub.listing import Query
from fleet_components.hub.observation import UNASKED
from fleet_components.model.cluster import read_time
from fleet_components.model.codec import MisfitError, below, choice_of, decode, encode, ranged
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.reader import API_VERSION
from fleet_components.model.releases import TABLES
from fleet_components.systems.framework import System
from fleet_components.systems.registry import SYSTEMS

KIND = "Observation"
FORMAT = 1
"""Version of the form of an observed directory."""
REFRESHED = timedelta(hours=12)
"""Age after which the time of a header is written anew, although nothing else has changed."""


def _no_time(text: str) -> str:
    try:
        read_time(text)
    except ValueError as error:
        return str(error)
    return ""


def _no_time_or_none(text: str) -> str:
    return _no_time(text) if text else ""


@attrs.frozen
class Silence:
    """Account of a member that did not answer, or of Azure where that was not asked.

    Attributes:
        why: the reason.
        since: when its record was made, in RFC 3339; empty if there is none, or if that is not
            known.
    """

    why: str
    since: str = attrs.field(default="", metadata={"problem": _no_time_or_none})


@attrs.frozen(kw_only=True)
class UnansweredList:
    """Account of a list that the hub did not answer.

    Attributes:
        api_version: the version of its objects, after their group.
        kind: their kind.
        namespace: the namespace in which they are; empty for all.
        why: the reason.
        since: when the record of them was made, in RFC 3339; empty if there is none.
    """

    api_version: str
    kind: str
    namespace: str = ""
    why: str
    since: str = attrs.field(default="", metadata={"problem": _no_time_or_none})

    @property
    def query(self) -> Query:
        """The request that was not answered."""
        return Query(self.api_version, self.kind, self.namespace)


@attrs.frozen
class Header:
    """Header of an observed directory.

    Attributes:
        system: the system that the hub runs; without one that whose members they are to be.
        as_of: when it was observed.
        hub: False for clusters that no hub has.
        silent: members that did not answer.
        unanswered: lists that the hub did not answer.
        unknown: names of subjects that the hub has, and of which nothing else is known.
        notes: what was left out and why.
        azure: why the record of Azure is older than the rest; None if it is not, or if there is
            none.
        release: the release of its system that the hub runs; empty where it does not show a known
            one.
    """

    system: System
    as_of: datetime
    hub: bool = True
    silent: Mapping[str, Silence] = attrs.field(factory=dict)
    unanswered: tuple[UnansweredList, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    azure: Silence | None = None
    release: str = ""

    def says_no_more_than(self, before: Header | None) -> bool:
        """Return whether an earlier header says the same, with a time that is not too old."""
        if before is None or self.as_of - before.as_of > REFRESHED:
            return False
        # Compared as texts and with the same time: only what the file shows counts.
        return attrs.evolve(self, as_of=before.as_of).text() == before.text()

    def text(self) -> str:
        """Return the header as YAML."""
        silent = {name: attrs.asdict(silence) for name, silence in sorted(self.silent.items())}
        spec = {
            "format": FORMAT,
            "system": self.system.NAME,
            **({"release": self.release} if self.release else {}),
            **({} if self.hub else {"hub": False}),
            "asOf": time_text(self.as_of),
            **({"silent": silent} if silent else {}),
            **({"azure": attrs.asdict(self.azure)} if self.azure else {}),
            **(
                {"unanswered": [encode(unanswered) for unanswered in self.unanswered]}
                if self.unanswered
                else {}
            ),
            **({"unknown": sorted(self.unknown)} if self.unknown else {}),
            **({"notes": sorted(self.notes)} if self.notes else {}),
        }
        return to_yaml({"apiVersion": API_VERSION, "kind": KIND, "spec": spec})


def time_text(time: datetime) -> str:
    """Return a time in RFC 3339, in UTC."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def silences(reasons: Mapping[str, str], before: Header | None) -> dict[str, Silence]:
    """Return the members that did not answer, each with since when its record is.

    Args:
        reasons: why, by member.
        before: the header of the last observation; None if there was none.
    """
    found = {}
    for name, why in reasons.items():
        # A member that was silent before keeps the time of its record; that of any other is from
        # the last observation.
        known = before.silent.get(name) if before else None
        since = known.since if known else time_text(before.as_of) if before else ""
        found[name] = Silence(why, since)
    return found


def azure_since(before: Header | None) -> Silence:
    """Return since when the record of Azure is, where that was not asked; ``before`` is the last
    header, if any.
    """
    since = (
        before.azure.since if before and before.azure else time_text(before.as_of) if before else ""
    )
    return Silence(
        f"{UNASKED}: --azure RESOURCE_ID asks it; remove {AZURE_FILE} if there is no such fleet",
        since,
    )


def unanswered_since(
    reasons: Mapping[Query, str], before: Header | None
) -> tuple[UnansweredList, ...]:
    """Return the lists that were not answered, each with since when the record of their objects is.

    Args:
        reasons: why, by request.
        before: the header of the last observation; None if there was none.
    """
    known = (
        {unanswered.query: unanswered.since for unanswered in before.unanswered} if before else {}
    )
    since = time_text(before.as_of) if before else ""
    # Without label and metadata_only, which an UnansweredList does not record.
    whys = {
        Query(query.api_version, query.kind, query.namespace): why
        for query, why in sorted(reasons.items())
    }
    return tuple(
        UnansweredList(
            api_version=query.api_version,
            kind=query.kind,
            namespace=query.namespace,
            why=why,
            since=known.get(query, since),
        )
        for query, why in sorted(whys.items())
    )


@attrs.frozen
class _Format:
    format: int = attrs.field(metadata=ranged(1))


@attrs.frozen(kw_only=True)
class _HeaderSpec:
    system: str = attrs.field(metadata=choice_of(*SYSTEMS))
    as_of: str = attrs.field(metadata={"problem": _no_time})
    hub: bool = True
    silent: Mapping[str, Silence] = attrs.field(factory=dict)
    unanswered: tuple[UnansweredList, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    azure: Silence | None = None
    release: str = ""


def releases_in(folder: Path) -> dict[str, str]:
    """Return the name of the release in the header of an observed directory, by the setting that
    names it; empty if the header has none.
    """
    # read_observation reports a header that is damaged.
    with suppress(FleetError, OSError, UnreadableError):
        header = read_header(read_part(folder, HEADER), HEADER)
        return {header.system.NAME: header.release} if header.release else {}
    return {}


def has_hub(folder: Path) -> bool:
    """Return whether an observed directory is of a hub; one whose header is damaged is taken for
    one.
    """
    with suppress(FleetError, OSError, UnreadableError):
        return read_header(read_part(folder, HEADER), HEADER).hub
    return True


def read_header(text: bytes, file: str) -> Header:
    """Read a header.

    Args:
        text: its text.
        file: its name, for messages.

    Raises:
        FleetError: it is damaged, or a later version has written it.
    """
    try:
        whole = read_yaml(text)
    except UnreadableError as error:
        raise FleetError([error.problem(file, MEND)]) from None
    found: Any = whole if isinstance(whole, Mapping) else {}
    if (found.get("apiVersion"), found.get("kind")) != (API_VERSION, KIND):
        raise FleetError(
            [
                Problem(
                    Message(
                        "is-not-an-of",
                        "is not an {kind} of {api_version}",
                        kind=KIND,
                        api_version=API_VERSION,
                    ),
                    hint=MEND,
                    file=file,
                )
            ]
        )
    try:
        with below("spec"):
            # The format first: a later version may have other fields.
            written = decode(_Format, found.get("spec")).format
            if written > FORMAT:
                what = Message(
                    "later-observation-format",
                    "is of format {written}, this version reads up to {format}",
                    written=written,
                    format=FORMAT,
                )
                raise FleetError([Problem(what, ("spec", "format"), UPGRADE, file=file)])
            read = decode(_HeaderSpec, found["spec"])
    except MisfitError as misfit:
        raise FleetError(
            attrs.evolve(problem, hint=MEND, file=file) for problem in misfit.problems
        ) from None
    wrong = TABLES[read.system].unknown(read.release)
    if wrong:
        raise FleetError([Problem(wrong, ("spec", "release"), MEND, file=file)])
    as_of = read_time(read.as_of)
    # ``read_time`` returns None for None only, and this is a text.
    assert as_of is not None
    return Header(
        SYSTEMS[read.system],
        as_of,
        read.hub,
        read.silent,
        read.unanswered,
        read.unknown,
        read.notes,
        read.azure,
        read.release,
    )
