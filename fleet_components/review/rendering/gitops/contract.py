"""The contract of a tool that brings rendered manifests to clusters. Argo CD and Flux implement it,
a class each.
"""

from __future__ import annotations

import re
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
            # The dots come last: they become the slashes of the pointer, which are not escaped.
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
        """Return the annotations that say when an object comes, and what becomes of it at the end.

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
        # What only compares is not rendered for a tool.
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


# Flux: a Kustomization per phase of a member, each waiting for the one before; on a hub also for
# members before.
#
# Source: fluxcd/kustomize-controller v1.9.4, docs/spec/v1/kustomizations.md and checkDependencies
# of internal/controller/kustomization_controller.go: a dependency counts once it is ready at the
# same revision.


_KUSTOMIZATION = ("kustomize.toolkit.fluxcd.io/v1", "Kustomization")
_REPOSITORY = ("source.toolkit.fluxcd.io/v1", "GitRepository")
_PRUNE = "kustomize.toolkit.fluxcd.io/prune"
_TIMES = {"interval": "10m0s", "retryInterval": "1m0s", "timeout": "10m0s"}
"""A timeout as long as ``fleet:readyTimeout`` is by default."""
_COMMIT = re.compile(r"[0-9a-f]{40}")


class Flux(GitopsTool):
    """Flux."""

    NAME = "Flux"
    NAMESPACE = "flux-system"

    def marks(self, brought: Brought, phase: int) -> Mapping[str, str]:
        """Return the annotation against pruning; the phase of an object is that of its folder."""
        return {_PRUNE: "disabled"} if brought.outlives or brought.protected else {}

    def hub(self, tree: Tree) -> Iterator[tuple[str, list[Object]]]:
        """Yield the Kustomizations of each member; those of a step wait for the members of the step
        before.
        """
        before: list[str] = []
        first: dict[str, list[str]] = {}
        for step in tree.steps:
            members = [member for member in step if tree.phases.get(member)]
            first |= dict.fromkeys(members, before)
            # A step whose members have no folder does not break the chain.
            before = [_name(tree, member, tree.phases[member][-1]) for member in members] or before
        for member in sorted(tree.phases):
            secret = tree.settings.destination(member)
            yield f"{member}.yaml", list(self._phases(tree, member, first.get(member, []), secret))

    def pulling(self, tree: Tree, member: str) -> Iterator[tuple[str, list[Object]]]:
        """Yield the Kustomizations of a member."""
        yield "kustomizations.yaml", list(self._phases(tree, member, []))

    def start(self, tree: Tree, folder: str) -> list[Object]:
        """Return the Kustomization that brings those of a folder, and the source unless there is
        one.
        """
        found = named(tree, _KUSTOMIZATION, tree.root, self)
        found["spec"] = {
            **_TIMES,
            "path": f"./{tree.path(folder)}",
            "prune": True,
            "wait": False,  # those that it brings wait for it
            "sourceRef": _source(tree),
        }
        if tree.settings.source:
            return [found]
        repository = named(tree, _REPOSITORY, tree.root, self)
        reference = _reference(tree.settings.revision)
        repository["spec"] = {"interval": "1m0s", "url": tree.settings.repo, "ref": reference}
        return [repository, found]

    def needs(self, settings: GitopsSettings) -> str:
        """Return which secrets lead to the members."""
        if settings.topology != HUB:
            return ""
        names = settings.pattern.replace("{member}", "MEMBER")
        return (
            f"Flux needs a Secret {names} for each member, with its kubeconfig under the key value"
        )

    def mends(self, settings: GitopsSettings) -> bool:
        """Return that it does, on every interval."""
        return True

    def _phases(
        self, tree: Tree, member: str, first: list[str], secret: str = ""
    ) -> Iterator[Object]:
        """Yield a Kustomization for each phase of a member; the first one waits for these as
        well.
        """
        # The root comes first, so that an order of an earlier commit is not followed with the
        # manifests of this one.
        before = [tree.root, *first]
        for phase in tree.phases[member]:
            found = named(tree, _KUSTOMIZATION, _name(tree, member, phase), self, member=member)
            left_alone = tree.left_alone.get((member, phase), ())
            found["spec"] = {
                **_TIMES,
                "path": f"./{tree.member_path(member, phase)}",
                "prune": True,
                "wait": True,
                "sourceRef": _source(tree),
                "dependsOn": [{"name": name} for name in before],
                **({"kubeConfig": {"secretRef": {"name": secret}}} if secret else {}),
                **({"ignore": [_ignored(left) for left in left_alone]} if left_alone else {}),
            }
            yield found
            before = [found["metadata"]["name"]]


def _name(tree: Tree, member: str, phase: int) -> str:
    return name_of(tree.stack, member, PHASES[phase].partition("-")[2])


def _source(tree: Tree) -> dict[str, str]:
    kind, _, name = tree.settings.source.rpartition("/")
    return {"kind": kind or _REPOSITORY[1], "name": name or tree.root}


def _reference(revision: str) -> dict[str, str]:
    if _COMMIT.fullmatch(revision):
        return {"commit": revision}
    return {"name": revision} if revision.startswith("refs/") else {"branch": revision}


def _ignored(left_alone: LeftAlone) -> dict[str, Any]:
    key = left_alone.key
    found = {"group": key.group, "kind": key.kind, "name": key.name, "namespace": key.namespace}
    # The fields are regular expressions, matched as a whole.
    return {
        "paths": left_alone.pointers,
        "target": {field: re.escape(value) for field, value in found.items() if value},
    }
