"""Mocks that remember what every placement was decided from, and answer for what exists as its state does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pulumi.runtime import MockResourceArgs

from fleet_components import dynamic
from fleet_components.cli.planning.past import TEMPLATE, Past, completed, missing_content
from fleet_components.cli.planning.planned import Decided
from fleet_components.cli.planning.templates import DecidedTemplate, completed_template, with_needs
from fleet_components.content.secret import is_secret as is_secret_object
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.feed import Feed, decide, enroll, read_request
from fleet_components.plan.karmada.feed import decide_template, read_template
from fleet_components.plan.karmada.place import TemplateRequest, place_template
from fleet_components.plan.karmada.record import TemplateRecord
from fleet_components.plan.place import place
from fleet_components.plan.record import Record
from fleet_components.testing.mocks import PROVIDERS, CheckFailed, FleetMocks
from fleet_components.testing.state import StackState, StoredResource, is_secret, reveal

_PLACEMENT, _BINDING = "pulumi-python:dynamic/fleet:Placement", "pulumi-python:dynamic/fleet:Binding"


class PlanMocks(FleetMocks):
    """Decides as its base does, and collects every refusal instead of stopping at the first.

    Args:
        state: the state before.
        stored: the outputs of the same resources by URN, with secrets marked.
    """

    def __init__(self, state: StackState, stored: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__(state)
        self.problems: list[Problem] = []
        self._stored = {(r.type, r.name): (r.id, stored.get(r.urn, {})) for r in state.resources.values()}
        self._templates: dict[str, tuple[TemplateRequest, TemplateRecord]] = {}
        self._feeds: dict[str, tuple[Feed, Record]] = {}

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        """A new resource has no id before it is made; an old one keeps its own, and its outputs."""
        identity, outputs = super().new_resource(args)
        if args.typ in PROVIDERS or not args.custom:
            return identity, outputs
        identity, stored = self._stored.get((args.typ, args.name), (args.resource_id or "", {}))
        return identity, {**{key: _on_the_wire(value) for key, value in stored.items()}, **outputs}

    def check(self, provider: dynamic.RecordProvider, typ: str, name: str, news: dict[str, Any]) -> dict[str, Any]:
        """Decide; what is refused is kept for the end, and the old decision goes on in its place."""
        olds = dict(self._olds.get((typ, name), {}))
        if isinstance(provider, dynamic.PlacementProvider):
            before = self._completed(news, olds)
            olds = self._olds[typ, name] = {**olds, **before.to_wire()} if olds else {}
        try:
            checked = super().check(provider, typ, name, news)
        except CheckFailed as failed:
            self.problems += _problems(provider, news, olds) or [Problem(str(failed))]
            return {**news, **olds}
        if isinstance(provider, dynamic.PlacementProvider):
            kind = TemplateRecord if dynamic.REQUIRED_BY in news else Record
            self.problems += missing_content(news["key"].removeprefix(TEMPLATE), kind.from_wire(checked))
        return checked

    def _completed(self, news: Mapping[str, Any], olds: Mapping[str, Any]) -> Record | TemplateRecord:
        """What was decided before, with what the state hides and is still the same; kept for later."""
        feed = news[dynamic.FEED]
        if dynamic.REQUIRED_BY in news:
            request = read_template(feed, news[dynamic.REQUIRED_BY])
            template = completed_template(request, TemplateRecord.from_wire(olds))
            self._templates[request.key] = request, template
            return template
        before = completed(Record.from_wire(olds), read_request(feed).objects)
        self._feeds[news["key"]] = feed, before
        return before

    def templates(self) -> tuple[DecidedTemplate, ...]:
        """Every template of Karmada's policies, by key."""
        known = [self._templates[key] for key in sorted(self._templates)]
        return tuple(with_needs(DecidedTemplate(*one, place_template(*one)) for one in known))

    def decided(self) -> tuple[Decided, ...]:
        """Every placement, by kind and key."""
        return tuple(_decided(name, feed, before) for name, (feed, before) in sorted(self._feeds.items()))


def state_of(project: str, stack: str, past: Past) -> StackState:
    """The state before a run, as far as decisions need it.

    Raises:
        FleetError: it is the state of another stack, so that everything in it would be deleted.
    """
    if past.export is None:
        return StackState.of([*_placements(past), *_templates(past), *_bindings(past)])
    state = StackState.from_export(past.export)
    urn = next(iter(state.resources), "")
    its_stack, its_project = (*urn.removeprefix("urn:pulumi:").split("::"), "")[:2]
    if urn and (its_stack, its_project) != (stack, project):
        what = f"is the state of stack {its_stack} of project {its_project}, not of {stack} of {project}"
        raise FleetError([Problem(what, file=past.file, hint=f"pulumi stack export --stack {stack} --file FILE")])
    return state


def _placements(past: Past) -> list[StoredResource]:
    """What a render decided. Contents without the data of Secrets are none: digests tell what changed."""
    wires = {name: record.to_wire() for name, record in past.records.items()}
    for name, record in past.records.items():
        if past.redacted and any(map(is_secret_object, sum(record.contents.values(), ()))):
            wires[name]["contents"] = {}
    return [_stored(_PLACEMENT, name.partition("/")[2], inputs=wire) for name, wire in wires.items()]


def _templates(past: Past) -> list[StoredResource]:
    return [
        _stored(_PLACEMENT, key, inputs=record.to_wire(), outputs={"key": f"{TEMPLATE}{key}"})
        for key, record in past.templates.items()
    ]


def _bindings(past: Past) -> list[StoredResource]:
    """What a render has done."""
    return [
        _stored(
            _BINDING,
            f"{key}@{cluster}",
            outputs={
                "placement": key,
                "cluster": cluster,
                "revision": here.revision,
                "replicas": here.replicas,
                "completions": here.completions,
            },
        )
        for key, clusters in past.done.items()
        for cluster, here in clusters.items()
    ]


def _stored(
    kind: str, name: str, inputs: Mapping[str, Any] | None = None, outputs: Mapping[str, Any] | None = None
) -> StoredResource:
    return StoredResource(f"urn:pulumi:stack::project::{kind}::{name}", kind, inputs or {}, outputs or {})


def _on_the_wire(value: Any) -> Any:
    """A value of a state as a provider hands it to the program: what is a secret stays one."""
    if not is_secret(value):
        return reveal(value)
    return {**{k: v for k, v in value.items() if k not in ("plaintext", "ciphertext")}, "value": reveal(value)}


def _problems(provider: dynamic.RecordProvider, news: Mapping[str, Any], olds: Mapping[str, Any]) -> list[Problem]:
    """Why a check was refused, in full."""
    try:
        if dynamic.REQUIRED_BY in news:
            decide_template(news[dynamic.FEED], olds, news[dynamic.REQUIRED_BY])
        elif isinstance(provider, dynamic.PlacementProvider):
            decide(news[dynamic.FEED], olds)
        else:
            enroll(news[dynamic.FEED], olds)
    except FleetError as error:
        return list(error.problems)
    return []


def _decided(name: str, feed: Feed, before: Record) -> Decided:
    request = read_request(feed)
    return Decided(name.partition("/")[0], request, before, place(request, before))
