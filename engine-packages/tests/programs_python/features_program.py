import os

import pulumi
import pulumi_features as features
import pulumi_features.config
from pulumi_features import (
    AllArgs,
    Colour,
    Level,
    Ratio,
    SettingsArgs,
    TreeArgs,
    TreeArgsDict,
    get_tree,
    get_tree_output,
)
from pulumi_features.deep.er_v2 import Machine, MachineArgs, Mode, NodeArgs
from pulumi_features.outputs import Tree
from pulumi_features.parts import Group
from pulumi_neighbour import FenceArgs
from pulumi_neighbour.garden.v1 import Garden

os.environ.update(
    OTHER_REGION="there",
    FEATURES_ENV2="from the environment",
    FEATURES_BOOL="no",
    FEATURES_FLAG="1",
    FEATURES_MANY="12",
)

TREE = {
    "leafCount": 3.0,
    "colour": "red",
    "children": [{"leafCount": 1.0, "byName": {"someName": {"leafCount": 0.0, "colour": "dark-blue"}}}],
    "byName": {"x": {"leafCount": 7.0}},
}
OUTPUTS = {
    "features:index:All": {
        "computedText": "computed",
        "onlyOut": {
            "someValue": "v",
            "nested": {
                "userName": "u",
                "DNSNames": ["a"],
                "from": "f",
                "x-y.z": "xyz",
                "password": "p",
                "old": "o",
                "level": 10.0,
            },
        },
        "tree": TREE,
        "secretTree": TREE,
        "mapOfLists": {"some_key": [TREE]},
        "relaxed": "green",
        "level": 10.0,
        "ratio": 0.5,
        "anInteger": 4.0,
        "aNumber": 4.0,
        "colour": "red",
        "node": {"nodeName": "n", "tree": TREE, "mode": "fast"},
        "nodes": [{"nodeName": "n", "mode": "none"}],
        "either": "text",
        "oldText": "old",
        "aJson": {"someKey": 1.0},
        "versioned": {"apiVersion": "v1", "revision": 3.0, "isFinal": True, "ratio": 0.5},
        "fence": {"postCount": 3.0, "colour": "white"},
    },
    "features:parts:Group": {"summary": "s", "tree": TREE},
    "features:deep/er.v2:Machine": {"mode": "fast", "settings": {"userName": "x"}},
}
RESULTS = {
    "features:index:getTree": {
        "tree": TREE,
        "found": True,
        "colour": "dark-blue",
        "from": "here",
        "onlyHere": {"innerName": "i", "others": [{"innerName": "j"}]},
        "trees": {"some_key": TREE},
    },
    "features:index:noInputs": {"someText": "t"},
    "features:index:scalar": {"res": 5.0},
    "features:index:listResult": {"res": ["a", "b"]},
    "features:index:namedResult": {"answerText": "yes", "trees": [TREE]},
    "features:index:several": {"joined": "ab"},
    "features:index:oldFunction": {"text": "old"},
    "features:index:outputOnly": {"text": "out"},
    "features:deep/er.v2:getNode": {"node": {"nodeName": "n", "tree": TREE, "mode": "fast"}},
    "features:index:All/describe": {"someText": "described", "tree": TREE},
    "features:index:All/whole": {"tree": TREE},
    "features:index:All/named": {"answerText": "yes", "trees": [TREE]},
    "features:parts:Group/grow": {"newCount": 3.0},
    "pulumi:providers:features/whoAmI": {"userName": "me"},
}


def leaves(tree: Tree) -> int:
    return tree.leaf_count


def program() -> dict[str, object]:
    provider = features.Provider(
        "provider",
        settings=SettingsArgs(user_name="u", from_="f", class_="c", items=["i"], x_y_z="z", dns_names=["d"]),
        token="t",
        secret_number=4,
        colour=Colour.RED,
    )
    plain_tree: TreeArgsDict = {
        "leaf_count": 2,
        "children": [{"leaf_count": 1}],
        "by_name": {"some_name": {"leaf_count": 0}},
    }
    child = features.Child("child")
    garden = Garden("garden", area_size=1.5)
    everything = features.All(
        "everything",
        a_bool=True,
        an_integer=1,
        a_number=1.5,
        a_string="text",
        an_any={"some_key": [1, {"inner_key": child.size}]},
        a_json={"some_key": 1},
        an_asset=pulumi.StringAsset("a"),
        an_archive=pulumi.AssetArchive({"a": pulumi.StringAsset("b")}),
        a_list=["a", child.id],
        a_map={"some_key": 1},
        list_of_maps=[{"some_key": "v"}],
        map_of_lists={"some_key": [TreeArgs(leaf_count=1)]},
        colour=Colour.DARK_BLUE,
        level=Level.HIGH,
        ratio=Ratio.HALF,
        relaxed="any",
        either=7,
        list_of_either=["a", child.id],
        settings={
            "user_name": "by dictionary",
            "from_": "f",
            "class_": "c",
            "x_y_z": "z",
            "dns_names": ["n"],
            "old": "o",
            "mode": Mode.FAST,
        },
        tree=plain_tree,
        plain_settings=SettingsArgs(user_name="plain"),
        plain_list=[TreeArgs(leaf_count=5)],
        plain_text="plain",
        node=NodeArgs(node_name="n", tree=TreeArgs(leaf_count=6), mode=Mode.NONE),
        nodes=[{"node_name": "m"}],
        versioned={"api_version": "v1", "revision": 3},
        secret_text="secret",
        secret_tree=TreeArgs(leaf_count=8),
        constant="fixed",
        old_text="old",
        opts_="an input",
        resource_name_="another",
        lambda_="l",
        self="s",
        some_ips=["1"],
        http_port=80,
        x_odd_name="odd",
        child=child,
        children=[child],
        fence=FenceArgs(colour="white", post_count=2),
        garden=garden,
        replaced="r",
        opts=pulumi.ResourceOptions(provider=provider),
    )
    defaults = features.All(
        "defaults",
        AllArgs(
            a_string="text",
            constant="fixed",
            http_port=everything.http_port,
            pet=features.CatArgs(kind="cat", lives_left=9),
        ),
    )
    by_discriminator = features.All(
        "discriminated", a_string="t", constant="fixed", pet={"kind": "cat", "lives_left": 7}
    )
    known = features.All.get("known", "id", a_string="t", settings=SettingsArgs(user_name="u"), opts_="o", http_port=1)
    known_child = features.Child.get("known-child", "id")
    gone = features.Gone("gone", text="t")
    keyword = features.None_("keyword")
    hyphen = features.SomeThing("hyphen", name="n")
    machine = Machine(
        "machine", MachineArgs(node=NodeArgs(node_name="n"), mode=Mode.FAST, all=everything, provider=provider)
    )
    thing = features.import_.Thing("thing", machine=machine)
    er = features.deep.Er("er", text="t")
    group = Group("group", names=["a"], count=3, tree={"leaf_count": 1}, secret_text="s")
    settings = SettingsArgs(user_name="set", port=2)
    settings.retry_limit = 9
    found = get_tree(
        tree_name="oak",
        settings=features.Settings(user_name="plain"),
        only=features.FunctionOnly(inner_name="i"),
        colour=Colour.RED,
    )
    later = get_tree_output(tree_name=everything.a_string, limit=1, settings={"user_name": "dict"})
    everything.fire(match="m", fuse=3)
    refused = []
    for attempt in (
        lambda: features.All("no", constant="fixed"),
        lambda: features.All("no", a_string="x", constant="c", unknown=1),  # type: ignore
        lambda: SettingsArgs(),
        lambda: SettingsArgs(user_name="x", unknown=1),  # type: ignore
        lambda: Group("no", names=["a"], opts=pulumi.ResourceOptions(id="id")),
        lambda: get_tree(Colour.RED, colour=Colour.RED),  # type: ignore
        lambda: features.All("no", opts=1),  # type: ignore
    ):
        try:
            attempt()
            refused.append("not refused")
        except (TypeError, ValueError) as error:
            refused.append(type(error).__name__)
    return {
        "computed": everything.computed_text,
        "only out": everything.only_out,
        "from": everything.only_out.apply(
            lambda found: (
                [found.some_value, found.nested.from_, found.nested.x_y_z, found.nested["dns_names"], found.nested.port]
                if found and found.nested
                else None
            )
        ),
        "leaves": everything.tree.apply(lambda tree: leaves(tree) if tree else 0),
        "tree": everything.tree,
        "secret tree": everything.secret_tree,
        "secret": everything.secret_text,
        "map": everything.map_of_lists,
        "relaxed": everything.relaxed,
        "level": everything.level,
        "ratio": everything.ratio,
        "integer": everything.an_integer,
        "number": everything.a_number,
        "colour": everything.colour,
        "node": everything.node,
        "nodes": everything.nodes,
        "either": everything.either,
        "asset": everything.an_asset,
        "archive": everything.an_archive,
        "old": everything.old_text,
        "json": everything.a_json,
        "any": everything.an_any,
        "versioned": everything.versioned,
        "fence": everything.fence,
        "child": everything.child,
        "settings": everything.settings,
        "constant": everything.constant,
        "defaults": pulumi.Output.all(
            defaults.with_default, defaults.number_default, defaults.from_environment, defaults.bool_from_environment
        ),
        "discriminated": by_discriminator.urn,
        "known": known.a_string,
        "known child": known_child.size,
        "gone": gone.text,
        "keyword": keyword.url_text,
        "hyphen": hyphen.name,
        "machine": machine.settings,
        "mode": machine.mode,
        "thing": thing.machine,
        "er": er.text,
        "group": group.summary,
        "group tree": group.tree,
        "args": [
            settings.user_name,
            settings.port,
            settings.retry_limit,
            settings.region,
            settings.flag,
            settings.is_on,
        ],
        "found": found,
        "found members": [found.found, found.colour, found.from_, found.only_here, found.trees],
        "later": later,
        "no inputs": features.no_inputs().some_text,
        "no result": features.no_result(text="t"),
        "empty result": features.empty_result(text="t"),
        "scalar": features.scalar(text="t"),
        "scalar output": features.scalar_output(text=everything.a_string),
        "list": features.list_result(text="t"),
        "named": features.named_result(text="t"),
        "named output": features.named_result_output(text="t").answer_text,
        "several": features.several("a", "b", 3).joined,
        "several output": features.several_output(first=everything.a_string, second="b").joined,
        "old function": features.old_function(text="t").text,
        "output only": features.output_only_output(text="t").text,
        "node function": features.deep.er_v2.get_node(node=features.deep.er_v2.Node(node_name="n")).node,
        "described": everything.describe(prefix_text="p", colour=Colour.RED),
        "whole": everything.whole(tree=TreeArgs(leaf_count=1)).tree,
        "named method": everything.named().answer_text,
        "grown": group.grow(by_count=2).new_count,
        "who": provider.who_am_i().user_name,
        "config": [
            pulumi_features.config.some_text,
            pulumi_features.config.is_loud,
            pulumi_features.config.how_many,
            pulumi_features.config.how_much,
            pulumi_features.config.token,
        ],
        "enums": [
            Colour("x83").name,
            Level.EIGHT.value,
            Ratio.FULL.value,
            Colour.ASTERISK.upper(),
            [member.name for member in Colour],
        ],
        "refused": refused,
        "dictionary": TreeArgsDict(leaf_count=1),
    }
