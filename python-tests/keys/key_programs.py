"""What the tests of this folder share: keys, a program, and what a command could have changed."""

from cli import Project

AWS = "awskms://alias/one"
AZURE = "azurekeyvault://throwaway.vault.azure.net/keys/one"
GOOGLE = "gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/one"
VAULT = "hashivault://one"

PROGRAM = """
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Maker(ResourceProvider):
    def create(self, props):
        return CreateResult("made", props)

class Made(Resource):
    secret: pulumi.Output[str]
    def __init__(self, name, secret):
        super().__init__(Maker(), name, {"secret": secret})

config = pulumi.Config()
if other := config.get("other"):
    pulumi.export("told", pulumi.StackReference(other).require_output("told"))
else:
    pulumi.export("told", Made("made", config.require_secret("word")).secret)
"""
"""A secret output: of a resource that is made of `word`, or of the stack `other`."""


def files(project: Project) -> dict[str, bytes]:
    """Everything that a command could have changed."""
    kept = [*project.directory.glob("*.yaml"), *(project.directory / ".maloko").rglob("*")]
    return {str(file): file.read_bytes() for file in sorted(kept) if file.is_file()}
