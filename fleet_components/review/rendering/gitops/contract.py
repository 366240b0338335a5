"""The contract of a tool that brings rendered manifests to clusters. Argo CD and Flux implement it,
a class each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import attrs

from fleet_components.model.manifest import ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.text import few
from fleet_components.plan.apply_mode import ApplyMode, TakeOver
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.waves import Brought
from fleet_components.review.rendering.gitops.settings import HUB, GitopsSettings, name_of
from fleet_components.review.rendering.gitops.steps import Steps
from fleet_components.review.rendering.manifests import PHASES

Object = dict[str, Any]
MARK = "fleet-components"
"""Prefix of the labels of the objects for the tool."""


@attrs.frozen
class LeftAlone:
    """Fields of an object that keep their values on members.

    Attributes:
        key: the object.
        fields: the fields, as ``spec.replicas``.
    """

    key: ObjectKey
    fields: tuple[str, ...]

    @property
    def pointers(self) -> list[str]:
        """The fields as JSON pointers."""
        return [
            "/" + field.replace("~", "~0").replace("/", "~1").replace(".", "/")
            for field in self.fields
        ]


@attrs.frozen(kw_only=True)
class Tree:
    """The rendered manifests of a stack, as the tool finds them in the repository.

    Attributes:
        settings: the settings.
        stack: name of the folder of the stack.
        phases: the phases of which a member has a folder, by member, in order.
        steps: the members that move, in steps; a member in none of them does not move.
        left_alone: the fields that keep their values, by member and phase.
    """

    settings: GitopsSettings
    stack: str
    phases: Mapping[str, tuple[int, ...]]
    steps: Steps = ()
    left_alone: Mapping[tuple[str, int], tuple[LeftAlone, ...]] = attrs.field(factory=dict)

    @property
    def root(self) -> str:
        """Name of the object that brings all others of the tool, and of the source."""
        return name_of("fleet", self.stack)

    def path(self, *parts: str) -> str:
        """Return the path of a folder in the repository."""
        return "/".join(filter(None, (self.settings.path, *parts)))

    def member_path(self, member: str, phase: int | None = None) -> str:
        """Return the path of what a member has, or of one of its phases."""
        return self.path("members", member, *(() if phase is None else (PHASES[phase],)))


class GitopsTool(ABC):
    """A tool that brings what a repository holds to clusters.

    Attributes:
        NAME: how it calls itself.
        NAMESPACE: namespace that it is usually installed in.
    """

    NAME: ClassVar[str]
    NAMESPACE: ClassVar[str]

    @abstractmethod
    def marks(self, brought: Brought, phase: int) -> Mapping[str, str]:
        """Return the annotations that tell it when an object comes, and what becomes of it at the
        end.

        Args:
            brought: the object.
            phase: the phase in which it is applied, 0 to 6.
        """

    @abstractmethod
    def hub(self, tree: Tree) -> Iterator[tuple[str, list[Object]]]:
        """Yield the files for one tool that brings everything to all members, by name."""

    @abstractmethod
    def pulling(self, tree: Tree, member: str) -> Iterator[tuple[str, list[Object]]]:
        """Yield the files for the tool of a member, by name."""

    @abstractmethod
    def start(self, tree: Tree, folder: str) -> list[Object]:
        """Return the objects that are applied once by hand, and bring those of a folder from then
        on.
        """

    @abstractmethod
    def needs(self, settings: GitopsSettings) -> str:
        """Return what has to be set up before, in one sentence."""

    def mixes(self, settings: GitopsSettings) -> str:
        """Return in which way it may mix up the waves that one commit brings; empty where it keeps
        them apart.
        """
        return "" if settings.topology == HUB else "each member pulls it on its own"

    def limits(self, plan: FleetPlan, settings: GitopsSettings) -> Iterator[Problem]:
        """Yield warnings about what policies ask for and the tool does otherwise."""
        modes = {
            subject.name: delivery.mode
            for subject in plan.subjects
            for delivery in subject.deliveries.values()
        }
        written = {name: mode for name, mode in modes.items() if not mode.reports}
        asked: dict[str, Callable[[ApplyMode], bool]] = {
            "take over nothing, or only what does not differ": lambda mode: (
                mode.takes_over is not TakeOver.ALWAYS
            ),
            "fail where others have set fields otherwise": lambda mode: not mode.forces,
            "leave drift alone": lambda mode: mode.stops_at_drift and self.mends(settings),
        }
        for wish, asks in asked.items():
            names = sorted(name for name, mode in written.items() if asks(mode))
            if names:
                hint = (
                    f"{self.NAME} overwrites what is there; a stack or a hub does what they ask for"
                )
                yield Problem(
                    Message(
                        "apply-mode-not-in-gitops",
                        "{names} ask to {wish}",
                        names=few(names),
                        wish=wish,
                    ),
                    hint=hint,
                )
        for replacement in plan.replacements:
            fields, cluster = ", ".join(replacement.fields), replacement.cluster
            what = Message(
                "cannot-changed-will-fail",
                "cannot be changed in {fields} on {cluster}, so {name} will fail on it",
                fields=fields,
                cluster=cluster,
                name=self.NAME,
            )
            hint = "delete it there by hand when its turn comes, or give it another name"
            yield Problem(what, subject=str(replacement.key), hint=hint)

    @abstractmethod
    def mends(self, settings: GitopsSettings) -> bool:
        """Return whether it undoes what somebody changes on a member by hand."""


def named(tree: Tree, kind: tuple[str, str], name: str, tool: GitopsTool, **labels: str) -> Object:
    """Return the beginning of an object for the tool.

    Args:
        tree: the tree that it is for.
        kind: apiVersion and kind.
        name: its name.
        tool: the tool, in whose namespace it is.
        labels: its labels beside that of the stack.
    """
    marks = {
        f"{MARK}/{key}": name_of(value) for key, value in {"stack": tree.stack, **labels}.items()
    }
    namespace = tree.settings.namespace or tool.NAMESPACE
    metadata = {"name": name, "namespace": namespace, "labels": marks}
    return {"apiVersion": kind[0], "kind": kind[1], "metadata": metadata}
