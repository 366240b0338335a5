"""Declarations of Azure resources as frozen values: members, node pools, VM sizes, prices, names.
No SDK, no Pulumi.
"""
