"""Gives every name of the configuration an identifier that is drawn once and then stays."""

import pulumi

from stable_id import StableId

names = pulumi.Config().require_object("names")
for name in names:
    stable_id = StableId(name, size=8)
    pulumi.export(name, stable_id.text)
