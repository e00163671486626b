import pulumi
import pulumi_random as random
from pulumi_random import RandomPet, RandomPetArgs
from pulumi_random.random_string import RandomString

OUTPUTS = {
    "random:index/randomPassword:RandomPassword": {"result": "secret", "bcryptHash": "hash"},
    "random:index/randomPet:RandomPet": {"length": 2.0},
    "random:index/randomShuffle:RandomShuffle": {"results": ["b", "a"]},
}


class Pets(pulumi.ComponentResource):
    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("program:index:Pets", name, None, opts)
        self.pet = RandomPet("inner", prefix="in", opts=pulumi.ResourceOptions(parent=self))


class MyPet(random.RandomPet):
    def __init__(self, name: str) -> None:
        super().__init__(name, length=4, opts=pulumi.ResourceOptions(protect=True))


def program() -> dict[str, object]:
    provider = random.Provider("provider")
    password = random.RandomPassword(
        "password", length=16, override_special="_%@", special=True, opts=pulumi.ResourceOptions(provider=provider)
    )
    pet = RandomPet("pet", RandomPetArgs(keepers={"some_key": password.result}, length=2))
    later = RandomPet(
        "later",
        opts=pulumi.ResourceOptions(depends_on=[pet], aliases=[pulumi.Alias(name="before")]),
        length=pet.length,
        separator="-",
    )
    by_position = RandomPet("by-position", None, {"a": "b"}, 3, "prefix")
    by_args = RandomPet("by-args", args=RandomPetArgs(prefix="p"), opts=pulumi.ResourceOptions(version="4.0.0"))
    shuffle = random.RandomShuffle("shuffle", inputs=["a", pet.id], result_count=2)
    text = RandomString("text", random.RandomStringArgs(length=password.length.apply(lambda length: length + 1)))
    known = random.RandomPet.get("known", "some-id", prefix="known")
    known_args = random.RandomInteger.get("known-integer", pet.id, pulumi.ResourceOptions(provider=provider), max=5)
    args = RandomPetArgs(length=1)
    args.prefix = "changed"
    pets = Pets("pets")
    mine = MyPet("mine")
    try:
        random.RandomInteger("incomplete", min=1)
        refused = "not"
    except TypeError as error:
        refused = str(error)
    length: pulumi.Output[int] = password.length
    return {
        "result": password.result,
        "length": length,
        "bcrypt": password.bcrypt_hash,
        "keepers": pet.keepers,
        "pet length": pet.length,
        "later": later.separator,
        "by position": by_position.prefix,
        "by args": by_args.prefix,
        "results": shuffle.results,
        "text": text.length,
        "known": known.prefix,
        "known max": known_args.max,
        "urn": pets.pet.urn,
        "mine": mine.length,
        "args": [args.prefix, args.length, args.keepers],
        "equal": RandomPetArgs(length=1) == RandomPetArgs(length=1),
        "refused": refused,
        "names": sorted(name for name in dir(random) if name.startswith("Random")),
    }
