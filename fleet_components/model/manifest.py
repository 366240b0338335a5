"""A Kubernetes object as the user wrote it, with the location it was read from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import attrs

from fleet_components.model.message import Message, Phrase
from fleet_components.model.problem import FieldPath, FleetError, Problem


class ObjectKey(NamedTuple):
    """Identity of an object in a cluster. ``namespace`` is empty for cluster-scoped objects."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {name}"


@attrs.frozen(eq=False)
class Origin:
    """Where an object was read from.

    Attributes:
        file: the file.
        line: its first line, from 1; None if the object is the output of a tool, whose lines are
            not those of the file.
        locate: returns the line of a field by its path; None if unknown.
        envelope: the envelope that holds the object, with the key in it; empty for an object of its
            own.
        parts: the manifests that the object was joined of, the one that counts most first; empty if
            it was one.
    """

    file: str
    line: int | None
    locate: Callable[[FieldPath], int | None] = attrs.field(repr=False)
    envelope: str = ""
    parts: tuple[Manifest, ...] = attrs.field(default=(), repr=False)

    def at(self, path: FieldPath) -> Origin:
        """Return where a field was read from: the origin of the part that has it, or the most of
        its path.
        """
        # Of parts that reach equally far, max returns the first one, which counts most.
        origins = (max(self.parts, key=lambda part: part.reach(path)).origin,) if self.parts else ()
        return next(filter(None, origins), self)

    @property
    def location(self) -> str:
        """``file:line``, or the file alone if the line is unknown."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def seen_from(self, other: Origin) -> Origin:
        """Return it with its file as the folder of another one sees it: texts depend on no working
        directory.
        """
        if not os.path.isfile(self.file):
            return self
        return attrs.evolve(
            self, file=os.path.relpath(self.file, os.path.dirname(other.file) or os.curdir)
        )

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the object was read from."""
        return tuple(part.origin.file for part in self.parts if part.origin) or (self.file,)

    @property
    def place(self) -> str:
        """The location, after the envelope if there is one."""
        where = f"({self.location})" if self.envelope and self.file else self.location
        return f"{self.envelope} {where}".strip()


PROGRAM = Origin("the program", None, lambda _: None)
"""Origin of the objects that a program passes to its fleet. It has no lines."""


@attrs.frozen
class Manifest:
    """One Kubernetes object.

    Attributes:
        data: the parsed object; never changed in place.
        origin: where it was read from; None, or :data:`PROGRAM`, for objects made in a program.
    """

    data: Mapping[str, Any]
    origin: Origin | None = attrs.field(default=None, eq=False)

    @property
    def api_version(self) -> str:
        """``group/version``, or the version alone for the core group."""
        return str(self.data.get("apiVersion", ""))

    @property
    def group(self) -> str:
        """The API group; empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        """The API version without its group."""
        return self.api_version.rpartition("/")[2]

    @property
    def kind(self) -> str:
        """``kind``; empty if missing."""
        return str(self.data.get("kind", ""))

    @property
    def metadata(self) -> Mapping[str, Any]:
        """``metadata``; empty if missing."""
        return self.data.get("metadata") or {}

    @property
    def name(self) -> str:
        """``metadata.name``."""
        return str(self.metadata.get("name", ""))

    @property
    def namespace(self) -> str:
        """``metadata.namespace``; empty if missing."""
        return str(self.metadata.get("namespace") or "")

    @property
    def labels(self) -> Mapping[str, str]:
        """``metadata.labels``; empty if missing."""
        return self.metadata.get("labels") or {}

    @property
    def key(self) -> ObjectKey:
        """Identity of the object in a cluster."""
        return ObjectKey(self.group, self.kind, self.namespace, self.name)

    def reach(self, path: FieldPath) -> int:
        """Return how many steps of a path lead to something that the object has."""
        return next(
            n
            # The empty path always counts, so that next() finds one.
            for n in range(len(path), -1, -1)
            if not n or value_at(self.data, path[:n]) is not None
        )

    def located(self, problem: Problem, *below: str) -> Problem:
        """Return a problem of a part of this object with file and line.

        ``below`` is the path of the part in the object.
        """
        return self.problem(problem.message, (*below, *problem.path), problem.advice)

    def problem(self, what: Message, path: FieldPath = (), hint: Phrase | str = "") -> Problem:
        """Return a problem of this object, with file and the line of the field."""
        # The key stays that of the whole object, whichever of its parts has the field.
        file, line, subject = "", None, str(self.key)
        if self.origin:
            origin = self.origin.at(path)
            file, line = origin.file, origin.locate(path)
            subject += f" in {self.origin.envelope}" if self.origin.envelope else ""
        return Problem(what, path, hint, subject, file, line)


def by_key(objects: Iterable[Mapping[str, Any]]) -> dict[ObjectKey, Mapping[str, Any]]:
    """Return objects by their keys."""
    return {Manifest(data).key: data for data in objects}


def value_at(data: Any, path: Iterable[str | int]) -> Any:
    """Return the value at a path, which may lead through lists; None if there is none."""
    for step in path:
        if isinstance(data, Mapping):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            return None
    return data


def values_at(data: Any, path: Sequence[str]) -> Iterator[Any]:
    """Yield the values at a path, in which ``*`` stands for every item of a list."""
    if not path:
        yield data
    elif path[0] == "*":
        for item in data if isinstance(data, list) else ():
            yield from values_at(item, path[1:])
    elif isinstance(data, Mapping) and path[0] in data:
        yield from values_at(data[path[0]], path[1:])


# Workloads: the paths of their replicas and of their pod template, and their number of replicas.
#
# Source: ``pkg/resourceinterpreter/default`` of Karmada 1.19, native kinds and those third-party
# kinds whose scripts only name fields, for objects as the API server stores them: a Deployment
# without replicas has one. Kinds that it does not know are declared in ``KarmadaSettings``.


COMPLETIONS = ("spec", "completions")
PARALLELISM = ("spec", "parallelism")


@attrs.frozen
class WorkloadShape:
    """Paths of the parts of a workload.

    Attributes:
        api_version: ``group/version`` of the kind.
        kind: the kind.
        replicas: the path of the number of replicas; None for kinds without replicas (a DaemonSet).
        template: the path of the pod template; None if there is none. The empty path means the
            object itself.
        default: the number of replicas if the field is absent; None if the field is required.
    """

    api_version: str
    kind: str
    replicas: tuple[str, ...] | None = ("spec", "replicas")
    template: tuple[str, ...] | None = ("spec", "template")
    default: int | None = 0


_KNOWN = (
    WorkloadShape("apps/v1", "Deployment", default=1),
    WorkloadShape("apps/v1", "ReplicaSet", default=1),
    WorkloadShape("apps/v1", "StatefulSet", default=1),
    WorkloadShape("apps/v1", "DaemonSet", replicas=None),
    WorkloadShape("batch/v1", "Job", replicas=("spec", "parallelism"), default=1),
    WorkloadShape(
        "batch/v1", "CronJob", replicas=None, template=("spec", "jobTemplate", "spec", "template")
    ),
    WorkloadShape("v1", "Pod", replicas=None, template=()),
    WorkloadShape("apps.kruise.io/v1alpha1", "CloneSet"),
    WorkloadShape("apps.kruise.io/v1alpha1", "UnitedDeployment"),
    WorkloadShape(
        "apps.kruise.io/v1alpha1", "BroadcastJob", replicas=("spec", "parallelism"), default=1
    ),
    WorkloadShape("apps.kruise.io/v1alpha1", "DaemonSet", replicas=None),
    WorkloadShape("apps.kruise.io/v1beta1", "StatefulSet"),
    WorkloadShape(
        "argoproj.io/v1alpha1", "Workflow", replicas=("spec", "parallelism"), template=(), default=1
    ),
)
_BY_KIND = {(shape.api_version, shape.kind): shape for shape in _KNOWN}


def shape_of(manifest: Manifest, declared: Iterable[WorkloadShape] = ()) -> WorkloadShape | None:
    """Return the shape of an object; None if it is not a workload. A declared shape overrides a
    known one.
    """
    key = (manifest.api_version, manifest.kind)
    return next(
        (shape for shape in declared if (shape.api_version, shape.kind) == key), _BY_KIND.get(key)
    )


def pod_spec(manifest: Manifest, shape: WorkloadShape | None) -> Mapping[str, Any]:
    """Return the pod spec of a workload; empty if there is none."""
    if shape is None or shape.template is None:
        return {}
    return value_at(manifest.data, (*shape.template, "spec")) or {}


def replicas_of(manifest: Manifest, declared: Iterable[WorkloadShape] = ()) -> int:
    """Return the number of replicas of an object; 0 if it has none. A Pod counts as one replica.

    Raises:
        FleetError: the field is absent and the kind has no default.
    """
    shape = shape_of(manifest, declared)
    if _is(manifest, "v1", "Pod"):
        return 1
    if shape is None or shape.replicas is None:
        return 0
    replicas = number_at(manifest, shape.replicas, shape.default)
    completions = completions_of(manifest)
    # A Job never runs more pods at once than it has completions (``jobReplica`` in
    # native/replica.go, Karmada 1.19).
    return replicas if completions is None else min(replicas, completions)


def completions_of(manifest: Manifest) -> int | None:
    """Return the completions of a Job; None for a work queue and for other kinds.

    A Job with neither completions nor parallelism has one completion.
    """
    if not _is(manifest, "batch/v1", "Job"):
        return None
    if value_at(manifest.data, COMPLETIONS) is None:
        return 1 if value_at(manifest.data, PARALLELISM) is None else None
    return number_at(manifest, COMPLETIONS, 1)


def _is(manifest: Manifest, api_version: str, kind: str) -> bool:
    return (manifest.api_version, manifest.kind) == (api_version, kind)


def number_at(manifest: Manifest, path: tuple[str, ...], default: int | None) -> int:
    """Return the number at a path; the default if there is none.

    Raises:
        FleetError: there is neither.
    """
    value = value_at(manifest.data, path)
    # Null counts as absent, as everywhere in the API.
    if value is None and default is not None:
        return default
    if value is None:
        raise FleetError(
            [
                manifest.problem(
                    Message("no-number-replicas", "there is no number of replicas"),
                    path,
                    "write it, or declare a default",
                )
            ]
        )
    return int(value)
