"""The files of a new fleet: members, one policy, a sample application, and the Pulumi project
around them.
"""

from __future__ import annotations

import os
import re
import shlex
import string
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.starting.member import NewMember, usable_name

POLICIES = {"kubefleet": "placement.yaml", "karmada": "policy.yaml"}
"""File of the policy, by system."""
STACK = "dev"
"""The stack of a new project."""
SAMPLE_MEMBERS = (
    NewMember("east", {"environment": "production"}),
    NewMember("west", {"environment": "production"}),
)
"""The members of a fleet for which none is given."""
_HEAD = (
    "# The members: what the scheduler sees of each cluster. Labels are what policies choose by.\n"
)
_EXAMPLE_HEAD = f"{_HEAD}# These two are examples: put your own in their place.\n"
_PROGRAM = {"Pulumi.yaml": "Pulumi.yaml", "__main__.py": "__main__.py.txt"}


def fleet_files(folder: Path, members: Sequence[NewMember], system: str) -> dict[Path, str]:
    """Return the text of each file of a fleet.

    Args:
        folder: where the files go.
        members: the members; two examples if there is none.
        system: the system whose policies decide.
    """
    listed = (_HEAD if members else _EXAMPLE_HEAD) + "---\n".join(
        to_yaml(_declared(member, system)) for member in members or SAMPLE_MEMBERS
    )
    policy = POLICIES[system]
    return {
        folder / "members.yaml": listed,
        folder / policy: template(policy).text(),
        folder / "app.yaml": template("app.yaml").text(),
    }


def project_files(folder: Path, source: Path, members: Sequence[NewMember]) -> dict[Path, str]:
    """Return the text of each file of a Pulumi project with one stack.

    Args:
        folder: where the files go.
        source: the folder of the fleet, below it.
        members: the members; those with a kubeconfig are reached by it, and without any the stack
            renders.

    Raises:
        FleetError: a member is reached by another context than the one that its file is used with.
    """
    problems = list(_unusable(members))
    if problems:
        raise FleetError(problems)
    name = usable_name(folder.absolute().name, 60)
    files = {folder / text: template(file).text(name=name) for text, file in _PROGRAM.items()}
    config: dict[str, Any] = {
        "fleet:source": source.absolute().relative_to(folder.absolute()).as_posix()
    }
    reached = {
        member.name: _path(member.kubeconfig, folder) for member in members if member.kubeconfig
    }
    config |= {"fleet:kubeconfigs": reached} if reached else {"fleet:render": "out"}
    stack = template("Pulumi.dev.yaml").text(
        config=to_yaml({"config": config}),
        rest=_unreached(
            [member.name for member in members or SAMPLE_MEMBERS if not member.kubeconfig],
            rendered=not reached,
        ),
    )
    return files | {folder / f"Pulumi.{STACK}.yaml": stack}


def _declared(member: NewMember, system: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": member.name}
    if member.labels:
        metadata["labels"] = dict(member.labels)
    if system == "karmada":
        header = {"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster"}
        return {**header, "metadata": metadata, "spec": {"syncMode": "Push"}}
    header = {"apiVersion": "cluster.kubernetes-fleet.io/v1", "kind": "MemberCluster"}
    identity = {"kind": "ServiceAccount", "name": member.name, "namespace": "fleet-system"}
    return {**header, "metadata": metadata, "spec": {"identity": identity}}


def _unusable(members: Iterable[NewMember]) -> Iterator[Problem]:
    """Yield a problem for each member that the stack would reach by the wrong context: it uses the
    current one.
    """
    for member in members:
        if member.kubeconfig and not member.current:
            what = Message(
                "not-current-context-stack",
                '"{context}" is not its current context, and a stack uses that one',
                context=member.context,
            )
            command = (
                f"kubectl config view --minify --flatten --context {shlex.quote(member.context)} >"
                f" {member.name}.yaml"
            )
            hint = f"{command}, and give that; or leave --project out"
            yield Problem(
                what, subject=f"member {member.name}", file=str(member.kubeconfig), hint=hint
            )


def _path(kubeconfig: Path, folder: Path) -> str:
    """Return how the stack names a kubeconfig: below the project or the home directory, it moves
    with them.
    """
    path = Path(os.path.abspath(os.path.expanduser(kubeconfig)))
    for top, prefix in ((folder.absolute(), ""), (Path.home(), "~/")):
        if path.is_relative_to(top):
            return f"{prefix}{path.relative_to(top).as_posix()}"
    return path.as_posix()


def _unreached(names: Sequence[str], *, rendered: bool) -> str:
    """Return a comment on the members that have no kubeconfig yet."""
    if not names:
        return ""
    first = (
        "  # To reach the members, instead of fleet:render:\n  # fleet:kubeconfigs:\n"
        if rendered
        else ""
    )
    return first + "".join(f"  #   {name}: ~/.kube/{name}.yaml\n" for name in names)


# The files that are written, as templates that come with the package.


_FOLDER = files("fleet_components.starting") / "templates"


class FileTemplate(string.Template):
    """A text with places like ``%{name}``: the shell and the CI systems use the dollar sign."""

    delimiter = "%"

    def text(self, **values: str) -> str:
        """Return the text with the values in their places; each place needs one."""
        return self.substitute(values)


def template(name: str) -> FileTemplate:
    """Return the template of a file, by its name."""
    return FileTemplate(_FOLDER.joinpath(name).read_text(encoding="utf-8"))


# Objects as YAML to be read and edited by people: a text is quoted where some reader takes it for
# something else.


# Texts that need no quotes, except the words below: no numbers, no dates.
_PLAIN = re.compile(r"(~/)?[A-Za-z/]([A-Za-z0-9_./:@-]*[A-Za-z0-9_/])?")
# YAML 1.1 reads these as booleans or null.
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


class _Dumper(yaml.SafeDumper):
    """Writes texts as :func:`to_yaml` says."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


_Dumper.add_representer(str, _text)


def to_yaml(data: Any) -> str:
    """Return data as YAML, in the order in which they are given."""
    # A long text stays in one line.
    text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)
    # ``dump`` returns the text because it has no stream to write to.
    assert isinstance(text, str)
    return text
