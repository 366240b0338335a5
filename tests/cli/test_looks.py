"""How plans and explanations look: in wide and narrow terminals, in pipes, in pull requests.

The texts in ``golden`` are written anew by ``FLEET_WRITE_GOLDEN=1 python -m pytest tests/cli/test_looks.py``; look
at the difference before you commit it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from fleet_components.review.showing.markdown import LIMIT, to_markdown
from tests.cli.fleets import PROJECT, edit, plan, run, write
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


@pytest.mark.long
@pytest.mark.parametrize("placements", [1, 40, 1000])
def test_markdown_is_short_enough_for_a_comment(tmp_path: Path, placements: int) -> None:
    document = plan(write(tmp_path))
    one = document["subjects"][0]
    one["clusters"] *= 20
    one["notPicked"]["shown"] *= 3
    document["subjects"] = [{**one, "key": f"placement-{number}"} for number in range(placements)]
    text = to_markdown(document, diff=True)
    assert len(text) < LIMIT
    assert text.count("<details>") == text.count("</details>")
    shown = len(re.findall(r"placement-\d+", text))
    told = [int(number) for number in re.findall(r"(\d+) placements? altogether", text)]
    assert shown + sum(told) == placements
    assert ("Cut to" in text) == (placements > 1)


def test_markdown_keeps_what_users_wrote_inside_its_cells(tmp_path: Path) -> None:
    document = plan(write(tmp_path))
    document["subjects"][0]["clusters"][0]["why"] = "a | b\n<script>`x`"
    row = next(line for line in to_markdown(document).splitlines() if "script" in line)
    assert "a \\| b &lt;script>\\`x\\`" in row


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
    document = plan(write(tmp_path))
    document["subjects"][0]["unfulfilled"] = [text]
    document["subjects"][0]["division"] = [text]
    lines = to_markdown(document).splitlines()
    assert f"- {written}" in lines
