"""An object as its resource in the state has it, beside what is wanted of it.

After an update that broke, the records of a subject do not say what each object on a member is:
some were written, some were not. The resource of the object does: its outputs are what the
Kubernetes provider has seen last, and what it was about to write (pulumi/pulumi-kubernetes v4.34,
provider/pkg/provider/provider.go, ``checkpointObject``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from fleet_components.content.difference import Difference, amounts_alike
from fleet_components.content.replacement import as_sent
from fleet_components.content.stamp import MARKS
from fleet_components.content.unkept import by_name
from fleet_components.model.manifest import value_at
from fleet_components.model.problem import FieldPath
from fleet_components.plan.state import ENCRYPTED

_SENT = "__inputs"
_KEPT_BY_PROVIDER = ("__fieldManager", "__initialApiVersion", _SENT)
_ANNOTATIONS = ("metadata", "annotations")
_EMPTY: tuple[Any, ...] = (None, "", [], {})
_UNDERSCORED = "x_kubernetes_"
"""Beginning of fields of definitions in outputs: the provider writes dashes as underscores."""


@attrs.frozen
class Recorded:
    """An object as the state has it.

    Attributes:
        live: the object as the provider has seen it last, with everything that the API server has
            added.
        sent: the object as it was sent last, whether the API server has taken it or not.
    """

    live: Mapping[str, Any] = attrs.field(repr=False)
    sent: Mapping[str, Any] = attrs.field(repr=False)

    @classmethod
    def of(cls, outputs: Mapping[str, Any]) -> Recorded | None:
        """Return the object in the outputs of its resource; None if there is none, as in a
        render.
        """
        if not outputs.get("kind") or not outputs.get("apiVersion"):
            return None
        live = {key: value for key, value in outputs.items() if key not in _KEPT_BY_PROVIDER}
        sent = outputs.get(_SENT)
        # Where nothing else is recorded, outputs are inputs: in process, and of providers that only
        # render.
        return cls(_plain(live), _plain(sent) if isinstance(sent, Mapping) else _plain(live))

    def beside(self, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the object as it stands, limited to what is wanted and sent; ``wanted`` if alike.

        What an API server has added, or writes in another way, is no difference, nor are the marks
        of the stack.
        """
        return self._compared(wanted, sent_only=False)

    def as_compared(self, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the object as the provider compares it: limited to what was sent before."""
        return self._compared(wanted, sent_only=True)

    def _compared(self, wanted: Mapping[str, Any], *, sent_only: bool) -> Mapping[str, Any]:
        new = as_sent(wanted)
        found: Mapping[str, Any] = _stands(
            new, self.live, _unmarked(as_sent(self.sent), new), (), sent_only
        )
        # The very object: callers ask by identity whether anything differs.
        return wanted if found == new else found


def _stands(wanted: Any, live: Any, sent: Any, path: FieldPath, sent_only: bool) -> Any:
    """Return a value as it stands, limited to what is wanted or was sent."""
    if live == ENCRYPTED:
        return wanted  # the state hides it
    if isinstance(wanted, Mapping) and isinstance(live, Mapping):
        return dict(
            _fields(wanted, live, sent if isinstance(sent, Mapping) else {}, path, sent_only)
        )
    if isinstance(wanted, list) and isinstance(live, list):
        return _items(wanted, live, sent if isinstance(sent, list) else [], path, sent_only)
    # Not wanted any more: what was sent of it, without what the API server has added.
    if wanted is None:
        return _shaped(live, sent)
    # In Python 1 equals True, in JSON it does not.
    alike = wanted == live and isinstance(wanted, bool) == isinstance(live, bool)
    return wanted if alike or amounts_alike(Difference(path, live, wanted)) else live


def _fields(
    wanted: Mapping[str, Any],
    live: Mapping[str, Any],
    sent: Mapping[str, Any],
    path: FieldPath,
    sent_only: bool,
) -> Iterator[tuple[str, Any]]:
    for key in sent.keys() | wanted.keys():
        if live.get(key) is None:
            # API servers drop what is empty.
            if key in wanted and wanted[key] in _EMPTY:
                yield key, wanted[key]
        elif key in sent or not sent_only or live[key] == ENCRYPTED:
            value = _stands(wanted.get(key), live[key], sent.get(key), (*path, key), sent_only)
            if key in wanted or value not in _EMPTY:
                yield key, value


def _items(
    wanted: list[Any], live: list[Any], sent: list[Any], path: FieldPath, sent_only: bool
) -> list[Any]:
    new, old, before = map(by_name, (wanted, live, sent))
    if new and old:
        # Others may add items to such a list, a sidecar for example; its order means nothing.
        names = [
            *(name for name in new if name in old),
            *(name for name in old if name in before and name not in new),
        ]
        return [
            # The position does not matter: only names of fields are looked at in a path.
            _stands(new.get(text), old[text], before.get(text), (*path, 0), sent_only)
            for text in names
        ]
    beside = wanted if len(wanted) == len(live) else [None] * len(live)
    known = sent if len(sent) == len(live) else live
    items = enumerate(zip(beside, live, known, strict=True))
    return [_stands(*three, (*path, index), sent_only) for index, three in items]


def _shaped(live: Any, sent: Any) -> Any:
    """Return a value without the fields that were not sent."""
    if isinstance(live, Mapping) and isinstance(sent, Mapping):
        return {key: _shaped(live[key], sent[key]) for key in sent if live.get(key) is not None}
    if isinstance(live, list) and isinstance(sent, list) and len(live) == len(sent):
        return list(map(_shaped, live, sent))
    return live


def _unmarked(sent: Mapping[str, Any], wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what was sent without the marks of the stack, as far as they are not wanted."""
    known, asked = (value_at(data, _ANNOTATIONS) or {} for data in (sent, wanted))
    marks = {item for item in known if item in MARKS and item not in asked}
    if not marks:
        return sent
    annotations = {key: value for key, value in known.items() if key not in marks}
    return {**sent, "metadata": {**sent["metadata"], "annotations": annotations}}


def _plain(value: Any) -> Any:
    """Return a value as a manifest has it: whole numbers, and dashes in definitions."""
    if isinstance(value, Mapping):
        return {_field(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(_plain, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _field(key: str) -> str:
    return key.replace("_", "-") if key.startswith(_UNDERSCORED) else key
