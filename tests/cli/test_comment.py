"""``fleet comment``: one comment, its own, on the right pull request, with the text as it is."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet_components.cli.command import fleet
from fleet_components.forges.comment import LIMIT, comment_text
from fleet_components.review.showing import markdown
from tests.forges.fake import BOT, ME, STRANGER, TOKEN, Forge, forge
from tests.forges.runs import COMMIT, RUNS, github, head

MARKER = "<!-- fleet-review fleet -->\n"
HOSTILE = (
    "`x` ``` $(touch hacked) ${{ github.token }} $(System.AccessToken) \"'\\ \n::set-output name=a::b\n"
    "##vso[task.setvariable variable=a]b\n<!-- fleet-review fleet -->\n%0A é \U0001f600 @everyone\n"
)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Forge]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with forge() as found:
        yield found


@pytest.fixture
def review(tmp_path: Path) -> Path:
    folder = tmp_path / "review"
    folder.mkdir()
    (folder / "review.md").write_text("### Review\n")
    return folder


def commented(on: str, review: Path, environment: dict[str, str], *more: str) -> Result:
    unset = {
        name: None
        for name in os.environ
        if name.startswith(("GITHUB_", "CI_", "SYSTEM_", "BUILD_", "FLEET_C"))
    }
    return CliRunner().invoke(
        fleet, ["comment", str(review), "--on", on, *more], env={**unset, **environment}
    )


@pytest.mark.parametrize("on", RUNS)
def test_the_first_run_posts_and_the_next_ones_update(
    on: str, served: Forge, review: Path, tmp_path: Path
) -> None:
    environment = RUNS[on](served, tmp_path, False)
    served.say(STRANGER, "nice")
    first = commented(on, review, environment)
    assert (first.exit_code, first.stderr) == (0, "")
    assert first.stdout.startswith("posted a comment on ")
    (review / "review.md").write_text("### Another\n")
    again = commented(on, review, environment)
    assert (again.exit_code, again.stdout[:11]) == (0, "updated the")
    assert served.texts == ["nice", f"{MARKER}### Another\n"]
    assert served.written[0][0] == "POST"
    assert len(served.written) == 2


@pytest.mark.parametrize("on", RUNS)
def test_the_comment_is_found_behind_hundreds(
    on: str, served: Forge, review: Path, tmp_path: Path
) -> None:
    for _ in range(98 if on == "azure-devops" else 250):
        served.say(STRANGER, "chat")
    own = served.say(ME, f"{MARKER}old")
    assert commented(on, review, RUNS[on](served, tmp_path, False)).exit_code == 0
    assert own.text == f"{MARKER}### Review\n"


@pytest.mark.parametrize("on", RUNS)
def test_a_comment_of_somebody_else_is_never_changed(
    on: str, served: Forge, review: Path, tmp_path: Path
) -> None:
    """Its author could change it afterwards, and it would pass for the review."""
    served.say(STRANGER, f"{MARKER}all fine")
    served.say(BOT, f"{MARKER}a bot repeats what a stranger has told it")
    served.say(ME, f"I quote {MARKER}")
    served.say(ME, "<!-- fleet-review other -->\nof another fleet")
    before = served.texts
    assert commented(on, review, RUNS[on](served, tmp_path, False)).exit_code == 0
    assert served.texts == [*before, f"{MARKER}### Review\n"]


@pytest.mark.parametrize("on", RUNS)
def test_a_hostile_text_arrives_literally(
    on: str, served: Forge, review: Path, tmp_path: Path
) -> None:
    (review / "review.md").write_text(HOSTILE)
    assert commented(on, review, RUNS[on](served, tmp_path, False)).exit_code == 0
    assert served.texts == [MARKER + HOSTILE.replace("@everyone", "@\u200beveryone")]


@pytest.mark.parametrize("on", RUNS)
def test_a_line_is_no_command_to_a_forge(
    on: str, served: Forge, review: Path, tmp_path: Path
) -> None:
    (review / "review.md").write_text("a/b\n/merge\n  /approve\n\t/label ~x\n")
    assert commented(on, review, RUNS[on](served, tmp_path, False)).exit_code == 0
    assert served.texts == [f"{MARKER}a/b\n/\u200bmerge\n  /\u200bapprove\n\t/\u200blabel ~x\n"]


def test_the_review_of_a_fork_on_github_says_who_could_have_written_it(
    served: Forge, review: Path, tmp_path: Path
) -> None:
    result = commented("github", review, github(served, tmp_path, True))
    assert (result.exit_code, result.stdout) == (0, "posted a comment on pull request 7\n")
    (text,) = served.texts
    assert text.startswith(
        f"{MARKER}> This text comes from a run whose code the author of the pull request can change."
    )
    assert text.endswith("\n\n> ### Review\n")


COMMANDS = "@dependabot merge\nbors r+\n/merge\n  retest\n\r/approve\u2028/lgtm\nto @a/b and @<4f> `@c`\nx@sha256:0\n"


@pytest.mark.parametrize("on", RUNS)
def test_nobody_is_called_and_no_bot_is_commanded(
    on: str, served: Forge, review: Path, tmp_path: Path
) -> None:
    for file in ("review.md", "errors.txt"):
        (review / "review.md").write_text("")
        (review / file).write_text(COMMANDS)
        assert commented(on, review, RUNS[on](served, tmp_path, False)).exit_code == 0
        (text,) = served.texts
        assert re.findall(r"@(?![\u200b])\S*", text) == ["@sha256:0"]
        assert not re.search(r"(?m)^\s*/(?!\u200b)", "\n".join(text.splitlines()))


def test_no_line_of_a_stranger_begins_with_a_command(
    served: Forge, review: Path, tmp_path: Path
) -> None:
    (review / "review.md").write_text(COMMANDS)
    assert commented("github", review, github(served, tmp_path, True)).exit_code == 0
    (text,) = served.texts
    assert [line for line in text.splitlines()[1:] if line and not line.startswith(">")] == []
    (review / "review.md").write_text("x\n" * 32_000)
    assert (
        "a comment takes 65,536"
        in commented("github", review, github(served, tmp_path, True)).stderr
    )


ODD: list[Any] = [
    None,
    1,
    "x",
    {},
    [],
    [1],
    [[]],
    {"value": 1},
    {"value": [None]},
    {"authenticatedUser": []},
]
IDS: list[Any] = ["../1", "1?a", "", None, True, 1.5, [], {}]


@pytest.mark.parametrize("on", RUNS)
def test_an_odd_answer_is_told(on: str, served: Forge, review: Path, tmp_path: Path) -> None:
    assert commented(on, review, RUNS[on](served, tmp_path, on == "github")).exit_code == 0
    paths = dict.fromkeys(served.paths)
    for path in paths:
        for odd in (
            *ODD,
            *({"id": item} for item in IDS),
            *({"authenticatedUser": {"id": item}} for item in IDS),
        ):
            served.odd = {path: odd}
            result = commented(on, review, RUNS[on](served, tmp_path, on == "github"))
            assert result.exception is None or isinstance(result.exception, SystemExit), (path, odd)


@pytest.mark.parametrize("on", RUNS)
@pytest.mark.parametrize("id", IDS)
def test_an_id_stays_in_its_address(
    on: str, id: object, served: Forge, review: Path, tmp_path: Path
) -> None:
    body = {
        "body": MARKER,
        "user": {"login": "github-actions[bot]"},
        "author": {"id": ME},
        "id": id,
    }
    thread = {"id": id, "comments": [{"id": id, "content": MARKER, "author": {"id": str(ME)}}]}
    commented(on, review, RUNS[on](served, tmp_path, False))
    (path,) = {path for path in served.paths if path.endswith(("/comments", "/notes", "/threads"))}
    served.odd = {path: {"value": [thread]} if on == "azure-devops" else [body]}
    served.written.clear()
    result = commented(on, review, RUNS[on](served, tmp_path, False))
    assert (result.exit_code, "that is not an ID" in result.stderr, served.written) == (1, True, [])


@pytest.mark.parametrize("author", ["me", "github-actions[bot]"])
def test_another_token_on_github_names_its_own_user(
    author: str, served: Forge, review: Path, tmp_path: Path
) -> None:
    environment = {**github(served, tmp_path), "FLEET_COMMENT_AUTHOR": author}
    for _ in range(2):
        assert commented("github", review, environment).exit_code == 0
    assert len(served.texts) == (1 if author == "github-actions[bot]" else 2)


@pytest.mark.parametrize("on", ["gitlab", "azure-devops"])
def test_the_run_of_a_fork_without_rights_does_not_fail(
    on: str, served: Forge, review: Path, tmp_path: Path
) -> None:
    result = commented(on, review, RUNS[on](served, tmp_path, True))
    assert (result.exit_code, served.comments) == (0, [])
    assert "comes from a fork" in result.stdout


@pytest.mark.parametrize("on", RUNS)
def test_a_missing_token_is_an_error_elsewhere(
    on: str, served: Forge, review: Path, tmp_path: Path
) -> None:
    environment = RUNS[on](served, tmp_path, False)
    del environment["FLEET_COMMENT_TOKEN"]
    result = commented(on, review, environment)
    assert result.exit_code == 1
    assert (
        "error: FLEET_COMMENT_TOKEN is not set, so nothing can be posted\n  hint: " in result.stderr
    )


@pytest.mark.parametrize("on", RUNS)
@pytest.mark.parametrize("status", [302, 307, 401, 403, 404, 422, 500])
def test_a_refusal_of_the_forge_is_told_without_the_token(
    on: str, status: int, served: Forge, review: Path, tmp_path: Path
) -> None:
    served.status = status
    result = commented(on, review, RUNS[on](served, tmp_path, False))
    assert result.exit_code == 1
    assert f"answers {status}" in result.stderr
    assert ("hint: " in result.stderr) == (status in (401, 403, 404))
    assert TOKEN not in result.output
    assert (len(served.paths), served.written) == (1, [])
    assert "/elsewhere" not in served.paths


@pytest.mark.parametrize("on", RUNS)
def test_outside_of_ci_it_says_where_it_belongs(on: str, review: Path) -> None:
    result = commented(on, review, {"FLEET_COMMENT_TOKEN": TOKEN})
    assert result.exit_code == 1
    assert " is not set\n  hint: this command runs in a" in result.stderr


@pytest.mark.parametrize(
    "pulls",
    [
        [],
        [{"number": 7, "head": head("acme", "f" * 40)}],
        [{"number": 7, "head": head("stranger")}],
        [
            {
                "number": 7,
                "head": {**head("acme"), "repo": {"full_name": "acme/fork", "owner": "acme"}},
            }
        ],
    ],
    ids=["closed", "newer commit", "of another owner", "of another fork of the owner"],
)
def test_only_the_pull_request_whose_head_was_reviewed_gets_it(
    pulls: list[dict[str, Any]], served: Forge, review: Path, tmp_path: Path
) -> None:
    environment = github(served, tmp_path)
    served.pulls = pulls
    result = commented("github", review, environment)
    assert (result.exit_code, served.comments) == (0, [])
    assert (
        result.stdout
        == f"no comment: no open pull request has {COMMIT[:7]} as its head: it is closed, or has moved on\n"
    )


def test_two_pull_requests_of_one_head_are_not_guessed_at(
    served: Forge, review: Path, tmp_path: Path
) -> None:
    environment = github(served, tmp_path)
    served.pulls = [{"number": 7, "head": head("acme")}, {"number": 9, "head": head("acme")}]
    result = commented("github", review, environment)
    assert (result.exit_code, served.comments) == (1, [])
    assert "is the head of the pull requests 7, 9" in result.stderr


@pytest.mark.parametrize(
    "event", ["", "[]", "{}", '{"workflow_run": {}}', '{"pull_request": {"number": "x"}}', None]
)
def test_an_event_of_another_kind_is_named(
    event: str | None, served: Forge, review: Path, tmp_path: Path
) -> None:
    environment = github(served, tmp_path)
    (tmp_path / "event.json").unlink()
    if event is not None:
        (tmp_path / "event.json").write_text(event)
    result = commented("github", review, environment)
    assert (result.exit_code, served.written) == (1, [])
    assert "the event" in result.stderr


def test_an_event_of_a_pull_request_names_it(served: Forge, review: Path, tmp_path: Path) -> None:
    environment = github(served, tmp_path)
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": 7}}))
    assert commented("github", review, environment).stdout == "posted a comment on pull request 7\n"


def test_where_nothing_could_be_planned_the_errors_are_posted(
    served: Forge, review: Path, tmp_path: Path
) -> None:
    (review / "review.md").write_text("")
    (review / "errors.txt").write_text("error: fleet/a.yaml:3: is ```not``` YAML @everyone\n")
    assert commented("gitlab", review, RUNS["gitlab"](served, tmp_path, False)).exit_code == 0
    (text,) = served.texts
    assert "````\nerror: fleet/a.yaml:3: is ```not``` YAML @\u200beveryone\n````\n" in text
    (review / "errors.txt").unlink()
    assert "has failed without a word" in comment_text(review)


def test_a_review_is_never_cut_by_a_forge() -> None:
    assert markdown.LIMIT + 500 < LIMIT < 65_536


@given(text=st.text(alphabet=st.sampled_from("`~ \n/a\x1b:é"), min_size=1, max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_errors_cannot_leave_their_block(text: str, tmp_path: Path) -> None:
    (tmp_path / "errors.txt").write_text(text, newline="")
    lines = comment_text(tmp_path).split("\n")
    if text.strip():
        fence = lines[4]
        assert set(fence) == {"`"}
        assert [line for line in lines[5:-2] if line.lstrip(" ").startswith(fence)] == []
        assert lines[-2:] == [fence, ""]


@pytest.mark.parametrize("name", ["review.md", "errors.txt"])
def test_a_link_in_the_artifact_leads_nowhere(
    name: str, review: Path, served: Forge, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("planted")
    (review / "review.md").unlink()
    (review / name).symlink_to(tmp_path / "secret")
    result = commented("gitlab", review, RUNS["gitlab"](served, tmp_path, False))
    assert (result.exit_code, served.comments) == (1, [])
    assert "cannot be read" in result.stderr


def test_what_is_no_review_is_refused(review: Path, served: Forge, tmp_path: Path) -> None:
    environment = RUNS["gitlab"](served, tmp_path, False)
    for text, said in (
        ("x" * (LIMIT + 1), "characters, and a comment takes"),
        ("x" * 4 * (LIMIT + 1), "is larger than"),
    ):
        (review / "review.md").write_text(text)
        assert said in commented("gitlab", review, environment).stderr
    (review / "review.md").unlink()
    os.mkfifo(review / "review.md")
    assert "is not a regular file" in commented("gitlab", review, environment).stderr
    assert "is not a folder" in commented("gitlab", tmp_path / "nowhere", environment).stderr
    assert served.written == []


@pytest.mark.parametrize("about", ["a-->b", "a--b", "a\nb", "a>b"])
def test_a_name_cannot_end_the_marker(about: str, review: Path) -> None:
    assert commented("gitlab", review, {}, "--about", about).exit_code == 1


@pytest.mark.parametrize(
    "url", ["file:///etc", "ftp://127.0.0.1", "nonsense", "http://127.0.0.1:1"]
)
def test_an_address_that_does_not_answer_is_told(
    url: str, review: Path, served: Forge, tmp_path: Path
) -> None:
    result = commented(
        "gitlab", review, {**RUNS["gitlab"](served, tmp_path, False), "CI_API_V4_URL": url}
    )
    assert result.exit_code == 1
    assert "cannot be asked" in result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit)
