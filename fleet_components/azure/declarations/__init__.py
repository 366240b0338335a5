"""Declarations of Azure fleets in YAML: the kinds ``Hub``, ``Members`` and ``Upgrades``."""

HUB, MEMBERS, UPGRADES = "Hub", "Members", "Upgrades"
