"""The Pulumi engine behind one stack: its state, and updates of it that can be stopped."""

from __future__ import annotations

import queue
import re
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs
import yaml
from semver import VersionInfo

from fleet_components.automation.pulumi_command import Ended, PulumiCommand
from fleet_components.content.guarded import UnreadableError, read_json, read_yaml
from fleet_components.live.credentials import without_opaque
from fleet_components.live.echo import Spelled
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.review.planning.kubeconfigs import (
    configured,
    credentials,
    listed_kubeconfigs,
    provider_kubeconfigs,
)
from fleet_components.review.planning.past import StateFile, parse_state
from fleet_components.review.planning.project import Project
from fleet_components.status.events import EngineEvent, Events, shortened

_OLDEST = VersionInfo(3, 230)
_CLI_HINT = (
    f"install the Pulumi CLI {_OLDEST.major}.{_OLDEST.minor} or newer:"
    " https://www.pulumi.com/docs/install"
)
_ERROR = "error: "
_NO_STACK = re.compile("no stack named.*found")
_STACK = re.compile(r"([A-Za-z0-9_.-]{1,100}/){0,2}[A-Za-z0-9_.-]{1,100}")
"""Names of stacks, perhaps with organization and project, as the Pulumi CLI allows them."""
_UNFINISHED = (
    "the Pulumi CLI has ended without an error, and its engine has not told that the update was"
    " finished"
)
_BROKEN = (
    "the Pulumi CLI has ended without an error, and its engine has told of operations that failed"
)

Seen = Callable[[EngineEvent], None]


class Engine:
    """One stack of a project, as the Pulumi CLI sees it.

    Args:
        project: the project.
        stack: the name of the stack, with its organization if it was given.
        config: the file of the stack.

    Raises:
        FleetError: the CLI is not there or too old, or no stack can have that name.
    """

    def __init__(self, project: Project, stack: str, config: Path) -> None:
        if not _STACK.fullmatch(stack):
            hint = "use letters, digits, hyphens, underscores and periods"
            raise FleetError(
                [
                    Problem(
                        Message("not-valid-name-stack", "is not a valid name of a stack"),
                        hint=hint,
                        subject=f"stack {stack}",
                    )
                ]
            )
        self.stack, self._config, self._project = stack, config, project
        self._cli = PulumiCommand(project.file.path.parent)
        self._secrets: set[str] = set()
        words = self._cli.run("version").out.decode(errors="replace").strip()
        if (
            not VersionInfo.is_valid(words.removeprefix("v"))
            or VersionInfo.parse(words.removeprefix("v")) < _OLDEST
        ):
            raise FleetError(
                [
                    Problem(
                        Message(
                            "pulumi-cli-version",
                            'the Pulumi CLI is of version "{shortened}"',
                            shortened=shortened(words),
                        ),
                        hint=_CLI_HINT,
                    )
                ]
            )

    def state(self) -> StateFile:
        """Return the state of the stack, with its secrets in plain text.

        Raises:
            FleetError: there is no such stack, or its state cannot be exported.
        """
        found = parse_state(self._asked("stack", "export", "--show-secrets"), f"stack {self.stack}")
        self.hide(credentials(provider_kubeconfigs(found.state)))
        return found

    def update(
        self, seen: Seen, as_of: datetime | None, config: Mapping[str, str] = MappingProxyType({})
    ) -> str:
        """Update the stack, and return what went wrong; empty if nothing did.

        Args:
            seen: called with each event of the engine, in another thread. What is known to be
                secret is hidden in it.
            as_of: the time of the update; None for the configured one.
            config: configuration values that count in this update alone, by key.
        """
        settings = {**config, **({"fleet:asOf": as_of.isoformat()} if as_of else {})}
        try:
            self.hide(credentials(self._configured(self.settings())))
        except FleetError as error:
            return str(error)
        # Each event is hidden in the thread that reads it, before anybody else sees it.
        account, hiding = Events(), Spelled(self._secrets)

        def each(line: bytes) -> None:
            event = EngineEvent.of(line)
            if event:
                event = (
                    attrs.evolve(event, text=without_opaque(hiding.hidden(event.text)))
                    if event.text
                    else event
                )
                account.hear(event)
                seen(event)

        # Leaving the block closes the temporary file, which deletes it.
        with ExitStack() as during:
            file = during.enter_context(self._with(settings)) if settings else None
            options = [f"--stack={self.stack}", *([f"--config-file={file.name}"] if file else [])]
            ended = self._cli.run("up", "--yes", "--skip-preview", "--json", *options, each=each)
        if ended.status:
            return without_opaque(hiding.hidden(words_of(ended)))
        # The exit status alone is not trusted: the events may report a failure, or break off.
        if account.failed:
            return _BROKEN
        return "" if account.ended else _UNFINISHED

    def hide(self, secrets: Iterable[str]) -> None:
        """Hide texts in what the engine says from now on."""
        self._secrets |= set(secrets)

    def settings(self) -> Mapping[str, str]:
        """Return the configuration of the stack by key, with its secrets in plain text.

        Raises:
            FleetError: it cannot be read.
        """
        try:
            data = read_json(self._asked("config", "--show-secrets", "--json"))
        except UnreadableError as error:
            raise self._failed(
                Message("configuration-unreadable", "the configuration {what}", what=error.message)
            ) from None
        found = data if isinstance(data, dict) else {}
        values = {key: item.get("value") for key, item in found.items() if isinstance(item, dict)}
        self.hide(
            item["value"]
            for item in found.values()
            if isinstance(item, dict) and item.get("secret") is True
        )
        return {key: value for key, value in values.items() if isinstance(value, str)}

    def configure(self, key: str, value: str) -> None:
        """Set a value of the stack's configuration, in its file.

        Raises:
            FleetError: it cannot be set.
        """
        # Behind "--", since a value may begin with a hyphen.
        self._asked("config", "set", key, "--plaintext", after=("--", value))

    def stop(self) -> None:
        """Ask the running update to stop; it ends what it has begun."""
        self._cli.send(signal.SIGINT)

    def kill(self) -> None:
        """End the running update at once, with all that it has started."""
        self._cli.kill()

    def _configured(self, settings: Mapping[str, str]) -> Iterator[str]:
        """Yield the kubeconfigs of the configuration that can be read."""
        for words in (*listed_kubeconfigs(settings).values(), settings.get("fleet:hub")):
            # One that cannot be read has no credentials to hide; the update itself reports it.
            with suppress(FleetError):
                yield configured(self._project.folder, words, "")

    def _asked(self, *arguments: str, after: tuple[str, ...] = ()) -> bytes:
        ended = self._cli.run(*arguments, f"--stack={self.stack}", *after)
        if not ended.status:
            return ended.out
        # The CLI has no exit status of its own for a missing stack, so its words are matched.
        if _NO_STACK.search(ended.words):
            what, hint = (
                Message("backend-no-stack", 'the backend has no stack "{stack}"', stack=self.stack),
                f"pulumi stack init {self.stack}",
            )
            raise FleetError([Problem(what, file=str(self._project.file.path), hint=hint)])
        words = without_opaque(Spelled(self._secrets).hidden(words_of(ended)))
        raise self._failed(Message("cli-failed", "{words}", words=words))

    def _failed(self, what: Message) -> FleetError:
        return FleetError([Problem(what, subject=f"stack {self.stack}")])

    def _with(self, config: Mapping[str, str]) -> Any:
        """Return the file of the stack with values of an update, readable for its owner alone."""
        settings = read_yaml(self._config.read_bytes()) if self._config.is_file() else None
        settings = settings or {}
        settings["config"] = {**(settings.get("config") or {}), **config}
        # Mode 0600, since it may hold secrets. The caller closes it, after the CLI has read it.
        file = tempfile.NamedTemporaryFile("w", suffix=".yaml")  # noqa: SIM115
        yaml.safe_dump(settings, file)
        file.flush()
        return file


def words_of(ended: Ended) -> str:
    """Return what a command of the CLI says of its end: its errors, or its last words."""
    lines = [shortened(line.strip()) for line in ended.words.splitlines() if line.strip()]
    wrong = [line.removeprefix(_ERROR) for line in lines if line.startswith(_ERROR)]
    return (
        shortened("; ".join(wrong or lines[-1:]))
        or f"the Pulumi CLI has ended with exit status {ended.status}"
    )


# One update that runs beside the program, which receives its events and may have to stop it.


_TICK = 0.2
_AT_ONCE = 1000
"""Most events that wait in the queue, and that are handled before anything else is checked."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STOPPING = "stopping: what has begun is finished; Ctrl-C once more ends it at once"


@attrs.frozen(kw_only=True)
class Watcher:
    """Reports how an update goes.

    Attributes:
        hear: gets each event.
        refresh: is called several times a second.
        say: gets lines that stay.
    """

    hear: Callable[[EngineEvent], None] = lambda _: None
    refresh: Callable[[], None] = lambda: None
    say: Callable[[str], None]


def carried_out(
    engine: Engine,
    watcher: Watcher,
    as_of: datetime | None,
    config: Mapping[str, str] | None = None,
) -> tuple[str, int]:
    """Run an update; return what went wrong, and how often it was asked to stop.

    The first signal asks the engine to stop, and every further one ends it at once.

    Args:
        engine: the stack.
        watcher: receives the events.
        as_of: the time of the update; None for the one that is configured.
        config: configuration values that count in this update alone, by key.
    """
    events: queue.Queue[EngineEvent] = queue.Queue(_AT_ONCE)
    given = (config,) if config is not None else ()
    answered = 0
    # Python calls signal handlers in the main thread only, so the engine runs in another one.
    with _signals() as asked, ThreadPoolExecutor(1) as pool:
        running = pool.submit(engine.update, events.put, as_of, *given)
        try:
            # The last events may still be in the queue when the CLI has ended.
            while not running.done() or not events.empty():
                for event in _waiting(events):
                    watcher.hear(event)
                watcher.refresh()
                # A handler only appends to the list: the engine is not called from within a
                # handler.
                for _ in asked[answered:]:
                    answered += 1
                    _stop(engine, watcher, answered)
        finally:
            if not running.done():  # nobody hears it any more
                engine.kill()
                # Its thread may block on the full queue: take events out until it ends.
                while not running.done():
                    list(_waiting(events))
        return running.result(), answered


def _stop(engine: Engine, watcher: Watcher, times: int) -> None:
    if times == 1:
        watcher.say(_STOPPING)
        engine.stop()
    else:
        engine.kill()


def _waiting(events: queue.Queue[EngineEvent]) -> Iterator[EngineEvent]:
    """Yield the events that are there, after waiting a moment for the first one."""
    with suppress(queue.Empty):
        yield events.get(timeout=_TICK)
        for _ in range(_AT_ONCE):
            yield events.get_nowait()


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Collect the signals that ask this program to stop."""
    asked: list[int] = []
    # A signal that is ignored, as nohup does with SIGHUP, stays ignored.
    heeded = [sign for sign in _SIGNALS if signal.getsignal(sign) is not signal.SIG_IGN]
    before = {sign: signal.signal(sign, lambda number, _: asked.append(number)) for sign in heeded}
    try:
        yield asked
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)
