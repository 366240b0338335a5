"""The members of a new fleet, as they are given by hand."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.guarded import read_yaml
from fleet_components.live.kubeconfig import read_kubeconfig_file
from fleet_components.model.labels import key_errors, label_errors, value_errors
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few, nearest

LONGEST = {"kubefleet": 63, "karmada": 48}
"""Largest number of characters of a member's name, by system: that of a DNS label, and what
Karmada's webhook takes.
"""
_FORM = "--member NAME or --member NAME:label=value,label=value"


@attrs.frozen
class NewMember:
    """A member to be written.

    Attributes:
        name: its name, a DNS label.
        labels: its labels.
        kubeconfig: the file that reaches it; None for a member that was given by hand.
        context: the context of that file.
        current: whether the file is used with that context where none is chosen.
    """

    name: str
    labels: Mapping[str, str] = attrs.field(factory=dict)
    kubeconfig: Path | None = None
    context: str = ""
    current: bool = False


def by_hand(given: Iterable[str], system: str) -> list[NewMember]:
    """Return the members that the texts NAME:label=value,... describe.

    Raises:
        FleetError: a name or a label is not one of Kubernetes.
    """
    problems: list[Problem] = []
    members = [_member(text, system, problems) for text in given]
    if problems:
        raise FleetError(problems)
    return members


def twice(members: Iterable[NewMember]) -> Iterator[Problem]:
    """Yield a problem for each name that several members have."""
    seen: set[str] = set()
    for member in members:
        if member.name in seen:
            yield Problem(
                Message("two-members", 'there are two members "{name}"', name=member.name),
                hint="give each a name of its own",
            )
        seen.add(member.name)


def usable_name(text: str, longest: int) -> str:
    """Return the name that is nearest to a text; ``member`` where no character of it can stay."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return plain[:longest].strip("-") or "member"


def wrong_name(name: str, system: str) -> Message | None:
    """Return why a text cannot be the name of a member of a system; None if it can."""
    longest = LONGEST[system]
    if not label_errors(name) and len(name) <= longest:
        return None
    return Message(
        "cannot-name-member-lower",
        '"{name}" cannot be the name of a member: lower case letters, digits and -, at most'
        " {longest} of them",
        name=name,
        longest=longest,
    )


def _member(text: str, system: str, problems: list[Problem]) -> NewMember:
    name, colon, labels = text.partition(":")
    what = wrong_name(name, system)
    if what:
        hint = f"write {usable_name(name, LONGEST[system])}" if name else _FORM
        problems.append(Problem(what, hint=hint))
    return NewMember(name, dict(_labels(name, labels, problems)) if colon else {})


def _labels(name: str, text: str, problems: list[Problem]) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for label in text.split(","):
        key, equals, value = label.partition("=")
        wrong = [*key_errors(key), *value_errors(value)] if equals else ["it is not label=value"]
        wrong += ["it is there twice"] if key in seen else []
        seen.add(key)
        problems += [
            Problem(
                Message("label-invalid", 'label "{label}": {item}', label=label, item=item),
                subject=f"member {name}",
                hint=_FORM,
            )
            for item in wrong
        ]
        yield key, value


# The members of a new fleet that kubeconfigs name. The files are only read: no plug-in is run, no
# cluster asked.


@attrs.frozen
class KubeconfigContext:
    """A context of a kubeconfig.

    Attributes:
        name: its name.
        file: the kubeconfig.
        cluster: what tells its cluster from others: the address of the server, or the name where it
            has none.
        current: True if it is the one that the file is used with.
    """

    name: str
    file: Path
    cluster: str
    current: bool


@attrs.frozen
class FoundMembers:
    """Result of reading kubeconfigs.

    Attributes:
        members: a member for each cluster.
        doubles: contexts of a cluster that is a member by another context, with the name of that
            member.
    """

    members: tuple[NewMember, ...]
    doubles: tuple[tuple[KubeconfigContext, str], ...]


def members_of(
    files: Sequence[Path], chosen: Collection[str], system: str, taken: Collection[str] = ()
) -> FoundMembers:
    """Return a member for each cluster of the kubeconfigs.

    Args:
        files: the kubeconfigs.
        chosen: names of the contexts that count; all of them if empty.
        system: the system whose members they are.
        taken: names that are given already.

    Raises:
        FleetError: a file cannot be read, or a context is not there or leads nowhere.
    """
    found: list[KubeconfigContext] = []
    problems: list[Problem] = []
    for file in dict.fromkeys(files):
        try:
            found += _contexts(file)
        except FleetError as error:
            problems += error.problems
    problems += () if problems else _missing(found, chosen)
    if problems:
        raise FleetError(problems)
    wanted = [context for context in found if not chosen or context.name in chosen]
    first: dict[str, KubeconfigContext] = {}
    # Of several contexts, the one that is in use.
    for context in sorted(wanted, key=lambda context: not context.current):
        first.setdefault(context.cluster, context)
    picked = [context for context in wanted if first[context.cluster] is context]
    names = _names(picked, LONGEST[system], taken)
    members = tuple(
        NewMember(
            names[context], kubeconfig=context.file, context=context.name, current=context.current
        )
        for context in picked
    )
    return FoundMembers(
        members,
        tuple(
            (context, names[first[context.cluster]]) for context in wanted if context not in names
        ),
    )


def _contexts(file: Path) -> Iterator[KubeconfigContext]:
    """Yield the contexts of a kubeconfig.

    Raises:
        FleetError: it cannot be read, or a context leads nowhere.
    """
    path = Path(os.path.expanduser(file))  # unlike Path.expanduser, it takes any text
    try:
        config = read_yaml(read_kubeconfig_file(path, ""))
    except FleetError as error:
        # There is no member yet that could be named.
        hint = "give a kubeconfig with clusters and contexts"
        raise FleetError(
            [attrs.evolve(problem, subject="", hint=hint) for problem in error.problems]
        ) from None
    clusters: Mapping[str, Any] = {item["name"]: item["cluster"] for item in config["clusters"]}
    current = config.get("current-context")
    problems: list[Problem] = []
    seen: set[str] = set()
    for context in config["contexts"]:
        name, cluster = context["name"], context["context"].get("cluster")
        if name in seen:
            hint = "kubectl config rename-context gives one of them another name"
            problems.append(
                Problem(
                    Message("context-twice", 'the context "{name}" is there twice', name=name),
                    file=str(file),
                    hint=hint,
                )
            )
        elif not isinstance(cluster, str) or cluster not in clusters:
            what = Message(
                "context-leads-no-cluster",
                'the context "{name}" leads to no cluster of the file',
                name=name,
            )
            hint = f"name other contexts, or kubectl config delete-context {name}"
            problems.append(Problem(what, file=str(file), hint=hint))
        else:
            server = clusters[cluster].get("server")
            yield KubeconfigContext(
                name,
                file,
                server if isinstance(server, str) else f"{file}: {cluster}",
                name == current,
            )
        seen.add(name)
    if problems:
        raise FleetError(problems)


def _missing(found: Sequence[KubeconfigContext], chosen: Collection[str]) -> Iterator[Problem]:
    names = [context.name for context in found]
    for name in chosen:
        if name not in names:
            meant = nearest(name, names)
            hint = f"did you mean {meant}?" if meant else f"there are {few(names)}"
            yield Problem(
                Message("no-kubeconfig-context", 'no kubeconfig has a context "{name}"', name=name),
                hint=hint,
            )


def _names(
    contexts: Sequence[KubeconfigContext], longest: int, taken: Collection[str]
) -> dict[KubeconfigContext, str]:
    """Return a name for each context: its own; where several files have it, as ``default`` of k3s,
    with the file's.
    """
    often = Counter(context.name for context in contexts)
    names: dict[KubeconfigContext, str] = {}
    used = set(taken)
    for context in contexts:
        base = usable_name(
            f"{context.file.stem}-{context.name}" if often[context.name] > 1 else context.name,
            longest,
        )
        name, number = base, 1
        while name in used:
            number += 1
            name = f"{base[: longest - len(str(number)) - 1].strip('-')}-{number}"
        used.add(name)
        names[context] = name
    return names
