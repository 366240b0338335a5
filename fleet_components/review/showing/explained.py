"""Explanations as text: a tree of members and verdicts, or a line a member."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from fleet_components.plan.flips import MOST_MEMBERS
from fleet_components.review.documents.form import Document, kind_of, to_read
from fleet_components.review.showing.rows import Row, print_indented, print_rows, print_tree
from fleet_components.review.showing.words import deviations, holders, shortly, single_line

_NOT_TRIED = (
    f"What would change the outcome is tried for up to {MOST_MEMBERS} members: name the one that"
    " you ask about."
)
_HEADER = Row(("member", "picked"), "why", "bold")


def print_explanation(console: Console, document: Document, *, short: bool) -> None:
    """Print an explanation; ``short`` leaves out the verdicts."""
    for number, subject in enumerate(to_read(document)["subjects"]):
        if number:
            console.print()
        title = Text(f"{kind_of(subject)} ") + Text(subject["key"], "bold cyan")
        if short:
            print_indented(console, title, 0)
            for line in holders(subject):
                print_indented(console, Text(single_line(line)))
            _condition(console, subject)
            print_rows(console, _HEADER, [_row(member) for member in subject["members"]])
        else:
            _tree(console, subject, title)


def _condition(console: Console, placement: Document) -> None:
    condition = placement["condition"]
    if condition:
        style = "dim" if condition["status"] == "True" else "red"
        print_indented(console, Text(f"{condition['reason']}: {condition['message']}", style))
    for hint in placement["hints"]:
        print_indented(console, Text(hint, "yellow"))
    for line in placement["division"]:
        print_indented(console, Text(line))


def _row(member: Document) -> Row:
    picked = member["selected"]
    overridden = shortly(member["overridden"])
    flips = [flip["words"] for flip in (member["flips"] or ())[:1]]
    why = single_line(
        "; ".join(
            [member["summary"], *flips, *([f"overridden: {overridden}"] if overridden else [])]
        )
    )
    return Row((member["name"], "yes" if picked else "no"), why, "green" if picked else "")


def _tree(console: Console, placement: Document, title: Text) -> None:
    condition = placement["condition"]
    tree = Tree(
        title + Text(f"\n{condition['message']}" if condition else "", "dim"), guide_style="dim"
    )
    for line in (*holders(placement), *placement["division"]):
        tree.add(Text(single_line(line)))
    for hint in placement["hints"]:
        tree.add(Text(hint, "yellow"))
    for member in placement["members"]:
        label = Text(member["name"], "bold green" if member["selected"] else "bold")
        branch = tree.add(label + Text(f"  {single_line(member['summary'])}", "default"))
        for note in member["notes"]:
            branch.add(Text(single_line(note)))
        for flip in member["flips"] or ():
            branch.add(Text(single_line(flip["words"]), "yellow"))
        passed = [verdict["plugin"] for verdict in member["verdicts"] if verdict["passed"]]
        if passed:
            branch.add(Text(f"passes {', '.join(passed)}"))
        for verdict in (item for item in member["verdicts"] if not item["passed"]):
            leaf = branch.add(_verdict(verdict))
            if verdict["remedy"] and not member["flips"]:
                leaf.add(Text(f"remedy: {single_line(verdict['remedy'])}", "yellow"))
        _overridden(branch, member)
    print_tree(console, tree)
    if any(member["flips"] is None for member in placement["members"]):
        console.print(Text(_NOT_TRIED, "dim"))


def _overridden(branch: Tree, member: Document) -> None:
    """Add what overrides change on a member, field by field."""
    below = [branch]
    for level, line in deviations(member["overridden"]):
        del below[level + 1 :]
        below.append(
            below[level].add(Text(single_line(f"overridden: {line}" if level == 0 else line)))
        )


def _verdict(verdict: Mapping[str, Any]) -> Text:
    """Return a verdict in words: ``ClusterAffinity scores 14: ...``, ``TaintToleration: taint
    ...``.
    """
    words = single_line(verdict["words"])
    if verdict["score"] is not None:
        return Text(f"{verdict['plugin']} scores {verdict['score']}: {words}")
    return Text(f"{verdict['plugin']}: {words}", "red")
