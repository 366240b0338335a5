"""Frozen typed values that every other layer speaks: no I/O, no Pulumi, no clock."""
