"""What KubeFleet's validating webhooks check beyond the CustomResourceDefinitions, one file a subject."""
