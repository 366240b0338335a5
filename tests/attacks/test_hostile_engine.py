"""What the Pulumi CLI and its engine say may quote what clusters answer: hostile texts, types, sizes and ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import tracemalloc
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.attacks.fake_pulumi import BINDING, END, PASSWORD, STACK, TOKEN, FakePulumi, fake_pulumi
from tests.cli.fleets import run

ROLLOUT = ("rollout", ".", "--stack", "stack", "--yes")
OUTPUTS = pytest.mark.parametrize("output", ["text", "json"])
SUCCESS = "rolled out in 1 update"
_COMMANDS = re.compile(r"##\[|##vso\[|^\s*::", re.MULTILINE)


@pytest.fixture
def pulumi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakePulumi:
    return fake_pulumi(tmp_path, monkeypatch)


def said(text: Any, severity: Any = "error", urn: Any = STACK) -> dict[str, Any]:
    return {"diagnosticEvent": {"message": text, "color": "raw", "severity": severity, "urn": urn}}


def step(kind: str, urn: Any = BINDING, op: Any = "create") -> dict[str, Any]:
    return {kind: {"metadata": {"op": op, "urn": urn, "type": "t", "provider": ""}}}


def rolled_out(output: str = "text") -> Result:
    return run(*ROLLOUT, "-o", output)


def harmless(result: Result) -> None:
    """Nothing commands a terminal or a CI system, and nothing passes for a message of its own."""
    for text in (result.stdout, result.stderr):
        assert all(char.isprintable() or char == "\n" for char in text), ascii(text)
        assert not _COMMANDS.search(text), text
        assert SUCCESS not in text.splitlines()


def forms(secret: str) -> set[str]:
    return {
        secret,
        b64encode(secret.encode()).decode(),
        secret.encode().hex(),
        secret.encode().hex().upper(),
    }


TEXTS = {
    "colours": "\x1b[2J\x1b[31mred",
    "a link": "\x1b]8;;http://example.com\x07here\x1b]8;;\x07",
    "a title": "\x9d0;title\x9c\x9b31m",
    "back to the beginning": f"refused\r{SUCCESS}",
    "directions": "a\u202eb\u2066c\u200b\u00ad\ufeff",
    "another message": f"refused\n{SUCCESS}\nerror: nothing",
    "other ends of lines": f"refused\u2028{SUCCESS}\x85{SUCCESS}\x0b{SUCCESS}\x0c{SUCCESS}",
    "GitHub": "refused\n::error::x\n::set-output name=a::b\n  ::add-mask::c\n##[group]d\nand ##[error]e",
    "Azure": "refused\n##vso[task.setvariable variable=a]b and ##vso[task.complete result=Succeeded;]",
    "marks of the engine": "<{%reset%}>\x1b[1m<{%",
    "Markdown": "<script>x</script>[a](http://example.com) ```",
    "nothing": "",
    "blanks": " \n\t\n",
    "a half of a pair": "\ud800",
    "a zero": "a\0b",
    "marks of rich": "[bold red]x[/] [link=http://example.com]y[/link]",
    "percent": "%s %d {0} {x}",
}


BATCHES = pytest.mark.parametrize("texts", [list(TEXTS.values())[:9], list(TEXTS.values())[9:]])
"""Ten errors are shown."""


@OUTPUTS
@BATCHES
def test_a_text_commands_nothing_wherever_it_stands(
    pulumi: FakePulumi, texts: list[str], output: str
) -> None:
    everywhere = [
        event
        for text in texts
        for event in (
            *(
                said(text, severity, urn)
                for severity in ("error", "warning", "info", "info#err", text)
                for urn in URNS
            ),
            said(f"waiting {text}", "info", ""),
            said(text, "error", text),
            *(step(kind, text, text) for kind in STEPS),
            {"stdoutEvent": {"message": text, "color": text}},
            {"policyEvent": {"message": text}},
            {"preludeEvent": {"config": {text: text}}},
        )
    ]
    pulumi.tells([*everywhere, step("resOpFailedEvent"), END], status=255)
    result = rolled_out(output)
    assert result.exit_code == 1
    assert "failed: a" in result.stdout
    harmless(result)


@OUTPUTS
@pytest.mark.parametrize("command", ["export", "config", "up"])
def test_so_does_standard_error(pulumi: FakePulumi, command: str, output: str) -> None:
    err = "\n".join(f"error: {text}\n{text}" for text in TEXTS.values()).encode(
        errors="surrogatepass"
    )
    pulumi.says(command, "", err=err, status=1)
    result = rolled_out(output)
    assert result.exit_code == 1
    assert "refused" in result.output
    harmless(result)


URNS = (STACK, BINDING, "", None)
ONE = {
    "urn": BINDING,
    "type": "pulumi-python:dynamic/fleet:Binding",
    "custom": True,
    "inputs": {},
    "outputs": {},
}
STEPS = ("resourcePreEvent", "resOutputsEvent", "resOpFailedEvent")
KINDS = (
    *STEPS,
    "diagnosticEvent",
    "summaryEvent",
    "preludeEvent",
    "cancelEvent",
    "policyEvent",
    "ofTomorrowEvent",
)
VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "x",
    [],
    [[]],
    {},
    {"a": {}},
    "urn:pulumi:x",
    [{"urn": STACK}],
]


def odd() -> list[Any]:
    """Events with each value in the place of each part that is read."""
    fields = ("message", "severity", "urn")
    events: list[Any] = [*VALUES, *({kind: value} for kind in KINDS for value in VALUES)]
    events += [{kind: {"metadata": value}} for kind in STEPS for value in VALUES]
    events += [{kind: {"planning": value}} for kind in STEPS for value in VALUES]
    for value in VALUES:
        events += [
            {"diagnosticEvent": {**said("x", "info")["diagnosticEvent"], field: value}}
            for field in fields
        ]
        events += [step(kind, value) for kind in ("resourcePreEvent", "resOutputsEvent")]
        events += [step(kind, op=value) for kind in ("resourcePreEvent", "resOutputsEvent")]
    return events


LINES = {
    "cut off": b'{"diagnosticEvent": {"message": "a',
    "not a number": b'{"diagnosticEvent": {"message": NaN, "urn": Infinity, "severity": -Infinity}}',
    "not UTF-8": b'{"diagnosticEvent": {"message": "\xff\xfe\xc0\x80", "severity": "info"}}',
    "deep": b'{"diagnosticEvent": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deeper": b'{"a":' * 100_000,
    "a long number": b'{"sequence": ' + b"9" * 10_000 + b"}",
    "twice": b'{"diagnosticEvent": {"severity": "info", "severity": "error", "message": "x"}}',
    "another encoding": '{"summaryEvent": {}}'.encode("utf-16"),
    "of somebody else": b"Updating (stack)\n\n\0\r\n[]\n",
}


@OUTPUTS
def test_damaged_events_are_passed_over(pulumi: FakePulumi, output: str) -> None:
    events = "".join(
        f"{json.dumps(item)}\n" for item in odd() if item != {"resOpFailedEvent": {"a": {}}}
    )
    pulumi.says(
        "up", b"\n".join(LINES.values()) + b"\n" + events.encode() + json.dumps(END).encode()
    )
    result = rolled_out(output)
    # The stack is as before, which an update that has succeeded does not leave.
    assert (result.exit_code, len(pulumi.updates)) == (1, 1)
    assert "the last update has succeeded, and the plan is the same as before it" in result.stdout
    assert "error" not in result.stderr


ENDS: dict[str, tuple[list[Any], int, str, str]] = {
    "without a summary": (
        [step("resOutputsEvent")],
        0,
        "",
        "has not told that the update was finished",
    ),
    "without a word": ([], 0, "", "has not told that the update was finished"),
    "with a failure": (
        [step("resOpFailedEvent"), END],
        0,
        "",
        "has told of operations that failed",
    ),
    "with a failure after its end": (
        [END, step("resOpFailedEvent")],
        0,
        "",
        "operations that failed",
    ),
    "without a word, and with 1": ([], 1, "", "has ended with exit status 1"),
    "with a summary, and with 1": ([END], 1, "", "has ended with exit status 1"),
    "by a signal": ([END], 0, "kill -9 $$", "has ended with exit status -9"),
}


@pytest.mark.parametrize("name", ENDS)
def test_an_update_that_has_not_told_its_success_has_failed(pulumi: FakePulumi, name: str) -> None:
    events, status, script, words = ENDS[name]
    pulumi.tells(events, status=status, script=script)
    result = rolled_out("json")
    assert (result.exit_code, len(pulumi.updates)) == (1, 1)
    document = json.loads(result.stdout)
    assert (document["ending"], document["updates"][0]["succeeded"]) == ("failed", False)
    assert words in document["words"][1]


@OUTPUTS
@pytest.mark.parametrize("secret", [TOKEN, PASSWORD])
def test_no_secret_is_shown(pulumi: FakePulumi, secret: str, output: str) -> None:
    text = f'admission webhook denied: "{" ".join(sorted(forms(secret)))}" is not allowed'
    events = [
        said(text, severity, urn)
        for severity in ("error", "warning", "info")
        for urn in (STACK, BINDING)
    ]
    pulumi.tells(
        [*events, said(f"waiting {text}", "info", "")], err=f"error: {text}\n".encode(), status=255
    )
    result = rolled_out(output)
    assert result.exit_code == 1
    assert "admission webhook denied" in result.stdout
    assert not any(form in result.output for form in forms(secret))


TOKENS = (
    "Bearer abcdefg",
    "eyJhbGciOiJSUzI1NiJ9.eyJhIjoxfQ.c2ln",
    "A" * 20 + "b0" * 20,
    "-----BEGIN PRIVATE KEY-----\nx",
)


@pytest.mark.parametrize("token", TOKENS)
def test_nothing_that_looks_like_a_token_is_shown(pulumi: FakePulumi, token: str) -> None:
    pulumi.tells([said(f"refused: {token}")], err=f"error: {token}".encode(), status=255)
    result = rolled_out()
    assert "refused: " in result.stdout
    assert token.rpartition(" ")[2] not in result.output


LARGE = {
    "one event": "head -c 100000000 /dev/zero | tr '\\0' a; echo",
    "many events": "yes '{event}' | head -n 20000",
    "one line of standard error": "head -c 100000000 /dev/zero | tr '\\0' a >&2",
    "lines of standard error": "yes 'error: refused' | head -n 10000000 >&2",
}


@pytest.mark.samples(1)
@pytest.mark.parametrize("name", LARGE)
def test_no_amount_fills_the_memory(pulumi: FakePulumi, name: str) -> None:
    pulumi.tells(
        [], status=255, script=LARGE[name].format(event=json.dumps(said("refused", "warning")))
    )
    tracemalloc.start()
    try:
        result = rolled_out()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.exit_code == 1
    assert len(result.output) < 50_000
    assert most < 150 * 2**20


@pytest.mark.parametrize("command", ["export", "config"])
def test_an_answer_larger_than_a_file_is_refused(
    pulumi: FakePulumi, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEET_MAX_FILE_MIB", "1")
    pulumi.says(command, "", script="exec yes")
    result = rolled_out()
    assert result.exit_code == 1
    assert "what the Pulumi CLI prints is larger than 1 MiB" in result.output


def test_a_program_that_the_cli_leaves_behind_holds_nothing_up(
    pulumi: FakePulumi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fleet_components.automation.pulumi_command._AFTER", 0.1)
    pulumi.tells([END], script="/bin/sleep 60 &")
    began = time.monotonic()
    assert "the last update has succeeded" in rolled_out().stdout
    assert time.monotonic() - began < 20


@pytest.mark.samples(2)
@pytest.mark.parametrize(
    ("command", "words", "sign"),
    [
        ("export", "error: interrupted", signal.SIGINT),
        ("export", "error: interrupted", signal.SIGTERM),
        ("up", "interrupted in update 1 of 1", signal.SIGTERM),
        ("up", "interrupted in update 1 of 1", signal.SIGHUP),
    ],
)
def test_an_interrupt_leaves_nothing_behind(
    pulumi: FakePulumi, command: str, words: str, sign: signal.Signals
) -> None:
    # Of an update, the first signal asks the CLI to end, and this one does not; the second one ends it.
    pulumi.says(command, "", script="trap '' INT\necho $$ > pid\n/bin/sleep 60")
    arguments = [sys.executable, "-m", "fleet_components.cli", *ROLLOUT]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        _until(lambda: (pulumi.folder / "pid").exists())
        for _ in range(1 if command == "export" else 2):
            process.send_signal(sign)
            time.sleep(3)  # two signals that wait for a busy process are one to it
        out, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert words in out + err
    assert "Traceback" not in err
    assert list(pulumi.temporary.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int((pulumi.folder / "pid").read_text()), 0)


def _until(done: Any) -> None:
    until = time.monotonic() + 20
    while not done():
        assert time.monotonic() < until
        time.sleep(0.05)


ODD_RESOURCES: list[Any] = [1, "x", {"a": 1}, [1], [[]], ["x"], [None]]
STATES: dict[str, bytes] = {
    "nothing": b"",
    "null": b"null",
    "a list": b"[]",
    "a text": b'"x"',
    "no deployment": b"{}",
    "cut off": b'{"version": 3, "deployment": {"res',
    "not UTF-8": b'{"version": 3, "deployment": {"\xff": 1}}',
    "not a number": b'{"version": 3, "deployment": {"resources": NaN}}',
    "deep": b'{"version": 3, "deployment": {"resources": '
    + b"[" * 100_000
    + b"]" * 100_000
    + b"}}",
    "many": b'{"version": 3, "deployment": {"resources": [' + b"{}," * 10_000 + b"{}]}}",
    **{
        f"resources: {value!r}": json.dumps(
            {"version": 3, "deployment": {"resources": value}}
        ).encode()
        for value in ODD_RESOURCES
    },
    **{
        f"{field}: {value!r}": json.dumps(
            {"version": 3, "deployment": {"resources": [ONE | {field: value}]}}
        ).encode()
        for field, value in (
            ("urn", 1),
            ("urn", "x"),
            ("urn", f"{BINDING}\n\x1b[31m/../../x"),
            ("type", []),
            ("inputs", []),
            (
                "inputs",
                {
                    "a": {
                        "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
                        "plaintext": "{",
                    }
                },
            ),
            ("outputs", "x"),
            ("outputs", {"format": "\x1b[31m"}),
            ("parent", {}),
        )
    },
}


@pytest.mark.parametrize("name", STATES)
def test_a_damaged_state_is_said_and_never_updated(pulumi: FakePulumi, name: str) -> None:
    pulumi.says("export", STATES[name])
    result = rolled_out()
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith("error: ")
    assert pulumi.updates == []
    harmless(result)


@pytest.mark.parametrize(
    "name", ["x y", "a\x1b[31mb", "a\nb", "..\\x", "a;b", "$(x)", "\u202ex", "a" * 101, "a/b/c/d"]
)
def test_no_stack_can_have_such_a_name(pulumi: FakePulumi, name: str) -> None:
    (pulumi.project / "Pulumi.stack.yaml").unlink()
    result = run("rollout", ".", "--stack", name, "--yes")
    assert result.exit_code == 1
    assert "is not a valid name of a stack" in result.stderr
    assert pulumi.updates == []
    harmless(result)


def test_a_name_that_looks_like_an_option_stays_a_name(pulumi: FakePulumi) -> None:
    (pulumi.project / "Pulumi.stack.yaml").rename(pulumi.project / "Pulumi.--json.yaml")
    result = run("rollout", ".", "--stack", "--json", "--yes")
    assert result.exit_code == 1, result.output
    assert pulumi.updates == ["--non-interactive up --yes --skip-preview --json --stack=--json"]


CONFIGS = [
    "",
    "null",
    "[]",
    "x",
    "[" * 100_000,
    '{"fleet:kubeconfigs": {"value": "["}}',
    '{"fleet:hub": 1}',
    '{"a": {"value": []}}',
]


@pytest.mark.samples(3)
@pytest.mark.parametrize("config", CONFIGS)
def test_a_damaged_configuration_ends_in_words(pulumi: FakePulumi, config: str) -> None:
    pulumi.says("config", config)
    result = rolled_out()
    assert result.exit_code == 1
    harmless(result)
