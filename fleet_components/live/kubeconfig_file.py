"""The kubeconfig of one context of a file, as kubectl understands it: paths in it are relative to
the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import yaml

from fleet_components.content.guarded import read_yaml
from fleet_components.live.kubeconfig import read_kubeconfig_file
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few, nearest

# Fields whose values are paths.
_PATHS = {"certificate-authority", "client-certificate", "client-key", "tokenFile"}
_NOT_CARRIED_OUT = {
    "cluster": {
        "proxy-url": "set HTTPS_PROXY instead",
        "tls-server-name": "give a server whose name is that",
    },
    "user": {
        **dict.fromkeys(
            ("as", "as-groups", "as-uid", "as-user-extra"), "give a kubeconfig of that user itself"
        ),
        "auth-provider": "give a user with exec, as kubelogin convert-kubeconfig makes it",
    },
}
"""Fields with which another cluster, or another user, would answer than kubectl asks; each with
what would do.
"""


def context_of(path: Path, context: str = "", *, subject: str) -> str:
    """Return the text of a kubeconfig that has one context alone, whose paths are absolute.

    Args:
        path: the file.
        context: the name of the context; empty for the current one of the file.
        subject: what is reached by it, for messages.

    Raises:
        FleetError: the file cannot be read, there is no such context, or it leads nowhere or needs
            what is not carried out. Nothing of it is shown but the names of contexts and fields.
    """
    return contexts_of(path, {subject: context})[subject]


def contexts_of(path: Path, contexts: Mapping[str, str]) -> Mapping[str, str]:
    """Return the texts of :func:`context_of` for several contexts of a file, which is read once.

    Args:
        path: the file.
        contexts: the names of the contexts, by what is reached by each.

    Raises:
        FleetError: as for :func:`context_of`, for all contexts that are wrong.
    """
    # Unlike Path.expanduser, it takes any text.
    path = Path(os.path.expanduser(path))
    try:
        config = read_yaml(read_kubeconfig_file(path, ""))
    except FleetError as error:
        raise FleetError(
            # One file for all contexts: its problem is reported once.
            [attrs.evolve(problem, subject=next(iter(contexts))) for problem in error.problems]
        ) from None
    texts: dict[str, str] = {}
    problems: list[Problem] = []
    for subject, context in contexts.items():
        try:
            texts[subject] = _alone(config, context, path, subject)
        except FleetError as error:
            problems += error.problems
    if problems:
        raise FleetError(problems)
    return texts


def unreadable(text: str) -> Sequence[str]:
    """Return the fields of a kubeconfig that name files which cannot be read, sorted; nothing of
    their values.
    """
    config = read_yaml(text)
    parts = [
        item.get(part) or {}
        for part in ("cluster", "user")
        for item in config.get(f"{part}s") or ()
    ]
    files = [(field, item[field]) for item in parts for field in _PATHS if item.get(field)]
    return sorted({field for field, file in files if not os.access(str(file), os.R_OK)})


def _alone(config: Mapping[str, Any], context: str, path: Path, subject: str) -> str:
    problems: list[Problem] = []
    try:
        found = _of_context(config, context, problems)
    except (AttributeError, KeyError, TypeError):
        problems.append(
            Problem(
                Message(
                    "kubeconfig-not-one-parts",
                    "the kubeconfig is not one: its parts are not lists of names with what they"
                    " name",
                )
            )
        )
    if problems:
        raise FleetError(
            [attrs.evolve(problem, subject=subject, file=str(path)) for problem in problems]
        )
    folder = path.resolve().parent
    parts = {
        name: {key: _absolute(key, value, folder) for key, value in part.items()}
        for name, part in found.items()
    }
    name = str(context or config.get("current-context"))
    # The names inside are free, because nothing outside refers to them.
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "contexts": [
                {"name": name, "context": {**parts["context"], "cluster": "x", "user": "x"}}
            ],
            "clusters": [{"name": "x", "cluster": parts["cluster"]}],
            "users": [{"name": "x", "user": parts["user"]}],
        }
    )


def _of_context(
    config: Mapping[str, Any], context: str, problems: list[Problem]
) -> dict[str, Mapping[str, Any]]:
    """Return the context, its cluster and its user; add what is wrong with them."""
    contexts = {item["name"]: item["context"] for item in config["contexts"]}
    name = context or config.get("current-context")
    if not name:
        problems.append(
            Problem(
                Message("no-current-context", "has no current-context"),
                hint=f"choose with --context: {few(sorted(contexts))}",
            )
        )
        return {}
    if name not in contexts:
        meant = nearest(str(name), contexts)
        hint = f"did you mean {meant}?" if meant else f"there is: {few(sorted(contexts))}"
        problems.append(
            Problem(Message("no-context", 'has no context "{name}"', name=name), hint=hint)
        )
        return {}
    chosen = contexts[name]
    clusters = {cluster["name"]: cluster["cluster"] for cluster in config["clusters"]}
    users = {item["name"]: item.get("user") or {} for item in config.get("users") or ()}
    if chosen.get("cluster") not in clusters or (
        chosen.get("user") and chosen["user"] not in users
    ):
        what = Message(
            "context-leads-cluster-user",
            'the context "{name}" leads to a cluster or a user that is not in the file',
            name=name,
        )
        problems.append(
            Problem(what, hint=f"name other contexts, or kubectl config delete-context {name}")
        )
        return {}
    found = {
        "context": chosen,
        "cluster": clusters[chosen["cluster"]],
        "user": users.get(chosen.get("user"), {}),
    }
    problems += _refused(found)
    return found


def _refused(found: Mapping[str, Mapping[str, Any]]) -> Iterator[Problem]:
    for part, fields in _NOT_CARRIED_OUT.items():
        for field, hint in fields.items():
            if found[part].get(field):
                yield Problem(
                    Message(
                        "context-field-not-carried",
                        'the {part} of the context has the field "{field}", which is not'
                        " carried out",
                        part=part,
                        field=field,
                    ),
                    hint=hint,
                )


def _absolute(field: str, value: Any, folder: Path) -> Any:
    if field in _PATHS and isinstance(value, str) and value:
        # An absolute path replaces the folder.
        return str(folder / value)
    command = value.get("command") if field == "exec" and isinstance(value, Mapping) else None
    # As for a shell: a name alone is looked up on PATH.
    if isinstance(command, str) and os.sep in command:
        return {**value, "command": str(folder / command)}
    return value
