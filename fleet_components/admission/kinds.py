"""Kinds that are checked, kinds that are known but not checked, and guesses at what an unknown kind was meant to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from fleet_components.admission.finding import Finding
from fleet_components.admission.registry import Kind
from fleet_components.admission.structure import unknown_paths
from fleet_components.model.manifest import Manifest
from fleet_components.model.releases import Releases
from fleet_components.model.text import nearest
from fleet_components.systems.karmada import admission as karmada
from fleet_components.systems.kubefleet import admission as kubefleet


@cache
def kinds_under(releases: Releases) -> Mapping[tuple[str, str], Kind]:
    """Return the checked kinds of both systems, by ``apiVersion`` and ``kind``."""
    every = (*kubefleet.kinds_in(releases.kubefleet), *karmada.kinds_in(releases.karmada))
    return {(kind.api_version, kind.name): kind for kind in every}


KINDS = kinds_under(Releases())
"""Checked kinds, by ``apiVersion`` and ``kind``. All releases have the same ones."""
_ALL = tuple(KINDS.values())

_MADE_BY_SYSTEM: Mapping[str, tuple[str, ...]] = {
    **kubefleet.MADE_BY_SYSTEM,
    **karmada.MADE_BY_SYSTEM,
}
_GROUPS = tuple(dict.fromkeys(kind.group for kind in _ALL))
_NAMES = tuple(dict.fromkeys(kind.name for kind in _ALL))
_FAMILIES = (".kubernetes-fleet.io", ".karmada.io")
"""Suffixes of the groups of both systems; some of these groups hold kinds that are not checked."""
_COMMON = ("ApprovalRequest", "Cluster")
"""Kinds that other systems have under the same name."""
_NEAR_GROUP, _NEAR_KIND = 0.85, 0.9


def versions_of(kind: Kind, releases: Releases) -> tuple[Kind, ...]:
    """Return the kind in all its versions; the last one is the storage version."""
    return tuple(
        other for other in kinds_under(releases).values() if (other.group, other.name) == (kind.group, kind.name)
    )


def unknown_kind(manifest: Manifest, *, anywhere: bool = False) -> Finding | None:
    """Return the refusal of a kind that does not exist, if it belongs to our groups or was probably meant to be ours.

    Args:
        manifest: the object.
        anywhere: also consider objects of groups that are neither ours nor similar; kinds that other systems have under
            the same name are ignored there.
    """
    group, kind = manifest.group, manifest.kind
    if (manifest.api_version, kind) in KINDS or kind in _MADE_BY_SYSTEM.get(group, ()):
        return None
    meant = _meant(group, kind) if anywhere or _is_ours(group) else ""
    return _no_match(manifest, meant) if meant or group in _GROUPS else None


@lru_cache(maxsize=4096)
def _meant(group: str, kind: str) -> str:
    """Return the kind of ours that was probably meant; empty if there is none."""
    if group in _GROUPS:
        exact = kind if kind in _NAMES and kind not in _COMMON else ""
        return exact or nearest(kind, _names_in(group)) or nearest(kind, _NAMES, _NEAR_KIND)
    names = _NAMES if _is_ours(group) else [name for name in _NAMES if name not in _COMMON]
    return nearest(kind, names, _NEAR_KIND)


@lru_cache(maxsize=4096)
def _is_ours(group: str) -> bool:
    """Return whether a group is one of ours, missing, or misspelt."""
    return not group or group.endswith(_FAMILIES) or bool(nearest(group, _GROUPS, _NEAR_GROUP))


def _names_in(group: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(kind.name for kind in _ALL if kind.group == group))


def _no_match(manifest: Manifest, meant: str) -> Finding:
    what = f'no matches for kind "{manifest.kind}" in version "{manifest.api_version}"'
    if not meant:
        names = _names_in(manifest.group)
        like = [name for name in names if manifest.kind.casefold() in name.casefold()]
        return Finding(what, ("kind",), f"write one of {', '.join(like or names)}", "kind")
    known = [kind for kind in _ALL if kind.name == meant]
    if manifest.api_version in [kind.api_version for kind in known]:
        return Finding(what, ("kind",), f"write kind: {meant}", "kind")
    do = f"write apiVersion: {_best(known, manifest)}" + (f" and kind: {meant}" if meant != manifest.kind else "")
    return Finding(what, ("apiVersion",), do, "kind")


def _best(versions: Sequence[Kind], manifest: Manifest) -> str:
    """Return the ``apiVersion`` to suggest: one that has all fields of the object, or else the storage version.

    The version of the object is preferred, then v1.
    """
    whole = [kind for kind in versions if not unknown_paths(kind.schema, manifest.data)]
    wanted = [kind for version in ("v1", manifest.version) for kind in whole if kind.version == version]
    return (wanted or versions)[-1].api_version
