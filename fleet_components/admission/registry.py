"""Declaration of kinds, and the input of their webhooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Literal

import attrs

from fleet_components.admission.finding import Denial
from fleet_components.admission.schema import Schema, ValueRule, struct, text
from fleet_components.admission.structure import METADATA
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FieldPath
from fleet_components.model.releases import Releases

Object = Mapping[str, Any]
Scope = Literal["Cluster", "Namespaced", "unknown"]


@attrs.frozen(eq=False, slots=False)
class Existing:
    """The other objects beside one that is admitted, and the releases that admit it.

    Attributes:
        manifests: the other objects, as they were written.
        releases: the releases.
    """

    manifests: tuple[Manifest, ...] = ()
    releases: Releases = Releases()

    @cached_property
    def scopes(self) -> Mapping[tuple[str, str, str], Scope]:
        """The scope of each custom kind, by group, version and kind; the first definition
        counts.
        """
        found: dict[tuple[str, str, str], Scope] = {}
        for manifest in self.manifests:
            if manifest.kind == "CustomResourceDefinition":
                for kind in _defined(manifest.data):
                    found.setdefault(
                        kind,
                        "Cluster"
                        if manifest.data["spec"].get("scope") == "Cluster"
                        else "Namespaced",
                    )
        # After all definitions, so that only kinds without one are unknown.
        for manifest in self.manifests:
            found.setdefault((manifest.group, manifest.version, manifest.kind), "unknown")
        return found


def _defined(definition: Object) -> Iterator[tuple[str, str, str]]:
    spec = definition.get("spec") or {}
    kind = (spec.get("names") or {}).get("kind")
    for version in spec.get("versions") or ():
        yield str(spec.get("group")), str(version.get("name")), str(kind)


@attrs.frozen
class AdmissionRequest:
    """Input of a validating webhook: an object to be created or updated.

    Attributes:
        object: the object, defaulted and structurally valid.
        old: the object that it replaces, defaulted; None for a new object.
        context: the existing objects.
    """

    object: Object
    old: Object | None = None
    context: Existing = attrs.field(default=Existing(), repr=False)

    @property
    def metadata(self) -> Object:
        """The object's ``metadata``."""
        metadata: Object = self.object.get("metadata") or {}
        return metadata

    @property
    def name(self) -> str:
        """The object's name; empty if it has none."""
        return str(self.metadata.get("name", ""))

    def existing(self, kind: str) -> Iterator[Manifest]:
        """Return the existing objects of that kind in the same API group, in any version.

        A new object does not exist yet, though the context may have it.
        """
        # By group alone: a hub has an object once, whatever the version in which it is read.
        group = str(self.object.get("apiVersion", "")).partition("/")[0]
        # An update has its old object among the others, as a hub has.
        own = (
            (self.object.get("kind"), self.metadata.get("namespace", ""), self.name)
            if self.old is None
            else None
        )
        alike = (it for it in self.context.manifests if it.kind == kind and it.group == group)
        return (it for it in alike if (it.kind, it.metadata.get("namespace", ""), it.name) != own)


@attrs.frozen
class AdmittedKind:
    """One version of one kind. Its schemas are made when they are first asked for.

    Attributes:
        group: the API group.
        version: the API version.
        name: the kind.
        make: makes the structure of the whole object; see :func:`whole`.
        namespaced: whether its objects belong to a namespace.
        mutate: the mutating webhook, which changes the decoded object in place; None if there is
            none.
        validate: the validating webhook; None if there is none.
        held: the fields that rules for updates compare with their old values.
        make_status: makes the structure of its ``status``; None if that is not read here.
    """

    group: str
    version: str
    name: str
    make: Callable[[], Schema] = attrs.field(repr=False)
    namespaced: bool = False
    mutate: Callable[[dict[str, Any]], None] | None = attrs.field(default=None, repr=False)
    validate: Callable[[AdmissionRequest], Denial | None] | None = attrs.field(
        default=None, repr=False
    )
    held: tuple[FieldPath, ...] = ()
    make_status: Callable[[], Schema] | None = attrs.field(default=None, repr=False)

    @property
    def api_version(self) -> str:
        """The ``apiVersion``: ``group/version``."""
        return f"{self.group}/{self.version}"

    @cached_property
    def schema(self) -> Schema:
        """Structure of the whole object, with a status of any form if it has one."""
        return self.make()

    @cached_property
    def status(self) -> Schema | None:
        """Structure of its status if that is read here; an API server accepts any from those who
        may write it.
        """
        return self.make_status() if self.make_status else None

    @property
    def structure(self) -> Schema:
        """Structure of the whole object, including its status."""
        return self.schema.having({"status": self.status}) if self.status else self.schema


def whole(fields: Mapping[str, Schema], rules: Iterable[ValueRule] = (), go: str = "") -> Schema:
    """Return the schema of a whole object: these fields and ``apiVersion``, ``kind`` and
    ``metadata``.
    """
    common = {"apiVersion": text(), "kind": text(), "metadata": METADATA}
    return struct({**common, **fields}, rules=tuple(rules), go=go)
