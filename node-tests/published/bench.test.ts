// What the bench measures maloko against (docs/internals/performance.md).
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { installed } from "../support/workspaces";

const PROGRAM = `
const pulumi = require("@pulumi/pulumi");

class Item extends pulumi.dynamic.Resource {}

const outer = new pulumi.ComponentResource("bench:index:Outer", "outer");
const inner = new pulumi.ComponentResource("bench:index:Inner", "inner", {}, { parent: outer });
const provider = { create: async () => ({ id: "never called" }) };
const item = new Item(provider, "item", { n: pulumi.secret(1) }, { parent: inner });
pulumi.all([item.urn, item.id, item.n]).apply((known) => console.log(...known));
`;

test("the null engine of the bench answers as an engine does", () => {
    const folder = mkdtempSync(join(tmpdir(), "maloko-bench-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "package.json"), "{}");
    writeFileSync(join(folder, "index.js"), PROGRAM);
    symlinkSync(dirname(dirname(installed("@pulumi/pulumi"))), join(folder, "node_modules"));
    const script = join(import.meta.dirname, "..", "..", "bench", "baseline.cjs");
    const { stdout, stderr } = spawnSync(process.execPath, [script, folder, "null"], { encoding: "utf8" });
    const kinds = "bench:index:Outer$bench:index:Inner$pulumi-nodejs:dynamic:Resource";
    expect([stdout, stderr]).toEqual([`urn:pulumi:dev::bench::${kinds}::item id-item 1\n`, ""]);
});
