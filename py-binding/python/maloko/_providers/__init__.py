"""How a provider's object becomes a served one: found, described, configured and called."""
