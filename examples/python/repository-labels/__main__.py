"""Keeps the labels of a repository as the configuration lists them."""

import pulumi

from labels import Label

config = pulumi.Config()
repository = config.require("repository")
urls = {}
for name, settings in config.require_object("labels").items():
    label = Label(
        name,
        repository=repository,
        label=name,
        color=settings["color"],
        description=settings.get("description"),
    )
    urls[name] = label.url
pulumi.export("urls", urls)
