"""What is declared of Azure, as frozen values: members, node pools, sizes, prices, names. No SDK, no Pulumi."""
