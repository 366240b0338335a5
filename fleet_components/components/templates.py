"""All templates of a fleet: what others need is delivered before them, and decided after them."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import pulumi

from fleet_components.components.bindings import Standing
from fleet_components.components.placement import DeliveryArgs
from fleet_components.components.template import Delivered, Template, TemplateArgs
from fleet_components.model.inventory import Inventory
from fleet_components.plan.karmada.feed import feed_policies
from fleet_components.plan.karmada.templates import Templates


def deliver_templates(
    templates: Templates,
    inventory: Inventory,
    standing: Standing,
    delivery: DeliveryArgs,
    parent: pulumi.Resource,
) -> dict[str, Template]:
    """Decide and deliver all templates.

    Args:
        templates: the templates, those first that need others.
        inventory: the fleet.
        standing: what really runs.
        delivery: what all that a fleet delivers has in common.
        parent: the parent of the components.
    """
    if not templates.workloads:
        return {}
    policies = feed_policies(templates)
    made: dict[str, Template] = {}
    for workload in templates.workloads:
        request = attrs.evolve(
            templates.request(workload, inventory, delivery.stack),
            done=standing.done.get(workload.key, {}),
            waited=standing.waiting.get(workload.key, ""),
        )
        needed_by = {key: (made[key].memory, always) for key, always in workload.needed_by.items()}
        args = TemplateArgs(request, policies, needed_by, delivery)
        made[workload.key] = Template(workload.key, args, pulumi.ResourceOptions(parent=parent))
    _deliver(templates, made)
    return made


def _deliver(templates: Templates, made: Mapping[str, Template]) -> None:
    delivered: dict[str, pulumi.Output[Delivered]] = {}
    for workload in reversed(templates.workloads):
        first = [delivered[one.key] for one in templates.workloads if workload.key in one.needed_by]
        delivered[workload.key] = made[workload.key].deliver(first)
