"""How plans and explanations look: in wide and narrow terminals, in pipes, in pull requests.

The texts in ``golden`` are written anew by ``FLEET_WRITE_GOLDEN=1 python -m pytest tests/cli/test_looks.py``; look
at the difference before you commit it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import attrs
import pytest

from fleet_components.review.documents.form import EVERYTHING
from fleet_components.review.documents.plan import plan_document
from fleet_components.review.documents.schema import MemberDocument, PlanDocument
from fleet_components.review.planning.survey import CommandLine, survey
from fleet_components.review.showing import subject
from fleet_components.review.showing.blocks import Column
from fleet_components.review.showing.markdown import LIMIT, to_markdown
from fleet_components.review.showing.plan import plan_view
from fleet_components.review.showing.terminal import printed
from tests.cli.fleets import PROJECT, edit, run, write
from tests.cli.terminal import in_terminal

GOLDEN = Path(__file__).parent / "golden"
ANSI = re.compile(r"\x1b\[[0-9;]*m")
WIDTHS = (50, 80, 140)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fleet whose first render lies in ``out``, and that has changed since; the working directory."""
    monkeypatch.chdir(write(tmp_path / "fleet"))
    assert run("render", ".", "--out", "../out").exit_code == 0
    edit(Path("shop.yaml"), "nginx:1.27.5", "nginx:1.28.0")
    edit(
        Path("members.yaml"),
        '  taints:\n  - {key: maintenance, value: "true", effect: NoSchedule}\n',
        "",
    )
    edit(Path("members.yaml"), "name: amsterdam\n", "name: zurich\n")
    return tmp_path / "fleet"


def golden(name: str, text: str) -> None:
    file = GOLDEN / name
    if os.environ.get("FLEET_WRITE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    assert text == file.read_text()


COMMANDS = {
    "plan": ("plan", ".", "--state", "../out/local/state.json"),
    "diff": ("plan", ".", "--state", "../out/local/state.json", "--diff"),
    "refused": ("plan", "members.yaml", "shop.yaml", "--state", "../out/local/state.json"),
    "explain": ("explain", ".", "shop"),
    "explain-all": ("explain", "."),
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", COMMANDS)
def test_fits_the_terminal(folder: Path, name: str, width: int) -> None:
    text = run(*COMMANDS[name], width=width).stdout
    assert max(map(len, text.splitlines())) <= width
    golden(f"{name}-{width}.txt", text)


@pytest.mark.parametrize("name", COMMANDS)
def test_piped_lines_are_whole(folder: Path, name: str) -> None:
    text = run(*COMMANDS[name]).stdout
    golden(f"{name}-piped.txt", text)
    whole = " ".join(text.split())
    for width in WIDTHS:  # nothing is there that the pipe does not have, and nothing is cut
        folded = run(*COMMANDS[name], width=width).stdout
        assert len("".join(re.findall(r"\w", folded))) == len("".join(re.findall(r"\w", whole)))


def test_markdown(folder: Path) -> None:
    golden("plan.md", run(*COMMANDS["diff"], "-o", "markdown").stdout)
    golden("refused.md", run(*COMMANDS["refused"], "-o", "markdown").stdout)


@pytest.mark.parametrize("width", WIDTHS)
def test_tree_of_resources(tmp_path: Path, width: int) -> None:
    text = run("plan", write(tmp_path, PROJECT), width=width).stdout
    assert max(map(len, text.splitlines())) <= width
    golden(f"project-{width}.txt", text)


def coloured_by(folder: Path, no_color: str) -> str:
    """What the command prints to a terminal of 80 columns."""
    status, text, _ = in_terminal("plan", folder, env={"NO_COLOR": no_color})
    assert status == 0
    return text


@pytest.mark.long
def test_colours_are_for_terminals_alone(tmp_path: Path) -> None:
    folder = write(tmp_path)
    coloured = coloured_by(folder, "")
    assert ANSI.search(coloured)
    assert not ANSI.search(coloured_by(folder, "1"))
    assert not ANSI.search(run("plan", folder).stdout)
    plain = ANSI.sub("", coloured).replace("\r\n", "\n")
    assert [line.rstrip() for line in plain.splitlines()] == run(
        "plan", folder, width=80
    ).stdout.splitlines()


def planned(folder: Path) -> PlanDocument:
    """The whole plan of a fleet."""
    return plan_document(survey([write(folder)], CommandLine()), EVERYTHING)


@pytest.mark.long
@pytest.mark.parametrize("placements", [1, 40, 1000])
def test_markdown_is_short_enough_for_a_comment(tmp_path: Path, placements: int) -> None:
    document = planned(tmp_path)
    item = document.subjects[0]
    item = attrs.evolve(
        item,
        clusters=[*item.clusters] * 20,
        not_picked=attrs.evolve(item.not_picked, shown=[*item.not_picked.shown] * 3),
    )
    subjects = [attrs.evolve(item, key=f"placement-{number}") for number in range(placements)]
    text = to_markdown(plan_view(attrs.evolve(document, subjects=subjects), diff=True))
    assert len(text) < LIMIT
    assert text.count("<details>") == text.count("</details>")
    shown = len(re.findall(r"placement-\d+", text))
    told = [int(number) for number in re.findall(r"(\d+) placements? altogether", text)]
    assert shown + sum(told) == placements
    assert ("Cut to" in text) == (placements > 1)


def of_subject(document: PlanDocument, **fields: object) -> str:
    """The comment on a plan in which the first subject has other fields."""
    first, *others = document.subjects
    changed = attrs.evolve(first, **fields)  # type: ignore[arg-type]
    return to_markdown(plan_view(attrs.evolve(document, subjects=[changed, *others])))


def test_markdown_keeps_what_users_wrote_inside_its_cells(tmp_path: Path) -> None:
    document = planned(tmp_path)
    member, *others = document.subjects[0].clusters
    hostile = attrs.evolve(member, why="a | b\n<script>`x`")
    text = of_subject(document, clusters=[hostile, *others])
    row = next(line for line in text.splitlines() if "script" in line)
    assert "a \\| b &lt;script>\\`x\\`" in row


def test_a_column_is_shown_in_the_terminal_and_in_comments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = Column[MemberDocument]("rank", lambda member: f"rank {member.rank}")
    monkeypatch.setattr(subject, "COLUMNS", (*subject.COLUMNS, added))
    page = plan_view(planned(tmp_path))
    assert re.search(r"^  member .* rank +why$", printed(page.blocks), re.MULTILINE)
    assert re.search(r"^\| \w+ \|.*\| rank \d \|", to_markdown(page), re.MULTILINE)


MARKUP = {
    "a link": ("[click](https://example.com)", "\\[click\\](https:<!-- -->//example.com)"),
    "an image": ("![x](//example.com/x.png)", "\\!\\[x\\](//example.com/x.png)"),
    "an address": ("www.example.com", "www.<!-- -->example.com"),
    "a mention": ("@everyone @org/team", "@<!-- -->everyone @<!-- -->org/team"),
    "a reference": ("#12 GH-12 a/b#3", "#<!-- -->12 GH-<!-- -->12 a/b#<!-- -->3"),
    "an emoji": (":tada: a:1", ":<!-- -->tada: a:1"),
    "a formula": ("$x$", "$<!-- -->x$<!-- -->"),
    "a tag": ("<img src=x onerror=y>", "&lt;img src=x onerror=y>"),
    "emphasis": ("**x** _y_ ~~z~~ `c`", "\\*\\*x\\*\\* \\_y\\_ \\~\\~z\\~\\~ \\`c\\`"),
    "an entity": ("&#64;everyone", "&amp;#<!-- -->64;everyone"),
    "an escape": ("\\[x]", "\\\\\\[x\\]"),
    "a heading": ("# x", "\\# x"),
    "a quote": ("> x", "\\> x"),
    "an item": ("- x", "\\- x"),
    "an arrow": ("-> 1", "-> 1"),
}


@pytest.mark.parametrize(("text", "written"), MARKUP.values(), ids=MARKUP)
def test_markdown_shows_what_is_written_and_links_to_nothing(
    text: str, written: str, tmp_path: Path
) -> None:
    lines = of_subject(planned(tmp_path), unfulfilled=[text], division=[text]).splitlines()
    assert f"- {written}" in lines
