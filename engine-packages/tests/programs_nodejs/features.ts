import * as features from "@acme/features";
import { Color } from "@acme/features";
import * as enums from "@acme/features/types/enums";
import * as bridge from "@legacy/old-bridge";
import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";

const plainest = new features.Plainest("plainest");
const everything = new features.Everything("everything", {
    text: pulumi.output("t"),
    leaf: { kind: "leaf", size: 1, color: Color.DeepBlue },
    fixed: "always",
    color: "red",
    count: features.Count.Two,
    answer: enums.Answer.Yes,
    relaxed: "anything",
    mix: ["a"],
    asset: new pulumi.asset.StringAsset("a"),
    assets: { a: new pulumi.asset.FileArchive("b") },
    maps: { a: { b: pulumi.output(1) } },
    tree: { name: "root", children: [{ name: "leaf" }], left: pulumi.output({ name: "left" }) },
    odd: { class: "c", "with-dash": "d", "1st": "e", $dollar: "f" },
    other: plainest,
    others: [plainest],
    pet: new random.RandomPet("pet"),
    plainText: "plain",
    part: { edge: features.shapes.v1.Edge.Sharp, json: { any: ["thing"] } },
});
const made: pulumi.Output<string> = everything.made;
const size: pulumi.Output<number | undefined> = everything.leaf.apply(leaf => leaf.size);
const named: pulumi.Output<{ [key: string]: features.types.output.Tree } | undefined> = everything.tree.apply(tree => tree?.named);
const color: pulumi.Output<Color> = everything.color;
const looked = features.Everything.get("looked", "id", { text: "t" });
const cluster = new features.Cluster("cluster", { leaf: { kind: "leaf" }, nodes: 2 }, { aliases: [{ name: "old" }] });
const config: pulumi.Output<features.Cluster.GetKubeconfigResult> = cluster.getKubeconfig({ user: "me" });
const count: Promise<number> = cluster.countNodes();
const sight: Promise<string[]> = cluster.look({ far: true }).then(look => look.seen);
cluster.restart();
const thing = features.getThingOutput({ name: everything.text, leaf: { kind: "leaf" } });
const trees: pulumi.Output<string[]> = thing.trees.apply(found => found.map(tree => tree.name));
const sum: Promise<number> = features.addUp(1, true, 2);
const names: pulumi.Output<string[]> = features.listNamesOutput();
const result: pulumi.Output<features.types.output.Result> = features.getResultOutput({ x: "x" });
const verbose: boolean | undefined = features.config.verbose;
const retries: number = features.config.retries;
const hyphen = new features.MyResource("hyphen", { x: "y" });
const deep = new features.some_mod.deep_er.Deep("deep", { thing: { x: "x" } });
const who = new features.Provider("provider", { token: "t", options: { kind: "leaf" } }).whoAmI({ loud: true }).name;

const widget = new bridge.Widget("widget", { parts: [{}], first: { size: 2 } });
const poked: pulumi.Output<string> = widget.poke({ hard: true });
const table = new bridge.network.RouteTable("table", { routes: [{ to: "x", kind: bridge.network.RouteKind.Far }], widget });
const filters: bridge.types.input.GetWidgetFilter[] = [{ name: "n" }];
const widgets = [bridge.getWidget({ filters }), bridge.getWidgetOutput({ filters: [{ name: widget.name }] })];
const thing2 = new bridge.far.v1.Thing("thing", {});
export const anything: unknown[] = [
    made, size, named, color, looked, config, count, sight, trees, sum, names, result, verbose, retries, hyphen, deep, who,
    poked, table, widgets, thing2,
];

// @ts-expect-error A secret text is no plain one.
new features.Everything("wrong", { text: "t", leaf: { kind: "leaf" }, fixed: "always", plainText: pulumi.secret("s") });
// @ts-expect-error The colour is none of those.
export const wrong: Color = "green";
