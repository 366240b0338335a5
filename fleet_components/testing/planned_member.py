"""A member as rules see it, and the criteria by which members are distinguished."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from fleet_components.model.cluster import NO_LABELS, Cluster, Taint, serving_both
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.selector import Requirement
from fleet_components.model.text import Vocabulary, visible
from fleet_components.plan.no_match import meant

# A test that fails shows the line of the test, not the frames of this module.
__tracebackhide__ = True

Values = Mapping[str, str]


class PlannedMember(str):
    """A member: its name, with what is known of it.

    It is the text of its name, so that ``"aks-dublin" in placement.members`` asks what it says.
    """

    cluster: Cluster | None

    def __new__(cls, name: str, cluster: Cluster | None = None) -> PlannedMember:
        """Return a member.

        Args:
            name: its name.
            cluster: what is known of it; None for one that is no longer in the fleet, or that is
                lost.
        """
        self = super().__new__(cls, name)
        self.cluster = cluster and serving_both(cluster)
        return self

    @property
    def labels(self) -> Values:
        """Labels; empty for a member that is no longer in the fleet."""
        return self.cluster.labels if self.cluster else NO_LABELS

    @property
    def properties(self) -> Values:
        """KubeFleet's properties, as texts."""
        return self.cluster.properties if self.cluster else NO_LABELS

    @property
    def taints(self) -> tuple[Taint, ...]:
        """Taints."""
        return self.cluster.taints if self.cluster else ()

    @property
    def region(self) -> str:
        """Region that its spec declares, else one of the labels that commonly say it; or empty.

        The labels are ``topology.kubernetes.io/region``, ``fleet.azure.com/location`` and
        ``region``.
        """
        return (self.cluster.region if self.cluster else "") or self.labels.get("region", "")

    @property
    def zones(self) -> tuple[str, ...]:
        """``spec.zones``; else the label ``topology.kubernetes.io/zone`` or ``zone``."""
        return (self.cluster.zones if self.cluster else ()) or tuple(
            filter(None, [self.labels.get("zone", "")])
        )

    @property
    def provider(self) -> str:
        """``spec.provider`` of a Karmada ``Cluster``; or empty."""
        return self.cluster.provider if self.cluster else ""


Members = tuple[PlannedMember, ...]
By = str | Callable[[PlannedMember], str]
"""Criterion to tell members by: ``member``, ``region``, ``zone``, ``provider``, the key of a label,
or a function.
"""
FIELDS: Mapping[str, Callable[[PlannedMember], Sequence[str]]] = {
    "member": lambda member: (str(member),),
    "region": lambda member: (member.region,),
    "zone": lambda member: member.zones,
    "provider": lambda member: (member.provider,),
}
_REGION_HINT = "declare spec.region, or the label topology.kubernetes.io/region"


def grouped(members: Iterable[PlannedMember], by: By, everyone: Members) -> dict[str, Members]:
    """Return members by what they are distinguished by; those of which that is unknown are under
    the empty text.

    Args:
        members: the members; one may be in several zones.
        by: what they are distinguished by.
        everyone: all members of the fleet.

    Raises:
        FleetError: no member of the fleet has a value for it, so that it is misspelt or not
            declared.
    """
    # In a fleet without members nothing can be misspelt.
    if everyone and not any(_values(member, by) for member in everyone):
        raise FleetError([_nobody(by, everyone)])
    found = defaultdict[str, list[PlannedMember]](list)
    for member in members:
        for value in _values(member, by) or ("",):
            found[value].append(member)
    return {value: tuple(found[value]) for value in sorted(found)}


def noun_of(by: By, number: int = 1) -> str:
    """Return the noun for what members are distinguished by, in the plural unless the number is
    1.
    """
    if isinstance(by, str) and by not in FIELDS:
        return f"value{'' if number == 1 else 's'} of {by}"
    noun = (
        by
        if isinstance(by, str)
        else getattr(by, "__name__", "group").strip("<>").replace("_", " ")
    )
    return noun if number == 1 else f"{noun}s"


def _values(member: PlannedMember, by: By) -> Sequence[str]:
    if not isinstance(by, str):
        found: Sequence[str] = (by(member),)
    elif by in FIELDS:
        found = FIELDS[by](member)
    else:
        found = (member.labels.get(by, ""),)
    return tuple(filter(None, found))


def _nobody(by: By, everyone: Members) -> Problem:
    if not isinstance(by, str):
        return Problem(
            Message(
                "function-knows-no-member",
                "{function} says nothing of any member",
                function=getattr(by, "__name__", "the function"),
            )
        )
    if by == "region":
        return Problem(Message("no-member-region", "no member has a region"), hint=_REGION_HINT)
    known = Vocabulary({*FIELDS, *(key for member in everyone for key in member.labels)})
    what = (
        Message("no-member-has-field", "no member has a {field}", field=by)
        if by in FIELDS
        else Message("no-member-has-label", "no member has the label {label}", label=visible(by))
    )
    return Problem(what, hint=meant(by, known, "there is"))


# Label selectors as ``kubectl`` takes them on its command line.


_KEY = r"(?P<key>[^\s!=,()]+)"
_FORMS = (
    (re.compile(rf"{_KEY}\s*==?\s*(?P<values>[^\s!=,()]*)"), "In"),
    (re.compile(rf"{_KEY}\s*!=\s*(?P<values>[^\s!=,()]*)"), "NotIn"),
    (re.compile(rf"{_KEY}\s+in\s*\((?P<values>[^()]*)\)"), "In"),
    (re.compile(rf"{_KEY}\s+notin\s*\((?P<values>[^()]*)\)"), "NotIn"),
    (re.compile(_KEY), "Exists"),
    (re.compile(rf"!\s*{_KEY}"), "DoesNotExist"),
)
_BETWEEN = re.compile(r",(?![^(]*\))")
"""A comma that stands in no parentheses."""
_HINT = (
    "write it as for kubectl: tier=0, tier!=0, tier in (0,1), tier notin (0,1), tier or !tier, with"
    " commas between"
)


def parsed(text: str) -> tuple[Requirement, ...]:
    """Return the requirements of a selector; none for an empty text.

    Raises:
        FleetError: it is no selector.
    """
    return (
        tuple(_requirement(part.strip(), text) for part in _BETWEEN.split(text))
        if text.strip()
        else ()
    )


def met_by(asked: Requirement, values: Mapping[str, Collection[str]]) -> bool:
    """Return whether labels meet a requirement, where one key may have several values.

    ``NotIn`` and ``DoesNotExist`` are the opposites of ``In`` and ``Exists``: no value may be one
    of the named ones.
    """
    match asked.operator:
        case "In" | "NotIn":
            # ``In`` requires a common value, ``NotIn`` none.
            return (asked.operator == "In") is not set(asked.values).isdisjoint(
                values.get(asked.key, ())
            )
        case _:
            return (asked.operator == "Exists") is (asked.key in values)


def _requirement(part: str, text: str) -> Requirement:
    for form, operator in _FORMS:
        found = form.fullmatch(part)
        if found:
            groups = found.groupdict()
            values = (
                tuple(value.strip() for value in groups["values"].split(","))
                if "values" in groups
                else ()
            )
            asked = Requirement(groups["key"], operator, values)
            # A form may match a text that is no label, such as a key with two slashes.
            if asked.valid:
                return asked
    raise FleetError(
        [
            Problem(
                Message(
                    "not-label-selector", '"{text}" is not a label selector', text=visible(text)
                ),
                hint=_HINT,
            )
        ]
    )
