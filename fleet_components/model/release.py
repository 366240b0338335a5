"""Releases of a system, and the changes in which they differ."""

from __future__ import annotations

from enum import Enum

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem


@attrs.frozen
class ReleaseChange:
    """A change between two releases of a system.

    Attributes:
        source: the number of the upstream pull request, after its file where that helps.
        since: the first release that has it.
        before: what releases without it do.
        after: what releases with it do.
        left: what of it a plan does not carry out, and why; empty, the default, if nothing.
    """

    source: str
    since: str
    before: str
    after: str
    left: str = ""


class ReleaseRule(Enum):
    """A rule that some releases of a system have. Its value is a :class:`ReleaseChange`."""


@attrs.frozen
class Release:
    """A release of a system.

    Attributes:
        name: its name, as the setting of the system has it.
        known: its name and those of earlier releases.
    """

    name: str
    known: frozenset[str] = attrs.field(repr=False)

    def has(self, rule: ReleaseRule) -> bool:
        """Return whether the release has a rule."""
        change: ReleaseChange = rule.value
        return change.since in self.known


@attrs.frozen
class ReleaseTable:
    """The known releases of a system.

    Attributes:
        setting: the setting that names one: ``kubefleet`` for ``fleet:kubefleet``.
        title: the name of the system.
        names: the names of its releases, the oldest first.
        default: the name of the one that counts where none is named.
        rules: the rules in which they differ.
    """

    setting: str
    title: str
    names: tuple[str, ...]
    default: str
    rules: type[ReleaseRule] = attrs.field(repr=False, eq=False)

    @property
    def choice(self) -> str:
        """A hint for an unknown name: the names that are known."""
        return f"write one of {', '.join(self.names)}"

    def assumed(self, why: str) -> str:
        """Return what counts where the release is not known, and why it is not."""
        assumed = (
            f"{self.default} is assumed, and fleet:{self.setting} or --{self.setting} names another"
        )
        return f"the release of {self.title} is not known: {why}; {assumed}"

    def named(self, name: str = "") -> Release:
        """Return a release by its name, or the default one for an empty name.

        Raises:
            FleetError: there is no such release.
        """
        wrong = self.unknown(name)
        if wrong:
            raise FleetError([Problem(wrong, (self.setting,), self.choice)])
        chosen = name or self.default
        # The table is in order, so that the names up to this one are those of earlier releases.
        return Release(chosen, frozenset(self.names[: self.names.index(chosen) + 1]))

    def unknown(self, name: str) -> Message | None:
        """Return why a text names no known release; None if it names one, or is empty."""
        if not name or name in self.names:
            return None
        return Message(
            "release-unknown", '{system} "{name}" is not known here', system=self.title, name=name
        )
