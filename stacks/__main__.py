"""The program of every stack here: the stack's configuration says which fleet, and how it is
reached.
"""

import pulumi

from fleet_components import Fleet

fleet = Fleet.from_config(pulumi.get_stack())
for key, placement in fleet.placements.items():
    pulumi.export(key, placement.decisions)
for key, template in fleet.templates.items():
    pulumi.export(key, template.decisions)
