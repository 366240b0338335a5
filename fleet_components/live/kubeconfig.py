"""Kubeconfigs as text: read from a text or a file, and with the context that a provider's settings
choose.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from fleet_components.content.guarded import UnreadableError, read_yaml
from fleet_components.content.paths import read_regular
from fleet_components.content.secret import REDACTED
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import visible

NO_CLUSTER = yaml.safe_dump({"apiVersion": "v1", "kind": "Config", "current-context": "no-cluster"})
"""A kubeconfig that names no cluster and no user: its current context does not exist.

The Kubernetes provider then sends nothing, and with ``delete_unreachable`` it drops from the state
what it has to delete (pulumi/pulumi-kubernetes 4.34, ``Configure`` and ``Delete`` in
``provider/pkg/provider/provider.go``; client-go
0.36, ``ConfirmUsable`` in ``tools/clientcmd/client_config.go``).
"""
_HINT = "give the text or the path of a kubeconfig with clusters, contexts and users"


def kubeconfig_key(cluster: str) -> str:
    """Return the configuration key of a member's kubeconfig, as the command line takes it with
    ``--path``.
    """
    return (
        f"'fleet:kubeconfigs[\"{cluster}\"]'" if "." in cluster else f"fleet:kubeconfigs.{cluster}"
    )


def read_kubeconfig(text_or_path: Any, cluster: str) -> str:
    """Return the text of a kubeconfig that is given as text or path; an output may have resolved to
    any type.

    Raises:
        FleetError: there is none, the file cannot be read, or the text is not a kubeconfig. The
            text is never shown.
    """
    if text_or_path is None:
        hint = (
            f"pulumi config set --path {kubeconfig_key(cluster)} PATH, or give it to the member in"
            " the program"
        )
        raise FleetError(
            [
                Problem(
                    Message("no-kubeconfig", "has no kubeconfig"),
                    subject=f"member {cluster}",
                    hint=hint,
                )
            ]
        )
    if not isinstance(text_or_path, str):
        raise FleetError(
            [
                Problem(
                    Message("kubeconfig-not-text", "the kubeconfig is not text"),
                    subject=f"member {cluster}",
                    hint=_HINT,
                )
            ]
        )
    if text_or_path == REDACTED:
        return text_or_path  # in a plan without the passphrase, encrypted values are unknown
    # A path has one line and is not JSON.
    if "\n" in text_or_path or text_or_path.lstrip().startswith("{"):
        return _checked(text_or_path, cluster)
    path = _file_at(text_or_path)
    if path is None:
        what, hint = (
            Message(
                "kubeconfig-neither-text-nor",
                "the kubeconfig is neither a text nor the path of a file that is there",
            ),
            _HINT,
        )
        raise FleetError([Problem(what, subject=f"member {cluster}", hint=hint)])
    return read_kubeconfig_file(path, cluster)


def read_kubeconfig_file(path: Path, cluster: str) -> str:
    """Return the text of a kubeconfig.

    Args:
        path: the file.
        cluster: name of the member, for messages.

    Raises:
        FleetError: the file cannot be read, or is not a kubeconfig. The text is never shown.
    """
    try:
        text = read_regular(path).decode("utf-8")
    except (OSError, ValueError) as error:
        what = Message(
            "kubeconfig-cannot-read", "the kubeconfig cannot be read: {why}", why=_why(error)
        )
        raise FleetError(
            [Problem(what, subject=f"member {cluster}", file=str(path), hint=_HINT)]
        ) from None
    return _checked(text, cluster, str(path))


def _checked(text: str, cluster: str, file: str = "") -> str:
    missing = _missing_parts(text)
    if missing:
        what = Message("not-kubeconfig", "is not a kubeconfig: {missing}", missing=missing)
        raise FleetError([Problem(what, subject=f"member {cluster}", file=file, hint=_HINT)])
    return text


def names_no_cluster(text: str) -> bool:
    """Return whether the text of a kubeconfig names a current context that it does not have."""
    with suppress(AttributeError, KeyError, TypeError, UnreadableError):
        config = read_yaml(text)
        contexts = [context["name"] for context in config.get("contexts") or ()]
        return bool(config["current-context"]) and config["current-context"] not in contexts
    return False


def chosen(text: str, settings: Mapping[str, Any]) -> str:
    """Return a kubeconfig with the context and the cluster that the settings of a provider choose,
    if they do.
    """
    context, cluster = (str(settings.get(name) or "") for name in ("context", "cluster"))
    if not context and not cluster:
        return text
    config = read_yaml(text)
    current = context or str(config.get("current-context") or "")
    # As in client-go, ``cluster`` overrides the cluster of the context in force.
    contexts = [
        (
            {**each, "context": {**each["context"], "cluster": cluster}}
            if cluster and each["name"] == current
            else each
        )
        for each in config["contexts"]
    ]
    return yaml.safe_dump({**config, "current-context": current, "contexts": contexts})


def endpoint_of(text: str) -> str:
    """Return by which context and at which address a kubeconfig reaches its cluster: ``context
    prod, 10.0.0.4:6443``.

    It shows host and port of the server, but no user, path or query.

    Args:
        text: the text of a kubeconfig.

    Returns:
        The words; empty if it does not tell.
    """
    with suppress(AttributeError, KeyError, TypeError, ValueError):
        config = read_yaml(text)
        name = config["current-context"]
        cluster = {context["name"]: context["context"] for context in config["contexts"]}[name][
            "cluster"
        ]
        url = urlsplit(
            str({item["name"]: item["cluster"] for item in config["clusters"]}[cluster]["server"])
        )
        port = url.port or {"http": 80, "https": 443}.get(url.scheme)
        # ``hostname`` has lost the brackets of an IPv6 address.
        host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname
        return visible(
            f"context {name}, {host or 'no address'}{f':{port}' if host and port else ''}"
        )
    return ""


def _file_at(path: str) -> Path | None:
    """Return a path if something is there. Any other text may be a token, or a kubeconfig in
    base64, and must not be shown.
    """
    try:
        found = Path(path).expanduser()
        return found if found.exists() else None
    # Too long for a name, with a NUL, or in the home of a user that does not exist.
    except (
        OSError,
        RuntimeError,
        ValueError,
    ):
        return None


def _why(error: OSError | ValueError) -> str:
    match error:
        case OSError():
            return str(error.strerror)
        case UnreadableError():
            return f"it {error.message}"
    return "it is not UTF-8 text"


def _missing_parts(text: str) -> str:
    try:
        parsed = read_yaml(text)
    except UnreadableError as error:
        return f"it {error.message}"
    if not isinstance(parsed, dict):
        return "it is not a YAML mapping"
    missing = [part for part in _PARTS if not parsed.get(part)]
    if missing:
        return f"it has no {' and no '.join(missing)}"
    wrong = [part for part, of_single in _PARTS.items() if not _are_named(parsed[part], of_single)]
    return (
        f"its {wrong[0]} are not a list of names, each with a {_PARTS[wrong[0]]}" if wrong else ""
    )


# ``users`` may be missing, as for a server behind ``kubectl proxy``, which takes no login.
_PARTS = {"clusters": "cluster", "contexts": "context"}


def _are_named(entries: object, of_single: str) -> bool:
    """Return whether a part of a kubeconfig is a list of maps with a name and the named map."""
    return isinstance(entries, list) and all(
        isinstance(entry, dict)
        and isinstance(entry.get("name"), str)
        and isinstance(entry.get(of_single), dict)
        for entry in entries
    )
