"""The command ``fleet observe``: reads a hub, or plain clusters, into a directory that ``fleet plan`` takes."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import click

from fleet_components.cli import options
from fleet_components.cli.azure_hub import ask_azure, azure_options, of_fleet
from fleet_components.cli.exit_status import ExitStatus
from fleet_components.cli.help import Command, under
from fleet_components.cli.progress import watch
from fleet_components.content.wire import to_json, to_yaml
from fleet_components.hub.azure.fleet_id import FleetId
from fleet_components.hub.folder.header import Header, silences, told_time
from fleet_components.hub.folder.reading import observed_members
from fleet_components.hub.folder.writing import Changes, header_before, write_observation
from fleet_components.hub.listing import Listing, System
from fleet_components.hub.observation import Observation
from fleet_components.hub.reading import read_hub
from fleet_components.hub.roles import first_queries, notes, role
from fleet_components.live.hub import HUB, ask_hub, refusals
from fleet_components.live.kubeconfig_file import context_of, contexts_of
from fleet_components.live.observing import members_alone, with_members
from fleet_components.model.problem import FleetError, Problem
from fleet_components.review.documents.observed import observed_document
from fleet_components.review.showing.console import shown
from fleet_components.review.showing.observed import print_observed
from fleet_components.starting.contexts import members_of

SYSTEMS = [str(system) for system in System]
_MEMBER = "member {}"
_plain = under("Members that are asked")


@click.command(
    cls=Command,
    examples={
        "a hub of KubeFleet, Azure Fleet Manager or Karmada": "fleet observe --hub ~/.kube/config --out observed",
        "once more, later": "fleet observe --hub ~/.kube/config --out observed --update",
        "the role that may do so": "fleet observe --rbac --system kubefleet",
        "plain clusters, without a hub": "fleet observe --members ~/.kube/config --out members",
    },
)
@click.option(
    "--hub",
    type=click.Path(path_type=Path),
    metavar="KUBECONFIG",
    help="A kubeconfig of the hub. It is only asked: nothing is written there.",
)
@click.option("--context", default="", metavar="NAME", help="The context of --hub, instead of its current one.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Where to write; made to be committed.")
@click.option("--update", is_flag=True, help="Write only what has changed into DIR, which an observation has written.")
@click.option("--secrets", is_flag=True, help="Ask for the data of Secrets, too: they are written as they are.")
@click.option(
    "--rbac", is_flag=True, help="Print the role with the least rights for that, instead: with --hub for this hub."
)
@click.option("--system", type=click.Choice(SYSTEMS), help="Whose role --rbac prints without --hub, instead of both.")
@azure_options
@_plain(
    "--members",
    "members",
    multiple=True,
    metavar="[NAME=]KUBECONFIG[:CONTEXT]",
    help="A cluster whose nodes and pods are asked: without --hub a member, as is each context of KUBECONFIG; with it "
    "the member of that NAME, and what it says counts more than what the hub has of it. Repeatable.",
)
@_plain(
    "--as",
    "kind",
    type=click.Choice(SYSTEMS),
    help=f"Whose members those without a hub are to be.  [default: {System.KUBEFLEET}]",
)
@_plain(
    "--timeout",
    type=click.FloatRange(0.1, 3600),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long the hub has for all of its answers, and each member for its own.",
)
@options.output("text", "json")
@options.endings(changes="a file has changed", strict="Refuse an incomplete observation, and write nothing")
def observe(
    hub: Path | None,
    context: str,
    out: Path | None,
    update: bool,
    secrets: bool,
    rbac: bool,
    system: str | None,
    azure: FleetId | None,
    azure_login: str | None,
    members: tuple[str, ...],
    kind: str | None,
    timeout: float,
    output: str,
    strict: bool,
    detailed: bool,
) -> None:
    """Read a hub into DIR: its members, what it is asked for, what it has decided, and what runs where.

    `fleet plan DIR` right after has nothing to do. Then edit DIR, and the plan says what the hub would do. The hub is
    of KubeFleet, of Azure Fleet Manager or of Karmada, which it tells itself; it is asked for lists, and nothing is
    written there.
    """
    if azure_login and azure is None:
        raise click.UsageError("--azure-login is a part of --azure: give that too")
    if azure and hub:
        raise click.UsageError("--azure finds the hub of the fleet itself: give it or --hub")
    _check_usage(hub or azure, context, out, members, kind, system, rbac=rbac)
    former = header_before(out, update=update) if out else None
    ask = None
    fleet = ask_azure(azure, azure_login, timeout) if azure else None
    kubeconfig = context_of(hub, context, subject=HUB) if hub else fleet.kubeconfig if fleet else ""
    if kubeconfig:
        ask = partial(ask_hub, kubeconfig, secrets=secrets, timeout=timeout, watch=watch)
    if rbac:
        sys.stdout.write(_roles(ask() if ask else None, system, secrets=secrets))
        return
    assert out is not None
    kubeconfigs = _kubeconfigs(members, kind or System.KUBEFLEET)
    listing: Listing | None = None
    if ask or fleet:
        listing = ask() if ask else None
        with watch("reading what the hub has answered"):
            observation = of_fleet(read_hub(listing) if listing else None, fleet)
        observation = with_members(observation, kubeconfigs, timeout=timeout, watch=watch)
    else:
        recorded = _recorded(out) if update else ()
        unasked = observed_members(out) - kubeconfigs.keys() if update else ()
        observation = members_alone(
            System(kind or System.KUBEFLEET), kubeconfigs, recorded, unasked, timeout=timeout, watch=watch
        )
    refused = tuple(refusals(listing)) if listing else ()
    incomplete = strict and bool(refused or observation.silent or (observation.fleet and observation.fleet.unread))
    changes = Changes()
    if not incomplete:
        with watch(f"writing {out}"):
            changes = write_observation(out, observation, update=update, secrets=secrets)
    silent = _silent(observation, former, of_hub=ask is not None)
    before = told_time(former.as_of) if former else ""
    document = observed_document(observation, changes, silent, refused, out, before)
    sys.stdout.write(
        to_json(document) if output == "json" else shown(lambda console: print_observed(console, document))
    )
    if incomplete:
        click.echo("refused by --strict: not all that was asked for was answered; nothing is written", err=True)
        sys.exit(ExitStatus.REFUSED)
    if output == "text" and former is None:
        click.echo(f"\nnext:\n  fleet plan {shlex.quote(str(out))}")
    any_change = changes.added or changes.changed or changes.removed
    sys.exit(ExitStatus.CHANGES if detailed and any_change else ExitStatus.FINE)


def _check_usage(
    hub: Path | FleetId | None,
    context: str,
    out: Path | None,
    members: Sequence[str],
    kind: str | None,
    system: str | None,
    *,
    rbac: bool,
) -> None:
    """Check that options fit together.

    Raises:
        click.UsageError: they do not.
    """
    if context and not isinstance(hub, Path):
        raise click.UsageError("--context is a part of --hub: give that too")
    if system and (hub is not None or not rbac):
        raise click.UsageError("--system is for --rbac without --hub: a hub tells itself what it runs")
    if kind and (hub is not None or not members):
        raise click.UsageError("--as is for --members without --hub: a hub tells itself what it runs")
    if rbac and (out or members):
        raise click.UsageError("--rbac prints a role alone: it takes neither --out nor --members")
    if not rbac and hub is None and not members:
        raise click.UsageError(
            "give --hub KUBECONFIG, or --members KUBECONFIG for clusters without a hub; or --azure RESOURCE_ID"
        )
    if not rbac and out is None:
        raise click.UsageError("give --out DIR, the directory to write")


def _recorded(out: Path) -> Collection[str]:
    """Return the names of the members of which a directory has a record."""
    # Names that are no safe names of files are escaped as in URLs: hub/folder/paths.py.
    return {unquote(path.stem) for path in (out / "members").glob("*.yaml")}


def _silent(observation: Observation, former: Header | None, *, of_hub: bool) -> Mapping[str, str]:
    """Return the reason by member that has not answered, with what counts instead."""
    found: dict[str, str] = {}
    for name, one in silences(observation.silent, former).items():
        there = name in {str(member["metadata"]["name"]) for member in observation.members}
        if of_hub:
            instead = "what the hub has of it counts"
        elif there:
            instead = "it is written with nothing but its name, since there is no old record of it"
        else:
            instead = f"its record of {one.since} counts"
        found[name] = f"{one.why}; {instead}"
    return found


def _kubeconfigs(members: Sequence[str], system: str) -> Mapping[str, str]:
    """Return the texts of kubeconfigs by name of the member.

    Args:
        members: what was given, each ``[NAME=]KUBECONFIG[:CONTEXT]``.
        system: the system whose members they are, which limits the length of a name.

    Raises:
        FleetError: one cannot be read, or two members have one name.
    """
    found: dict[str, str] = {}
    problems: list[Problem] = []
    for given in members:
        name, equals, rest = given.partition("=")
        file, context = _file_and_context(rest if equals else given)
        try:
            texts = _texts(name if equals else "", file, context, found, system)
        except FleetError as error:
            problems += error.problems
            continue
        problems += [
            Problem(f'two clusters are the member "{one}"', hint="give --members NAME=KUBECONFIG[:CONTEXT]")
            for one in texts.keys() & found.keys()
        ]
        found |= texts
    if problems:
        raise FleetError(problems)
    return found


def _texts(name: str, file: Path, context: str, taken: Mapping[str, str], system: str) -> Mapping[str, str]:
    if name:
        return {name: context_of(file, context, subject=_MEMBER.format(name))}
    contexts = [context] if context else []
    listed = members_of([file], contexts, system, taken.keys()).members
    texts = contexts_of(file, {_MEMBER.format(one.name): one.context for one in listed})
    return {one.name: texts[_MEMBER.format(one.name)] for one in listed}


def _file_and_context(text: str) -> tuple[Path, str]:
    path = os.path.expanduser(text)
    if os.path.exists(path):
        return Path(path), ""
    drive, rest = os.path.splitdrive(path)  # on Windows, C: is no file with a context
    file, _, context = rest.partition(":")
    return Path(drive + file), context


def _roles(listing: Listing | None, system: str | None, *, secrets: bool) -> str:
    """Return the roles as YAML, with what is to be said about them."""
    if listing:
        found = [(listing, (*listing.answers, *listing.refused))]
    else:
        found = [first_queries(one) for one in System if system in (None, str(one))]
    texts = []
    for asked, queries in found:
        lines = [f"# {line}" for line in notes(queries, secrets=secrets)]
        if listing is None:
            lines.append(f"# For {asked.system}, before its policies are known: with --hub, what they select is added.")
        texts.append("\n".join([*lines, to_yaml(role(asked, queries, secrets=secrets))]))
    return "---\n".join(texts)
