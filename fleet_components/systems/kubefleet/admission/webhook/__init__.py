"""Checks of KubeFleet's validating webhooks beyond the CustomResourceDefinitions, one file per
topic.
"""
