"""The Kubernetes provider of one member."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pulumi
import yaml

from fleet_components.components.refusal import refusing
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
    adopts: bool = True,
    opts: pulumi.ResourceOptions,
) -> pulumi.ProviderResource:
    """Declare the provider of a member.

    Args:
        name: the resource's name.
        cluster: the member's name, for messages.
        kubeconfig: text or path.
        identifier: stays while the cluster is the same, so that a rotated kubeconfig replaces nothing.
        render_to: a directory to render to instead of reaching the cluster; empty for none.
        lost: the cluster is gone: what it held is dropped from the state without being deleted there.
        adopts: objects that are there already are taken up; else they are refused.
        opts: the provider's options.

    Raises:
        FleetError: there is neither a kubeconfig nor a directory, or the kubeconfig cannot be read.
    """
    from pulumi_kubernetes import Provider

    settings: dict[str, Any] = {
        # Else the provider deletes and recreates a ConfigMap or Secret whose data change.
        "enable_config_map_mutable": True,
        "enable_secret_mutable": True,
        # What a placement left behind, a namespace for example, is taken up again, as KubeFleet does by default. What
        # another stack or placement brought conflicts on the annotations that say so, and is refused. Karmada's Abort
        # refuses whatever is there.
        "upsert_existing_objects": adopts,
    }
    if render_to:
        settings["render_yaml_to_directory"] = render_to
    elif kubeconfig is not None:

        def read(text: Any) -> str:
            with refusing():
                return read_kubeconfig(text, cluster)

        settings["kubeconfig"] = pulumi.Output.secret(pulumi.Output.from_input(kubeconfig).apply(read))
        settings["cluster_identifier"] = identifier
    else:
        hint = f"pulumi config set --path {kubeconfig_key(cluster)} PATH, or give it to the member in the program"
        raise FleetError([Problem("has no kubeconfig", subject=f"member {cluster}", hint=hint)])
    if lost:
        settings["delete_unreachable"] = True
    return Provider(name, opts=opts, **settings)


def kubeconfig_key(cluster: str) -> str:
    """The key of a member's kubeconfig in the stack's configuration, as a command line takes it with ``--path``."""
    return f"'fleet:kubeconfigs[\"{cluster}\"]'" if "." in cluster else f"fleet:kubeconfigs.{cluster}"


def read_kubeconfig(text_or_path: Any, cluster: str) -> str:
    """The text of a kubeconfig that is given as text or as a path, perhaps by an output, which may come to anything.

    Raises:
        FleetError: the file cannot be read, or the text is no kubeconfig. The text is never shown.
    """
    if not isinstance(text_or_path, str):
        what = f"the kubeconfig is {'missing' if text_or_path is None else 'no text'}"
        raise FleetError([Problem(what, subject=f"member {cluster}", hint=_HINT)])
    if text_or_path == REDACTED:
        return text_or_path  # a plan without the passphrase: what is encrypted stays unseen
    text, file = text_or_path, ""
    if "\n" not in text_or_path and not text_or_path.lstrip().startswith("{"):
        file = str(Path(text_or_path).expanduser())
        try:
            text = Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            what = f"the kubeconfig cannot be read: {getattr(error, 'strerror', None) or 'it is no UTF-8 text'}"
            raise FleetError([Problem(what, subject=f"member {cluster}", file=file, hint=_HINT)]) from None
    if missing := _missing_parts(text):
        what = f"is no kubeconfig: {missing}"
        raise FleetError([Problem(what, subject=f"member {cluster}", file=file, hint=_HINT)])
    return text


def _missing_parts(text: str) -> str:
    try:
        parsed = yaml.load(text, yaml.CSafeLoader)
    except yaml.YAMLError:
        return "it is no YAML"
    if not isinstance(parsed, dict):
        return "it is no YAML mapping"
    missing = [part for part in ("clusters", "contexts") if not parsed.get(part)]
    return f"it has no {' and no '.join(missing)}" if missing else ""
