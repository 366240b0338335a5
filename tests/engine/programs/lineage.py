"""A program without a fleet, whose resources have been called otherwise, or been elsewhere, in all ways that there are.

First it registers them as they were, and then, when its configuration says so, as they are now.
"""

from __future__ import annotations

from typing import Any

import pulumi
from pulumi import Alias, ResourceOptions
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

now = pulumi.Config("own").get_bool("now")


class Maker(ResourceProvider):
    serialize_as_secret_always = False

    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult(props["name"], props)


class Thing(Resource, module="my", name="Thing"):
    def __init__(self, name: str, parent: pulumi.Resource | None = None, **opts: Any) -> None:
        super().__init__(Maker(), name, {"name": name}, ResourceOptions(parent=parent, **opts))


class App(pulumi.ComponentResource):
    """With a component in it, and with resources that are called after it, after that component, or after nothing."""

    def __init__(self, name: str, kind: str = "App", **opts: Any) -> None:
        super().__init__(f"my:index:{kind}", name, {}, ResourceOptions(**opts))
        self.part = Part(f"{name}-part", parent=self)
        for called in (f"{name}-thing", f"{name}-part-thing", f"other-{name[:3]}"):
            Thing(called, self.part)


class Part(pulumi.ComponentResource):
    def __init__(self, name: str, **opts: Any) -> None:
        super().__init__("my:index:Part", name, {}, ResourceOptions(**opts))


def named(alias: Alias) -> dict[str, Any]:
    return {"aliases": [alias]} if now else {}


def adding(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    """What it makes of a component counts below, and what it makes of dependencies does not, unless it is one's own."""
    if args.name.endswith("-part"):
        opts = ResourceOptions.merge(
            args.opts, ResourceOptions(protect=False, retain_on_delete=True)
        )
        return pulumi.ResourceTransformResult(args.props, opts)
    if args.name.startswith("own") or "thing" in args.name:
        opts = ResourceOptions.merge(args.opts, ResourceOptions(depends_on=[first]))
        return pulumi.ResourceTransformResult(args.props, opts)
    return None


def freeing(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult:
    """What it does not say is said no more."""
    return pulumi.ResourceTransformResult(args.props, ResourceOptions())


first = Thing("first")
App("one-new" if now else "one-old", **named(Alias(name="one-old")))
App("two-new" if now else "two-old", **named(Alias(name="never")))
App("three", kind="App" if now else "Old", **named(Alias(type_="my:index:Old")))
App("four", kind="App" if now else "Old")
five = App("five-new" if now else "five-old", **named(Alias(name="five-old")))
Thing("five-new-b" if now else "five-old-a", five, **named(Alias(name="five-new-a")))
Thing("into", five if now else None, **named(Alias(parent=None)))
Thing(
    "out",
    None if now else five,
    **named(Alias(parent="urn:pulumi:dev::fleet::my:index:App::five-old")),
)
Thing("out-too", None if now else five, **named(Alias(parent=five)))
Thing("far", **named(Alias(stack="prod", project="shop")))
App("six", protect=True, retain_on_delete=True)
App("seven", transforms=[adding])
Thing("own", transforms=[adding])
Thing("freed", protect=True, retain_on_delete=True, depends_on=[first], transforms=[freeing])
