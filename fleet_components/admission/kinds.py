"""Which kinds are checked, which are known and left alone, and what an unknown one was meant to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from fleet_components.admission import karmada, kubefleet
from fleet_components.admission.finding import Finding
from fleet_components.admission.hint import nearest
from fleet_components.admission.registry import Kind
from fleet_components.admission.structure import unknown_fields
from fleet_components.model.manifest import Manifest

_ALL: tuple[Kind, ...] = (*kubefleet.KINDS, *karmada.KINDS)

KINDS: Mapping[tuple[str, str], Kind] = {(kind.api_version, kind.name): kind for kind in _ALL}
"""The kinds that are checked, by ``apiVersion`` and ``kind``."""

_MADE_BY_SYSTEM: Mapping[str, tuple[str, ...]] = {
    **kubefleet.MADE_BY_SYSTEM,
    **karmada.MADE_BY_SYSTEM,
}
_GROUPS = tuple(dict.fromkeys(kind.group for kind in _ALL))


def versions_of(kind: Kind) -> tuple[Kind, ...]:
    """The same kind in all its versions; the last is the one that is stored."""
    return tuple(other for other in _ALL if (other.group, other.name) == (kind.group, kind.name))


def unknown_kind(manifest: Manifest) -> Finding | None:
    """The refusal of a kind that does not exist, where it claims or was probably meant to be one of ours."""
    group, kind = manifest.group, manifest.kind
    if (manifest.api_version, kind) in KINDS or kind in _MADE_BY_SYSTEM.get(group, ()):
        return None
    if group in _GROUPS:
        names = [known.name for known in _ALL if known.group == group]
    elif not group or get_close_matches(group, _GROUPS, n=1, cutoff=0.85):
        names = [known.name for known in _ALL if known.name == kind]
    else:
        names = []
    return _no_match(manifest, names) if names or group in _GROUPS else None


def _no_match(manifest: Manifest, names: Iterable[str]) -> Finding:
    what = f'no matches for kind "{manifest.kind}" in version "{manifest.api_version}"'
    meant = nearest(manifest.kind, names)
    if not meant:
        return Finding(what, ("kind",), f"write one of {', '.join(dict.fromkeys(names))}", "kind")
    known = [kind for kind in _ALL if kind.name == meant]
    if manifest.api_version in [kind.api_version for kind in known]:
        return Finding(what, ("kind",), f"write kind: {meant}", "kind")
    do = f"write apiVersion: {_best(known, manifest)}" + (f" and kind: {meant}" if meant != manifest.kind else "")
    return Finding(what, ("apiVersion",), do, "kind")


def _best(versions: Sequence[Kind], manifest: Manifest) -> str:
    """v1 where it is served and has all fields of the object, else the version that is stored: the last."""
    stable = [kind for kind in versions if kind.version == "v1" and not unknown_fields(kind.schema, manifest.data)]
    return (stable or versions)[-1].api_version
