"""Keeps one widget for each entry of the configuration."""

import pulumi

from widgets import Widget

config = pulumi.Config()
for name, size in config.require_object("sizes").items():
    widget = Widget(name, title=f"{name} of {pulumi.get_stack()}", size=size)
    pulumi.export(name, {"id": widget.id, "revision": widget.revision})
