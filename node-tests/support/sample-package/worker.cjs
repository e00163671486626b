"use strict";
const { parentPort } = require("node:worker_threads");
const { mkdtempSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
// A worker cannot load support/stacks.ts. As there: files that the package shows to nobody, and these before the SDK.
const { loadAddon } = require("../../node_modules/maloko/dist/native.js");
const { operate } = require("../../node_modules/maloko/dist/testing/stack/operate.js");
require("../../node_modules/maloko/dist/sdk/index.js").Sdk.prepare(process.cwd());
const pulumi = require("@pulumi/pulumi");

async function main() {
    const directory = mkdtempSync(join(tmpdir(), "maloko-test-"));
    const stack = loadAddon().TestStack.open(directory, "project", "dev");
    const order = { verb: "up", preview: false, time: "real", config: {} };
    const place = { project: "project", stack: "dev", directory: process.cwd(), providers: [], alive: false };
    const provider = { create: async () => ({ id: "from the worker", outs: {} }) };
    await operate(stack, order, [], place, () => void new pulumi.dynamic.Resource(provider, "a", {})).report;
    const { id } = JSON.parse(stack.resources()).resources.find(({ name }) => name === "a");
    rmSync(directory, { recursive: true });
    parentPort.postMessage({ a: id });
}

main();
