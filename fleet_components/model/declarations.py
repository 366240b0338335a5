"""Which objects are declarations of this package, and which were probably meant to be."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from fleet_components.model.guests import guests
from fleet_components.model.kinds import BUILT_IN, BUILT_IN_GROUPS
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.reader import API_VERSION, BUILDS, DECLARATIONS, stray_fields
from fleet_components.model.text import nearest

GROUP = API_VERSION.partition("/")[0]
_ALIKE = 0.8
"""Least similarity of an apiVersion that was probably meant to be ours: two letters may differ."""
_ALIKE_KIND = 0.6
"""Least similarity of a kind; of the three letters of a Hub one may differ."""


def declared_kinds() -> tuple[str, ...]:
    """Return the kinds of all declarations, those of guests included, sorted."""
    return tuple(
        sorted({*DECLARATIONS, *BUILDS, *(kind for guest in guests() for kind in guest.KINDS)})
    )


def meant_kind(manifest: Manifest) -> str:
    """Return the kind of declaration that an object was probably meant to be; empty if it is
    another system's.
    """
    return _meant(manifest.api_version, manifest.group, manifest.kind)


@lru_cache(maxsize=4096)
def _meant(api_version: str, group: str, kind: str) -> str:
    if group == GROUP or nearest(api_version, [API_VERSION], _ALIKE):
        return nearest(kind, declared_kinds(), _ALIKE_KIND)
    # No API server has such a kind in one of Kubernetes' own groups.
    astray = group in BUILT_IN_GROUPS and (group, kind) not in BUILT_IN
    return kind if astray and kind in declared_kinds() else ""


def misdeclared(manifest: Manifest) -> Iterator[Problem]:
    """Yield what is wrong with the apiVersion, the kind and the top-level fields of a declaration.

    An object in our group always counts as one; in a similar group it does if its kind is similar,
    in one of Kubernetes' own if its kind is ours.
    """
    meant = meant_kind(manifest)
    if manifest.group != GROUP and not meant:
        return
    write = f"write kind: {meant}" if meant else f"write one of {', '.join(declared_kinds())}"
    if manifest.api_version != API_VERSION:
        what = Message(
            "no-declaration-apiversion",
            'no declaration has the apiVersion "{api_version}"',
            api_version=manifest.api_version,
        )
        kind = "" if manifest.kind == meant else f", and {write.removeprefix('write ')}"
        yield manifest.problem(what, ("apiVersion",), f"write apiVersion: {API_VERSION}{kind}")
    elif manifest.kind != meant:
        yield manifest.problem(
            Message(
                "no-kind-in-version",
                'there is no kind "{kind}" in {api_version}',
                kind=manifest.kind,
                api_version=API_VERSION,
            ),
            ("kind",),
            write,
        )
    yield from stray_fields(manifest)
