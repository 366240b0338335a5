"""Kubeconfigs of members for commands that ask them: those of the last update, or files of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import attrs

from fleet_components.content.guarded import UnreadableError
from fleet_components.content.regular_file import read_regular
from fleet_components.content.secret import REDACTED
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.state import ENCRYPTED, StackState, StoredResource

_UNKNOWN = (
    "cannot be asked: its kubeconfig is not known; give --kubeconfig {0}=PATH, or a state with its secrets, as pulumi "
    "stack export --show-secrets prints it"
)


@attrs.frozen
class Kubeconfigs:
    """Texts of kubeconfigs.

    Attributes:
        given: those that were given, by member.
        providers: the providers of a state, by reference: ``URN::ID``.
    """

    given: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    providers: Mapping[str, StoredResource] = attrs.field(factory=dict, repr=False)

    @classmethod
    def of(cls, state: StackState, given: Mapping[str, Path]) -> Kubeconfigs:
        """Return the kubeconfigs of a state, and of files that count instead.

        Raises:
            FleetError: a file cannot be read.
        """
        return cls(_read(given), state.resources)

    def text(self, member: str, provider: str) -> str:
        """Return the kubeconfig with which an object of a member is written; empty if it is not known."""
        if member in self.given:
            return self.given[member]
        found = self.providers.get(provider.rpartition("::")[0])
        text = found.inputs.get("kubeconfig") if found else None
        if not isinstance(text, str) or text in (ENCRYPTED, REDACTED):
            return ""
        if "\n" in text or text.lstrip().startswith("{"):
            return text
        try:  # a provider of one's own may have the path
            return read_regular(Path(text).expanduser()).decode()
        except (OSError, RuntimeError, ValueError, UnreadableError):
            return ""


def unknown(member: str) -> str:
    """Return why a member without a kubeconfig is not asked."""
    return _UNKNOWN.format(member)


def _read(given: Mapping[str, Path]) -> Mapping[str, str]:
    texts, problems = {}, []
    for member, path in given.items():
        try:
            texts[member] = read_regular(path).decode()
        except UnreadableError as error:
            problems.append(error.problem(str(path)))
        except ValueError:
            problems.append(Problem("is not UTF-8 text", file=str(path)))
        except OSError as error:
            problems.append(Problem(f"cannot be read: {error.strerror}", file=str(path)))
    if problems:
        raise FleetError(problems)
    return texts
