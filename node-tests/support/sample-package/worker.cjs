"use strict";
const { parentPort } = require("node:worker_threads");
const { mkdtempSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { EmbeddedStack } = require("maloko/embedded");
const pulumi = require("@pulumi/pulumi");

async function main() {
    const directory = mkdtempSync(join(tmpdir(), "maloko-test-"));
    const stack = new EmbeddedStack({ directory });
    const provider = { create: async () => ({ id: "from the worker", outs: {} }) };
    await stack.up(() => void new pulumi.dynamic.Resource(provider, "a", {}));
    const ids = Object.fromEntries(Object.entries(stack.resources()).map(([name, resource]) => [name, resource.id]));
    rmSync(directory, { recursive: true });
    parentPort.postMessage(ids);
}

main();
