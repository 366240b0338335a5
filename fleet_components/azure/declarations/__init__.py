"""Declarations of Azure fleets in YAML: the kinds ``Hub`` and ``Members``."""

HUB, MEMBERS = "Hub", "Members"
