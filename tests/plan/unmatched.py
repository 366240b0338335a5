"""Fleets in which everything matches something, and what is warned of once one thing in them is changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from fleet_components import Cluster, Options, Past, plan_fleet, source_of
from fleet_components.content.load import load_text
from fleet_components.model.problem import Problem, show_path
from fleet_components.plan.fleet_plan import FleetPlan

Document = dict[str, Any]
CommandLine = tuple[str, str, str]
"""The object with the field, what is wrong, and the hint."""


def planned(
    documents: Iterable[Document], lost: Iterable[str] = (), members: Iterable[Cluster] = ()
) -> FleetPlan:
    """The plan of a new fleet; ``members`` are made in a program."""
    source = source_of(load_text("\n---\n".join(map(json.dumps, documents)), "fleet.yaml"))
    source = attrs.evolve(source, clusters=(*source.clusters, *members))
    return plan_fleet(source, Past(), Options(lost=frozenset(lost)))


def problems(plan: FleetPlan) -> list[Problem]:
    """All that is warned of: of the fleet as a whole, then of each placement."""
    return [
        *plan.warnings,
        *(problem for subject in plan.subjects for problem in subject.subject.warnings),
    ]


def told(plan: FleetPlan) -> list[CommandLine]:
    """The same, to be compared."""
    shown = [
        (f"{problem.subject}: {show_path(problem.path)}".strip(": "), problem.what, problem.hint)
        for problem in problems(plan)
    ]
    assert all(
        problem.file and problem.line
        for problem in problems(plan)
        if not problem.subject.startswith("member ")
    ), shown
    return shown


@attrs.frozen
class Case:
    """A field that is changed, and what is warned of then.

    Attributes:
        object: the object, as ``Kind/name``.
        path: the field.
        value: its new value; None takes it out.
        what: what is wrong.
        hint: what was probably meant.
        at: the field that is warned of; the one that is changed by default.
    """

    object: str
    path: str
    value: Any
    what: str
    hint: str
    at: str = ""

    def in_(self, documents: Iterable[Document]) -> list[Document]:
        """The documents with the change."""
        return changed(documents, self.object, self.path, self.value)

    @property
    def told(self) -> CommandLine:
        """What is warned of."""
        return (f"{self.object.partition('/')[2]}: {self.at or self.path}", self.what, self.hint)


def said(plan: FleetPlan) -> list[CommandLine]:
    """What is warned of, by the names of the objects, without what follows: objects that nothing brings any more."""
    found = [
        (field.partition(" ")[2].rpartition("/")[2], what, hint) for field, what, hint in told(plan)
    ]
    return [
        item
        for item in found
        if not re.search(
            "selected by no policy|does not go t(o|here)|^nobody brings|^no placement brings|^[a-z]+ does not bring",
            item[1],
        )
    ]


def changed(documents: Iterable[Document], name: str, path: str, value: Any) -> list[Document]:
    """The documents with one field changed in the object ``Kind/name``; a value of None takes it out."""
    copies: list[Document] = json.loads(json.dumps(list(documents)))
    kind, _, called = name.partition("/")
    (holder,) = [
        copy for copy in copies if (copy["kind"], copy["metadata"]["name"]) == (kind, called)
    ]
    *steps, last = _steps(path)
    at: Any = holder
    for step in steps:
        at = at[step] if isinstance(step, int) else at.setdefault(step, {})
    if value is None:
        del at[last]
    else:
        at[last] = value
    return copies


def without(documents: Iterable[Document], *names: str) -> list[Document]:
    """The documents without the objects ``Kind/name``."""
    return [
        document
        for document in documents
        if f"{document['kind']}/{document['metadata']['name']}" not in names
    ]


def object_of(api_version: str, kind: str, name: str, namespace: str = "", **rest: Any) -> Document:
    """An object."""
    labels = rest.pop("labels", {})
    metadata = {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        **({"labels": labels} if labels else {}),
    }
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}


def deployment(name: str, namespace: str, image: str = "web:1") -> Document:
    """A Deployment."""
    labels = {"app": name}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": name, "image": image}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": pod}
    return object_of("apps/v1", "Deployment", name, namespace, labels=labels, spec=spec)


def _steps(path: str) -> Iterator[str | int]:
    """The keys and indices of a field path."""
    for key, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        yield key or int(index)
