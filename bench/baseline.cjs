// The SDK's own mocks run of the program in a folder, its serialiser stubbed out: baseline.cjs FOLDER [--preview].
const path = require("node:path");
const { createRequire } = require("node:module");

const folder = path.resolve(process.argv[2]);
const from = createRequire(path.join(folder, "package.json"));

// The serialiser and what it needs (TypeScript) are not even loaded: the baseline is the cheaper for it.
const inside = createRequire(from.resolve("@pulumi/pulumi"));
for (const name of ["./runtime/closure/serializeClosure", "./runtime/closure/codePaths"]) {
    const id = inside.resolve(name);
    const exports = { serializeFunction: async () => ({ text: "provider" }), computeCodePaths: async () => new Map() };
    require.cache[id] = { id, filename: id, loaded: true, exports, children: [], paths: [] };
}

const pulumi = from("@pulumi/pulumi");
pulumi.runtime.setMocks(
    {
        newResource: ({ name, inputs }) => ({ id: `id-${name}`, state: inputs }),
        call: ({ token }) => {
            throw new Error(`the program calls ${token}`);
        },
    },
    "bench",
    "dev",
    process.argv.includes("--preview"),
);

const stack = inside("./runtime/stack");
stack
    .runInPulumiStack(async () => from(folder))
    .then(() => pulumi.runtime.disconnect())
    .catch((error) => {
        console.error(error);
        process.exit(1);
    });
