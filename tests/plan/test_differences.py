"""The differences that a plan shows are those between what stood on the members and what it delivers there.

What stands is what this test has seen delivered, over random histories of both systems; no record is asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fleet_components import FleetError, Options, Past, plan_fleet, source_of
from fleet_components.content.difference import CHANGED
from fleet_components.content.secret import REDACTED, redacted
from fleet_components.content.stamp import WRITTEN_AGAIN
from fleet_components.content.yaml_diff import yaml_diff, yaml_lines
from fleet_components.model.manifest import Manifest
from fleet_components.plan.delivered import delivered
from fleet_components.plan.departures import Fate
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.options import Settings
from fleet_components.review.documents.differences import differences
from fleet_components.review.documents.wire import as_data
from fleet_components.rollout.rollout import Change
from tests.content.patching import patched

GROUP = "placement.kubernetes-fleet.io/v1beta1"
POLICY = "policy.karmada.io/v1alpha1"
CANARY = "planted-canary"
MEMBERS = ("a", "b", "c", "d")
Object = dict[str, Any]
Data = Mapping[str, Any]
Place = tuple[str, str]
"""A member and an object."""


@attrs.define
class Written:
    """What the user has written.

    Attributes:
        members: the label ``stage`` of each member.
        policy: the policy of the placement; None for no placement.
        space: the namespace that the placement selects.
        run: the update run that rolls it out; empty for a rolling update.
        compares: whether its objects are only compared.
        text: the text of the ConfigMaps.
        image: the image of the Deployments.
        app: the label that they select pods by, which cannot be changed in place.
        replicas: their replicas.
        secret: the data of the Secrets.
        objects: the kinds of the objects that there are in each namespace.
        overrides: the rules of the placement, as (kind of the object, what, the stage of the members, value).
        karmada: the members of the Karmada policy; None for no policy.
        weights: how it divides the replicas; None where each member gets all.
        suspended: the members to which it sends nothing for now.
        mirrored: the members whose image has another registry.
        failing: the members on which an override of Karmada fails.
    """

    members: dict[str, str]
    policy: Object | None
    space: str
    run: str
    compares: bool
    text: str
    image: str
    app: str
    replicas: int
    secret: str
    objects: set[str]
    overrides: list[tuple[str, str, str, str]]
    karmada: list[str] | None
    weights: list[int] | None
    suspended: list[str]
    mirrored: list[str]
    failing: list[str]

    def documents(self) -> Iterator[Object]:
        """All documents."""
        for name, stage in self.members.items():
            spec = {
                "identity": {"kind": "ServiceAccount", "name": "agent", "namespace": "fleet-system"}
            }
            yield of(
                "MemberCluster",
                name,
                "",
                "cluster.kubernetes-fleet.io/v1",
                spec=spec,
                labels={"stage": stage},
            )
        for space in ("one", "two"):
            yield of("Namespace", space, "")
            yield from (data for data in self._objects(space) if data["kind"] in self.objects)
        yield from self._placement() if self.policy else ()
        yield from self._karmada() if self.karmada else ()

    def _objects(self, space: str) -> Iterator[Object]:
        labels = {"app": self.app}
        pod = {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "it", "image": self.image}]},
        }
        spec = {"replicas": self.replicas, "selector": {"matchLabels": labels}, "template": pod}
        yield of("ConfigMap", "c", space, data={"text": self.text, "kept": "yes"})
        yield of("Secret", "s", space, stringData={"word": f"{CANARY}-{self.secret}"})
        yield of("Deployment", "web", space, "apps/v1", spec=spec)
        inner = of("ConfigMap", "inner", space, data={"text": self.text})
        yield of("ResourceEnvelope", "e", space, GROUP, data={"inner": inner})

    def _placement(self) -> Iterator[Object]:
        assert self.policy
        selector = {"group": "", "version": "v1", "kind": "Namespace", "name": self.space}
        spec: Object = {"resourceSelectors": [selector], "policy": self.policy}
        # The type of a policy cannot be changed: another type is another placement.
        name = f"p-{self.policy['placementType'].lower()}"
        spec["strategy"] = {"applyStrategy": {"type": "ReportDiff"}} if self.compares else {}
        spec["strategy"]["type"] = "External" if self.run else "RollingUpdate"
        if self.run:
            stages: list[Object] = [
                {"name": stage, "labelSelector": {"matchLabels": {"stage": stage}}}
                for stage in ("canary", "rest")
            ]
            stages[0]["afterStageTasks"] = [{"type": "Approval"}]
            yield of("ClusterStagedUpdateStrategy", "careful", "", GROUP, spec={"stages": stages})
            run = {"placementName": name, "stagedRolloutStrategyName": "careful", "state": "Run"}
            yield of("ClusterStagedUpdateRun", self.run, "", GROUP, spec=run)
        yield of("ClusterResourcePlacement", name, "", GROUP, spec=spec)
        for number, (kind, what, stage, value) in enumerate(self.overrides):
            yield of(
                "ResourceOverride",
                f"o{number}",
                self.space,
                GROUP,
                spec=rule(kind, what, stage, value),
            )

    def _karmada(self) -> Iterator[Object]:
        kinds = [("apps/v1", "Deployment"), ("v1", "ConfigMap"), ("v1", "Secret")]
        placement: Object = {"clusterAffinity": {"clusterNames": self.karmada}}
        if self.weights:
            rules = [
                {"targetCluster": {"clusterNames": [name]}, "weight": weight}
                for name, weight in zip(MEMBERS, self.weights, strict=True)
            ]
            placement["replicaScheduling"] = {
                "replicaSchedulingType": "Divided",
                "replicaDivisionPreference": "Weighted",
                "weightPreference": {"staticWeightList": rules},
            }
        selectors = [{"apiVersion": version, "kind": kind} for version, kind in kinds]
        suspended = (
            {"suspension": {"dispatchingOnClusters": {"clusterNames": self.suspended}}}
            if self.suspended
            else {}
        )
        spec = {"resourceSelectors": selectors, "placement": placement, **suspended}
        yield of("PropagationPolicy", "k", "two", POLICY, spec=spec)
        if self.failing:
            wrong = {"path": "/spec/none", "operator": "remove"}
            overrides = [
                {
                    "targetCluster": {"clusterNames": self.failing},
                    "overriders": {"plaintext": [wrong]},
                }
            ]
            yield of("OverridePolicy", "fails", "two", POLICY, spec={"overrideRules": overrides})
        if self.mirrored:
            image = {"component": "Registry", "operator": "add", "value": "mirror.example"}
            overrides = [
                {
                    "targetCluster": {"clusterNames": self.mirrored},
                    "overriders": {"imageOverrider": [image]},
                }
            ]
            yield of("OverridePolicy", "mirror", "two", POLICY, spec={"overrideRules": overrides})


def of(kind: str, name: str, namespace: str = "", version: str = "v1", **fields: Any) -> Object:
    labels = {"labels": fields.pop("labels")} if "labels" in fields else {}
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **labels}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def rule(kind: str, what: str, stage: str, value: str) -> Object:
    """The rule of an override; it reaches into envelopes as well."""
    terms = [{"labelSelector": {"matchLabels": {"stage": stage}}}] if stage else []
    groups = {
        "Deployment": ("apps", "v1", "web"),
        "ConfigMap": ("", "v1", "c"),
        "Secret": ("", "v1", "s"),
    }
    group, version, name = groups[kind]
    path = {"Deployment": "/metadata/labels", "ConfigMap": "/data/extra", "Secret": "/data/extra"}[
        kind
    ]
    written: Any = (
        {"own": value}
        if kind == "Deployment"
        else f"{CANARY}-{value}"
        if kind == "Secret"
        else value
    )
    actions: dict[str, Object] = {
        "write": {"jsonPatchOverrides": [{"op": "add", "path": path, "value": written}]},
        "name": {"jsonPatchOverrides": [{"op": "add", "path": "/metadata/annotations", "value": {"on": "${MEMBER-CLUSTER-NAME}"}}]},
        "delete": {"overrideType": "Delete"},
        "fail": {"jsonPatchOverrides": [{"op": "remove", "path": "/data/none"}]},
    }  # fmt: skip
    rules = [{"clusterSelector": {"clusterSelectorTerms": terms}, **actions[what]}]
    selector = {"group": group, "version": version, "kind": kind, "name": name}
    return {"resourceSelectors": [selector], "policy": {"overrideRules": rules}}


kinds = st.sampled_from(["ConfigMap", "Secret", "Deployment", "ResourceEnvelope"])
some = st.lists(st.sampled_from(MEMBERS), min_size=1, unique=True).map(sorted)
picks: st.SearchStrategy[Object] = st.one_of(
    st.just({"placementType": "PickAll"}),
    st.builds(
        lambda number: {"placementType": "PickN", "numberOfClusters": number}, st.integers(1, 3)
    ),
    some.map(lambda names: {"placementType": "PickFixed", "clusterNames": names}),
)
rules = st.tuples(
    st.sampled_from(["ConfigMap", "Secret", "Deployment"]),
    st.sampled_from(["write", "write", "write", "name", "delete", "fail"]),
    st.sampled_from(["", "canary", "rest"]),
    st.sampled_from(["x", "y"]),
)
worlds = st.builds(
    Written,
    st.dictionaries(st.sampled_from(MEMBERS), st.sampled_from(["canary", "rest"]), min_size=2),
    st.one_of(picks, picks, st.none()),
    st.sampled_from(["one", "one", "two"]),
    st.sampled_from(["", "", "go", "went"]),
    st.sampled_from([False, False, False, True]),
    st.sampled_from(["plain", "one\ntwo\nthree\n", "one\n2\nthree\n", "one\r\ntwo"]),
    st.sampled_from(["web:1", "web:2"]),
    st.sampled_from(["web", "web", "shop"]),
    st.integers(0, 5),
    st.sampled_from(["x", "y"]),
    st.sets(kinds, min_size=1),
    st.lists(rules, max_size=2, unique_by=lambda item: item[0]),  # two for one object are refused
    st.one_of(some, st.none()),
    st.one_of(st.none(), st.lists(st.integers(1, 3), min_size=4, max_size=4)),
    st.lists(st.sampled_from(MEMBERS), max_size=1),
    st.lists(st.sampled_from(MEMBERS), max_size=2, unique=True),
    st.one_of(st.just([]), st.just([]), st.lists(st.sampled_from(MEMBERS), max_size=1)),
)


@st.composite
def histories(draw: st.DrawFn) -> list[Written]:
    """A fleet that changes in a few ways from update to update."""
    fields = st.lists(st.sampled_from(list(attrs.fields_dict(Written))), min_size=1, max_size=3)
    history = [draw(worlds)]
    for _ in range(draw(st.integers(1, 4))):
        other = draw(worlds)
        history.append(
            attrs.evolve(history[-1], **{name: getattr(other, name) for name in draw(fields)})
        )
    return [world for world in history if world.policy or world.karmada]


@attrs.define
class Clusters:
    """What stands on the members, as deliveries have left it there.

    Attributes:
        objects: the objects as they were sent, by member and name.
        past: what the stack remembers.
        redacted: whether it is remembered without the data of Secrets, as a render does.
    """

    objects: dict[Place, Data] = attrs.field(factory=dict)
    past: Past = Past()
    redacted: bool = False

    def plan(self, world: Written, **given: Any) -> FleetPlan | None:
        """The plan of an update; None where the fleet is wrong, or brings one object twice."""
        source = source_of(map(Manifest, world.documents()))
        try:
            plan = plan_fleet(source, self.past, Options(settings=Settings(limit=1.0, **given)))
        except FleetError:
            return None
        return None if any("is brought to" in problem.what for problem in plan.refused) else plan

    def carry_out(self, plan: FleetPlan) -> None:
        """Update as planned."""
        for departure in plan.departures:
            if departure.fate is not Fate.MOVED:
                self.objects.pop((departure.cluster, str(departure.key)), None)
        self.objects |= {
            place: data for sent in gets(plan).values() for place, data in sent.items()
        }
        self.past = Past.of(delivered(plan, redacted=self.redacted), "fleet")


def gets(plan: FleetPlan) -> dict[str, dict[Place, Data]]:
    """What each subject brings, by member and object, without what is only to have it written again."""
    return {
        subject.name: {
            (cluster, str(Manifest(data).key)): unmarked(data)
            for cluster, delivery in subject.deliveries.items()
            for data in delivery.written
        }
        for subject in plan.subjects
    }


def unmarked(data: Data) -> Data:
    metadata = dict(data["metadata"])
    if WRITTEN_AGAIN in metadata.get("annotations", {}):
        kept = {
            key: value for key, value in metadata["annotations"].items() if key != WRITTEN_AGAIN
        }
        metadata = (
            {**metadata, "annotations": kept}
            if kept
            else {k: v for k, v in metadata.items() if k != "annotations"}
        )
    return {**data, "metadata": metadata}


def entries_of(plan: FleetPlan) -> dict[str, dict[bool, dict[Place, Object]]]:
    """The entries of each subject by member and object, first those of now; each pair has one at most."""
    found: dict[str, dict[bool, dict[Place, Object]]] = {}
    for subject in plan.subjects:
        shown = as_data(differences(plan, subject))
        assert shown is not None
        assert CANARY not in json.dumps(shown)
        contents = [
            {key: value for key, value in entry.items() if key != "members"} for entry in shown
        ]
        assert len({json.dumps(entry) for entry in contents}) == len(
            shown
        )  # equal ones share an entry
        found[subject.name] = {False: {}, True: {}}
        for entry in shown:
            assert entry["members"] == sorted(entry["members"])
            for cluster in entry["members"]:
                place = cluster, entry["object"]
                assert place not in found[subject.name][entry["later"]]
                found[subject.name][entry["later"]][place] = entry
    return found


def lines(data: Data) -> list[str]:
    return [text for _, text in yaml_lines(redacted(data))]


def after(entry: Object, before: Data | None) -> list[str] | None:
    """What an entry makes of an object; None if it goes."""
    if entry["change"] == "delete":
        assert entry["diff"] == ""
        return None
    if entry["change"] == "create":
        return [line.removeprefix("+") for line in entry["diff"].splitlines()]
    assert before is not None
    assert entry["fields"]
    return [line.replace(CHANGED, REDACTED) for line in patched(redacted(before), entry["diff"])]


def shows_what_happens(plan: FleetPlan, stands: Mapping[Place, Data]) -> None:
    """Old object and entry make the new object, and nothing else changes."""
    entries = entries_of(plan)
    going = {
        (departure.subject, (departure.cluster, str(departure.key)))
        for departure in plan.departures
        if departure.fate is not Fate.MOVED
    }
    replaced = {
        (replacement.subject, replacement.cluster, str(replacement.key))
        for replacement in plan.replacements
    }
    for name, wanted in gets(plan).items():
        now = entries[name][False]
        changed = {place for place, data in wanted.items() if stands.get(place) != data}
        gone = {place for subject, place in going if subject == name}
        assert now.keys() == changed | gone
        for place, entry in now.items():
            assert (entry["change"] == "delete") is (place in gone)
            assert (entry["change"] == "create") is (place in changed and place not in stands)
            assert bool(entry["immutable"]) is (entry["change"] == "replace")
            assert (entry["change"] == "replace") is ((name, *place) in replaced)
            assert after(entry, stands.get(place)) == (
                lines(wanted[place]) if place in wanted else None
            )


def held(plan: FleetPlan) -> set[tuple[str, str]]:
    return {
        (subject.name, cluster)
        for subject in plan.subjects
        for cluster, entry in subject.entries.items()
        if entry.change is Change.HELD
    }


def shows_what_comes_later(plan: FleetPlan, before: Clusters, world: Written) -> None:
    """Once everything is approved and goes on, held members have what was shown for later."""
    clusters = attrs.evolve(before, objects=dict(before.objects))
    stands = dict(clusters.objects)
    final: FleetPlan | None = plan
    resumed = attrs.evolve(world, suspended=[])
    for _ in range(12):
        final = clusters.plan(resumed, approvals=("go-after-canary", "went-after-canary"))
        if final is None:
            return
        clusters.carry_out(final)
        if not final.changes:
            break
    assert final
    entries, still, comes = entries_of(plan), held(final), gets(final)
    for name, cluster in held(plan) - still:
        if name not in comes:
            continue
        shown = {
            place: entry for place, entry in entries[name][True].items() if place[0] == cluster
        }
        mine = {place for place in gets(plan)[name] if place[0] == cluster}
        has = {place: data for place, data in comes[name].items() if place[0] == cluster}
        assert shown.keys() == {
            place for place in mine | has.keys() if stands.get(place) != has.get(place)
        }
        for place, entry in shown.items():
            assert after(entry, stands.get(place)) == (lines(has[place]) if place in has else None)


@pytest.mark.long
@settings(phases=[Phase.explicit, Phase.generate], max_examples=60)
@given(histories())
def test_old_objects_and_differences_make_the_new_objects(history: list[Written]) -> None:
    clusters = Clusters()
    for world in history:
        plan = clusters.plan(world)
        if plan is None:
            continue
        shows_what_happens(plan, clusters.objects)
        clusters.carry_out(plan)
        if held(plan):
            shows_what_comes_later(plan, clusters, world)


ALL = {"placementType": "PickAll"}


def written(**changed: Any) -> Written:
    """A placement of the namespace ``one`` on all members, without any policy of Karmada."""
    given: Object = {
        "members": dict.fromkeys(MEMBERS, "rest"),
        "policy": ALL,
        "space": "one",
        "run": "",
        "compares": False,
        "text": "one\ntwo\nthree\n",
        "image": "web:1",
        "app": "web",
        "replicas": 2,
        "secret": "x",
        "objects": {"ConfigMap", "Secret", "Deployment"},
        "overrides": [],
        "karmada": None,
        "weights": None,
        "suspended": [],
        "mirrored": [],
        "failing": [],
    }
    return Written(**given | changed)


def planned(*history: Written, hidden: bool = False, redacted: bool = False) -> FleetPlan:
    """The plan of the last of these worlds; all before are carried out."""
    clusters = Clusters(redacted=redacted)
    for world in history[:-1]:
        plan = clusters.plan(world)
        assert plan
        clusters.carry_out(plan)
    if hidden:
        records: Any = clusters.past.records
        known = {
            name: attrs.evolve(record, contents={}, overrides={})
            for name, record in records.items()
        }
        clusters.past = attrs.evolve(clusters.past, records=known)
    last = clusters.plan(history[-1])
    assert last
    return last


def shown(plan: FleetPlan, key: str = "p-pickall") -> list[Object] | None:
    decided = next(subject for subject in plan.subjects if subject.subject.key == key)
    found: list[dict[str, Any]] | None = as_data(differences(plan, decided))
    return found


def test_members_with_equal_differences_share_an_entry() -> None:
    rules = [("ConfigMap", "write", "canary", "x")]
    members = {"a": "canary", "b": "canary", "c": "rest", "d": "rest"}
    before = written(members=members, overrides=rules, objects={"ConfigMap"})
    found = shown(
        planned(before, attrs.evolve(before, overrides=[("ConfigMap", "write", "canary", "y")]))
    )
    assert found is not None
    (entry,) = found
    assert (entry["members"], entry["object"], entry["change"]) == (
        ["a", "b"],
        "ConfigMap one/c",
        "update",
    )
    # What overrides have made different elsewhere in the object makes no second entry.
    found = shown(planned(before, attrs.evolve(before, text="one\n2\nthree\n")))
    assert [entry["members"] for entry in found or ()] == [["a", "b", "c", "d"]]


def test_a_member_that_keeps_its_replicas_shows_no_change_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    objects = Written._objects

    def retaining(self: Written, space: str) -> Iterator[Object]:
        for data in objects(self, space):
            labels = {"labels": {"resourcetemplate.karmada.io/retain-replicas": "true"}}
            yield {**data, "metadata": {**data["metadata"], **labels}}

    monkeypatch.setattr(Written, "_objects", retaining)
    divided = written(policy=None, karmada=["a", "b"], weights=[1, 1, 1, 1], replicas=4)
    more = attrs.evolve(divided, replicas=8, image="web:2", karmada=["a", "b", "c"])
    found = shown(planned(divided, more), "two/Deployment/web")
    assert found is not None
    update, create = found
    assert [field["field"] for field in update["fields"]] == [
        "spec.template.spec.containers[0].image"
    ]
    assert "replicas" not in update["diff"]
    assert create["members"] == ["c"]
    assert "\n+  replicas: " in create["diff"]


def test_an_object_that_moves_is_compared_with_what_stands() -> None:
    placed = written(space="two", objects={"Deployment"})
    steered = attrs.evolve(placed, policy=None, karmada=[*MEMBERS], image="web:2")
    plan = planned(placed, steered)
    found = shown(plan, "two/Deployment/web")
    assert found is not None
    (entry,) = found
    assert (entry["change"], entry["members"]) == ("update", [*MEMBERS])
    assert shown(planned(placed, attrs.evolve(steered, image="web:1")), "two/Deployment/web") == []


def test_an_object_that_moves_is_not_lost_by_the_one_that_had_it() -> None:
    placed = written(space="two", objects={"Deployment"})
    plan = planned(placed, attrs.evolve(placed, space="one", karmada=[*MEMBERS]))
    found = shown(plan)
    assert {(item["object"], item["change"]) for item in found or ()} == {
        ("Namespace one", "create"),
        ("Deployment one/web", "create"),
    }


def test_an_object_that_others_leave_now_is_new_for_a_member_that_gets_it_later() -> None:
    placed = written(space="two", objects={"Deployment"})
    steered = attrs.evolve(placed, policy=None, karmada=[*MEMBERS], suspended=["d"])
    found = shown(planned(placed, steered), "two/Deployment/web")
    assert [(item["change"], item["members"], item["later"]) for item in found or ()] == [
        ("create", ["d"], True)
    ]


def test_what_was_only_compared_is_new_where_it_is_written() -> None:
    compares = written(compares=True)
    assert shown(planned(compares, attrs.evolve(compares, image="web:2"))) == []
    found = shown(planned(compares, attrs.evolve(compares, compares=False)))
    assert {item["change"] for item in found or ()} == {"create"}
    assert len(found or ()) == 4
    found = shown(planned(attrs.evolve(compares, compares=False), compares))
    assert {item["change"] for item in found or ()} == {"delete"}


def test_a_changed_secret_shows_that_it_changed_and_not_how() -> None:
    before = written()
    found = shown(planned(before, attrs.evolve(before, secret="y")))
    assert CANARY not in json.dumps(found)
    (entry,) = found or [{}]
    assert f'+  word: "{CHANGED}"' in entry["diff"]
    assert entry["fields"] == [{"field": "stringData.word", "old": REDACTED, "new": REDACTED}]


def test_marks_for_what_is_written_again_are_not_shown() -> None:
    first = written()
    clusters = Clusters()
    for world in (first, attrs.evolve(first, text="other")):
        plan = clusters.plan(world)
        assert plan
        done = clusters.past.done
        clusters.carry_out(plan)
    clusters.past = attrs.evolve(clusters.past, done=done)  # the second update broke everywhere
    plan = clusters.plan(attrs.evolve(first, image="web:2"))
    assert plan
    assert WRITTEN_AGAIN in json.dumps(
        [delivery.objects for delivery in plan.subjects[0].deliveries.values()]
    )
    assert [item["object"] for item in shown(plan) or ()] == ["Deployment one/web"]


def test_a_member_on_which_an_override_fails_shows_nothing() -> None:
    before = written(members={"a": "canary", "b": "rest"}, objects={"ConfigMap"})
    found = shown(
        planned(
            before,
            attrs.evolve(before, overrides=[("ConfigMap", "fail", "canary", "x")], text="other"),
        )
    )
    assert [(item["members"], item["later"]) for item in found or ()] == [(["b"], False)]
    steered = written(policy=None, karmada=["a", "b"], objects={"Deployment"})
    plan = planned(steered, attrs.evolve(steered, failing=["a"], image="web:2"))
    found = shown(plan, "two/Deployment/web")
    assert [(item["members"], item["later"]) for item in found or ()] == [(["b"], False)]


def test_rules_that_nobody_has_yet_show_what_they_make_later() -> None:
    before = written(members={"a": "canary", "b": "rest"}, objects={"ConfigMap"})
    rules = [("ConfigMap", "write", "rest", "later")]
    found = shown(planned(before, attrs.evolve(before, run="go", text="other", overrides=rules)))
    assert [("+  extra: later" in item["diff"], item["later"]) for item in found or ()] == [
        (False, False),
        (True, True),
    ]
    steered = written(policy=None, karmada=["a", "b"], objects={"Deployment"})
    held = attrs.evolve(steered, suspended=["a"], mirrored=["a"])
    (entry,) = shown(planned(steered, held), "two/Deployment/web") or [{}]
    assert (entry["members"], entry["later"]) == (["a"], True)
    assert "+      - image: mirror.example/web:1" in entry["diff"]


def test_old_objects_that_the_state_hides() -> None:
    before = written()
    assert shown(planned(before, attrs.evolve(before, image="web:2"), hidden=True)) is None
    assert shown(planned(before, before, hidden=True)) == []
    # Nothing old is needed where members join or leave.
    fewer = attrs.evolve(before, members=dict.fromkeys("abc", "rest"))
    assert {item["change"] for item in shown(planned(fewer, before, hidden=True)) or ()} == {
        "create"
    }
    assert {item["change"] for item in shown(planned(before, fewer, hidden=True)) or ()} == {
        "delete"
    }


def test_secrets_that_a_render_has_left_out_do_not_seem_to_change() -> None:
    before = written(overrides=[("Secret", "write", "rest", "x")])
    found = shown(planned(before, attrs.evolve(before, image="web:2"), redacted=True))
    assert [item["object"] for item in found or ()] == ["Deployment one/web"]
    steered = written(policy=None, karmada=["a"], objects={"Secret"})
    plan = planned(steered, attrs.evolve(steered, karmada=["a", "b"]), redacted=True)
    assert [item["change"] for item in shown(plan, "two/Secret/s") or ()] == ["create"]


def test_what_is_deleted_is_told_from_what_is_kept() -> None:
    before = written()
    gone = shown(planned(before, attrs.evolve(before, members=dict.fromkeys("abc", "rest"))))
    assert gone is not None
    assert {item["object"]: item["fate"] for item in gone} == {
        "Namespace one": "kept",
        **dict.fromkeys(("ConfigMap one/c", "Secret one/s", "Deployment one/web"), "deleted"),
    }


def test_held_members_show_what_they_get_once_they_move() -> None:
    members = {"a": "canary", "b": "rest", "c": "rest"}
    before = written(members=members, objects={"Deployment"})
    found = shown(planned(before, attrs.evolve(before, run="go", image="web:2")))
    assert found is not None
    now, later = found
    assert (now["members"], now["later"]) == (["a"], False)
    assert (later["members"], later["later"]) == (["b", "c"], True)
    assert now["diff"] == later["diff"]


def test_members_of_equal_content_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[Any] = []

    def counted(*sides: Any) -> str:
        compared.append(sides)
        return yaml_diff(*sides)

    monkeypatch.setattr("fleet_components.review.documents.differences.yaml_diff", counted)
    before = written(members={f"m{number:03}": "rest" for number in range(200)})
    plan = planned(before, attrs.evolve(before, image="web:2"))
    (entry,) = shown(plan) or [{}]
    assert len(entry["members"]) == 200
    assert len(compared) == 1
    compared.clear()
    assert shown(planned(before, before)) == []
    assert not compared
