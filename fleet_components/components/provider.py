"""The Kubernetes provider of one member, and the kubeconfig that it uses."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs
import pulumi

from fleet_components.components.member import Member
from fleet_components.components.process import in_process
from fleet_components.components.refusal import RefusedError
from fleet_components.content.guarded import UnreadableError, read_yaml
from fleet_components.content.regular_file import read_regular
from fleet_components.content.secret import REDACTED
from fleet_components.model.problem import FleetError, Problem

_HINT = "give the text or the path of a kubeconfig with clusters, contexts and users"


def member_provider(
    name: str,
    *,
    cluster: str,
    kubeconfig: pulumi.Input[str] | None,
    identifier: str,
    render_to: str,
    lost: bool,
    adopts: pulumi.Input[bool] = True,
    forces: pulumi.Input[bool] = True,
    opts: pulumi.ResourceOptions,
) -> pulumi.ProviderResource:
    """Declare the Kubernetes provider of a member.

    Args:
        name: name of the resource.
        cluster: name of the member, for messages.
        kubeconfig: text or path of the kubeconfig.
        identifier: identifies the cluster; while it stays the same, a rotated kubeconfig replaces nothing.
        render_to: a directory to render to instead of reaching the cluster; empty for none.
        lost: True if the cluster is gone: its objects are dropped from the state without being deleted there.
        adopts: True to adopt existing objects, False to refuse them.
        forces: True to overwrite fields that others have set, False to fail on them.
        opts: resource options of the provider.
    """
    from pulumi_kubernetes import Provider

    settings: dict[str, Any] = {
        # Without these, the provider deletes and recreates a ConfigMap or Secret whose data change.
        "enable_config_map_mutable": True,
        "enable_secret_mutable": True,
        # What is on a member is adopted, as KubeFleet does by default; its whenToTakeOver Never, and Karmada's
        # conflictResolution Abort, refuse it.
        "upsert_existing_objects": adopts,
    }
    if render_to:
        settings["render_yaml_to_directory"] = render_to
    else:
        settings["kubeconfig"] = pulumi.Output.secret(_readable(kubeconfig, cluster))
        # While it stays, no kubeconfig replaces the provider, and with it all of its objects (pulumi/pulumi-kubernetes
        # v4.32.0, provider/pkg/provider/provider.go, DiffConfig).
        settings["cluster_identifier"] = identifier
        # Both systems overwrite what somebody else has set (``kubectl scale``, a controller); what belongs to another
        # stack is refused beforehand.
        settings["enable_patch_force"] = forces
    if lost:
        settings["delete_unreachable"] = True
    return Provider(name, opts=opts, **settings)


def unreachable_members(members: Iterable[Member]) -> dict[str, Problem]:
    """Return why members cannot be reached, by name, as far as that is known before the program runs."""
    found = {}
    for member in members:
        try:
            if member.provider is None and isinstance(member.kubeconfig, str | None):
                read_kubeconfig(member.kubeconfig, member.name)
        except FleetError as error:
            found[member.name] = error.problems[0]
    return found


def in_earnest(problem: Problem) -> Problem:
    """Return the problem of an unreachable member, worded for a run in process, which needs no kubeconfig."""
    return attrs.evolve(problem, what=f"{problem.what}: pulumi up would be refused")


def _readable(kubeconfig: pulumi.Input[str] | None, cluster: str) -> pulumi.Output[str]:
    """Return the text of a kubeconfig; ``[secret]`` for an unreadable one in process, where no cluster is contacted."""

    def read(given: str | None) -> str:
        try:
            return read_kubeconfig(given, cluster)
        except FleetError as error:
            if not in_process():
                raise RefusedError(error.problems) from None
            if not isinstance(kubeconfig, str | None):  # plain values are reported by the plan
                pulumi.log.warn(str(in_earnest(error.problems[0])))
            return REDACTED

    return pulumi.Output.from_input(kubeconfig).apply(read)


def kubeconfig_key(cluster: str) -> str:
    """Return the configuration key of a member's kubeconfig, as the command line takes it with ``--path``."""
    return f"'fleet:kubeconfigs[\"{cluster}\"]'" if "." in cluster else f"fleet:kubeconfigs.{cluster}"


def read_kubeconfig(text_or_path: Any, cluster: str) -> str:
    """Return the text of a kubeconfig that is given as text or path; an output may have resolved to any type.

    Raises:
        FleetError: there is none, the file cannot be read, or the text is not a kubeconfig. The text is never shown.
    """
    if text_or_path is None:
        hint = f"pulumi config set --path {kubeconfig_key(cluster)} PATH, or give it to the member in the program"
        raise FleetError([Problem("has no kubeconfig", subject=f"member {cluster}", hint=hint)])
    if not isinstance(text_or_path, str):
        raise FleetError([Problem("the kubeconfig is not text", subject=f"member {cluster}", hint=_HINT)])
    if text_or_path == REDACTED:
        return text_or_path  # in a plan without the passphrase, encrypted values are unknown
    text, file = text_or_path, ""
    # A path has one line and is not JSON.
    if "\n" not in text_or_path and not text_or_path.lstrip().startswith("{"):
        path = _file_at(text_or_path)
        if path is None:
            what, hint = "the kubeconfig is neither a text nor the path of a file that is there", _HINT
            raise FleetError([Problem(what, subject=f"member {cluster}", hint=hint)])
        file = str(path)
        try:
            text = read_regular(path).decode("utf-8")
        except (OSError, ValueError) as error:
            what = f"the kubeconfig cannot be read: {_why(error)}"
            raise FleetError([Problem(what, subject=f"member {cluster}", file=file, hint=_HINT)]) from None
    if missing := _missing_parts(text):
        what = f"is not a kubeconfig: {missing}"
        raise FleetError([Problem(what, subject=f"member {cluster}", file=file, hint=_HINT)])
    return text


def _file_at(path: str) -> Path | None:
    """Return a path if something is there. Any other text may be a token, or a kubeconfig in base64: not to be told."""
    try:
        found = Path(path).expanduser()
        return found if found.exists() else None
    except (OSError, RuntimeError, ValueError):  # too long for a name, with a NUL, or the home of nobody
        return None


def _why(error: OSError | ValueError) -> str:
    match error:
        case OSError():
            return str(error.strerror)
        case UnreadableError():
            return f"it {error.what}"
    return "it is not UTF-8 text"


def _missing_parts(text: str) -> str:
    try:
        parsed = read_yaml(text)
    except UnreadableError as error:
        return f"it {error.what}"
    if not isinstance(parsed, dict):
        return "it is not a YAML mapping"
    missing = [part for part in _PARTS if not parsed.get(part)]
    if missing:
        return f"it has no {' and no '.join(missing)}"
    wrong = [part for part, of_one in _PARTS.items() if not _are_named(parsed[part], of_one)]
    return f"its {wrong[0]} are not a list of names, each with a {_PARTS[wrong[0]]}" if wrong else ""


_PARTS = {"clusters": "cluster", "contexts": "context"}


def _are_named(entries: object, of_one: str) -> bool:
    """Return whether a part of a kubeconfig is a list of maps with a name and the named map."""
    return isinstance(entries, list) and all(
        isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get(of_one), dict)
        for one in entries
    )
