"""Random lifecycles of a provider."""
