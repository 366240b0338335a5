"""Custom workload kinds: where they have their replicas, as bindings show it.

A control plane learns it from scripts, which are not carried out here. Its bindings show the
result: the number of replicas that a script has found in each object.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import attrs

from fleet_components.hub.listing import Object
from fleet_components.model.kinds import BUILT_IN
from fleet_components.model.manifest import Manifest, ObjectKey, shape_of
from fleet_components.systems.karmada.hub.binding import Binding
from fleet_components.systems.karmada.model.settings import CustomWorkload

Path = tuple[str, ...]


def workloads_of(
    bindings: Iterable[Binding], objects: Mapping[ObjectKey, Object]
) -> Iterator[CustomWorkload]:
    """Yield the custom kinds with exactly one field that has the number of replicas in every
    binding of the kind.
    """
    found: dict[tuple[str, str], list[tuple[Binding, Object]]] = defaultdict(list)
    for binding in bindings:
        data = objects.get(binding.template)
        known = (
            binding.template[:2] in BUILT_IN or data is None or shape_of(Manifest(data)) is not None
        )
        # A binding with 0 replicas proves nothing: objects without replicas have 0 as well.
        if data is not None and not known and binding.spec.get("replicas"):
            found[binding.api_version, binding.template.kind].append((binding, data))
    for (version, kind), bound in sorted(found.items()):
        paths = set.intersection(
            *(set(_numbers(data, binding.spec["replicas"])) for binding, data in bound)
        )
        if len(paths) == 1:
            workload = CustomWorkload(
                api_version=version, kind=kind, replicas=".".join(paths.pop())
            )
            yield attrs.evolve(workload, pod_template=_pod_template(bound))


def _numbers(data: Object, number: int) -> Iterator[Path]:
    """Yield the fields of a spec with this number."""
    for path, value in _fields(data.get("spec"), ("spec",)):
        if value == number and isinstance(value, int) and not isinstance(value, bool):
            yield path


def _pod_template(bound: Iterable[tuple[Binding, Object]]) -> str | None:
    """Return the one field with a pod template, where bindings show that requests were read from
    it.
    """
    paths = [
        {
            ".".join(path[:-1])
            for path, value in _fields(data.get("spec"), ("spec",))
            if _is_pod(path, value)
        }
        for binding, data in bound
        if binding.spec.get("replicaRequirements")
    ]
    common = set.intersection(*paths) if paths else set()
    return common.pop() if len(common) == 1 else None


def _is_pod(path: Path, value: object) -> bool:
    return (
        path[-1] == "spec"
        and isinstance(value, Mapping)
        and isinstance(value.get("containers"), list)
    )


def _fields(value: object, path: Path) -> Iterator[tuple[Path, object]]:
    """Yield all fields of a map, and of the maps in it; lists are not entered."""
    yield path, value
    for key, item in value.items() if isinstance(value, Mapping) else ():
        # Paths are written with dots, so a field whose name has a dot cannot be named.
        if "." not in key:
            yield from _fields(item, (*path, key))
