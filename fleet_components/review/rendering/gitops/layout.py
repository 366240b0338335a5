"""The files of a render that clusters pull: the manifests of each member by phase, and the objects
for the tool.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.order import phase
from fleet_components.content.secret import is_hidden
from fleet_components.content.stamp import annotated
from fleet_components.content.wire import to_yaml
from fleet_components.model.codec import checked
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.plan.own_outputs import LOST
from fleet_components.plan.waves import Brought, PlanPart, PlanWave
from fleet_components.review.rendering.gitops.argocd import ArgoCD
from fleet_components.review.rendering.gitops.contract import (
    Flux,
    GitopsTool,
    LeftAlone,
    Object,
    Tree,
)
from fleet_components.review.rendering.gitops.settings import ARGOCD, FLUX, HUB, GitopsSettings
from fleet_components.review.rendering.gitops.steps import Steps, steps_of
from fleet_components.review.rendering.manifests import PHASES, Files, RenderLayout, manifest_name

TOOL_OF: Mapping[str, GitopsTool] = {ARGOCD: ArgoCD(), FLUX: Flux()}
_EMPTY = ".gitkeep"
_SECRET_HINT = (
    "let something else bring it, an ExternalSecret for example, and render with --omit-secrets; or"
    " --show-secrets, which writes its data into the repository"
)


def _no_phases(phases: Mapping[str, tuple[int, ...]]) -> str:
    known = range(len(PHASES))
    return (
        ""
        if all(number in known for numbers in phases.values() for number in numbers)
        else "has no such phase"
    )


@attrs.frozen
class LastTree:
    """Folders and steps of the last render that moved anything, so that one that moves nothing
    writes the same.

    Attributes:
        steps: the members in steps.
        phases: the phases of which a member had a folder, by member.
    """

    steps: Steps = ()
    phases: Mapping[str, tuple[int, ...]] = attrs.field(factory=dict, metadata=checked(_no_phases))


class GitopsLayout(RenderLayout):
    """Layout of a render for a tool.

    Args:
        settings: the settings.
        stack: name of the folder of the stack.
        part: what is rendered.
        waves: the waves that this render brings, at once or one after the other.
        last: the last tree.
    """

    def __init__(
        self,
        settings: GitopsSettings,
        stack: str,
        part: PlanPart,
        waves: Sequence[PlanWave],
        last: LastTree,
    ) -> None:
        self._settings, self._stack, self._part = settings, stack, part
        self._tool = TOOL_OF[settings.tool]
        self._waves, self._last = waves, last
        self._used: dict[str, set[int]] = defaultdict(set)
        self._left_alone: dict[tuple[str, int], list[LeftAlone]] = defaultdict(list)
        self._problems: list[Problem] = []

    def place(self, brought: Brought) -> tuple[str, Mapping[str, Any]] | None:
        """Return the file of an object in the folder of its phase; None for Secrets that are left
        out.
        """
        manifest = Manifest(brought.data)
        if is_hidden(brought.data):
            if not self._settings.omit_secrets:
                what = Message(
                    "applied-secret-place-data",
                    "would be applied with [secret] in the place of its data",
                )
                self._problems.append(Problem(what, subject=str(manifest.key), hint=_SECRET_HINT))
            return None
        number = phase(manifest)
        # The objects for the tool need to know which folders have anything in them.
        self._used[brought.cluster].add(number)
        if brought.left_alone:
            self._left_alone[brought.cluster, number].append(
                LeftAlone(manifest.key, brought.left_alone)
            )
        path = f"members/{brought.cluster}/{PHASES[number]}/{manifest_name(brought.data)}"
        return path, annotated(brought.data, self._tool.marks(brought, number))

    def folders(self, cluster: str) -> tuple[str, ...]:
        """Return none: a repository has no empty folders."""
        return ()

    def problems(self) -> Iterable[Problem]:
        """Return the Secrets that cannot be rendered."""
        return self._problems

    def beside(self) -> Files:
        """Return the objects for the tool, and a file in each folder that has to be there though
        nothing is in it.
        """
        tree = self.tree()
        files: Files = {
            f"members/{member}/{PHASES[number]}/{_EMPTY}": ""
            for member, numbers in tree.phases.items()
            for number in numbers
            if number not in self._used[member]
        }
        if self._settings.topology == HUB:
            files |= _written("hub", self._tool.hub(tree))
            return files | {"start/hub.yaml": to_yaml(*self._tool.start(tree, "hub"))}
        for member in tree.phases:
            folder = f"clusters/{member}"
            files |= _written(folder, self._tool.pulling(tree, member))
            files[f"start/{member}.yaml"] = to_yaml(*self._tool.start(tree, folder))
        return files

    def tree(self) -> Tree:
        """Return the tree, once all objects are placed."""
        steps = self._last.steps
        if self._waves:
            steps = steps_of(self._waves) if self._settings.topology == HUB else ()
        return Tree(
            settings=self._settings,
            stack=self._stack,
            phases=self._phases(),
            steps=steps,
            left_alone={key: tuple(found) for key, found in self._left_alone.items()},
        )

    def _phases(self) -> dict[str, tuple[int, ...]]:
        """Return the phases of each member that hold something, or did before: what leaves is
        pruned from there.
        """
        found = {member: set(numbers) for member, numbers in self._used.items()}
        plan = self._part.whole
        for standing in plan.past.standing:
            key = standing.key
            # phase looks at group and kind alone, so that any version will do.
            data = {
                "apiVersion": f"{key.group}/v1" if key.group else "v1",
                "kind": key.kind,
                "metadata": {},
            }
            found.setdefault(standing.cluster, set()).add(phase(Manifest(data)))
        # A render that moves nothing keeps all folders of the last one, so that it writes the same
        # files.
        for member, numbers in () if self._waves else self._last.phases.items():
            found.setdefault(member, set()).update(numbers)
        # Nothing is applied to a lost member any more.
        lost = {name for name, state in plan.members.items() if state == LOST}
        return {
            member: tuple(sorted(found[member]))
            for member in sorted(found.keys() - lost)
            if found[member]
        }


def _written(folder: str, files: Iterable[tuple[str, list[Object]]]) -> Files:
    return {f"{folder}/{name}": to_yaml(*objects) for name, objects in files}
