"""Frozen, typed values that all other layers share. No I/O, no Pulumi, no clock."""
