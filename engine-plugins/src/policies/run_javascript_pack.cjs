// Runs a policy pack that needs no TypeScript: what @pulumi/pulumi/cmd/run-policy-pack does, without the compiler, which takes longer to load
// than the pack. Arguments: that folder, the engine's address, the pack.
const fs = require("node:fs");
const Module = require("node:module");
const path = require("node:path");
const [, folder, , pack] = process.argv;
const root = path.resolve(fs.realpathSync(folder), "../..");
// What serialises closures loads a compiler and npm's arborist, which take longer than the rest of the SDK. It comes when it is called. (A
// program in Node has the same: node-binding/ts/sdk/closures.ts. Here no package of ours is installed.)
const closures = {
    serializeClosure: ["serializeFunction", "serializeFunctionAsync"],
    codePaths: ["computeCodePaths", "findWorkspaceRoot", "packageArchivePath"],
};
for (const [name, functions] of Object.entries(closures)) {
    const file = path.join(root, "runtime/closure", `${name}.js`);
    const late = (called) => (...args) => {
        if (require.cache[file] === standIn) {
            delete require.cache[file];
        }
        return require(file)[called](...args);
    };
    const standIn = new Module(file);
    Object.assign(standIn, { filename: file, loaded: true });
    standIn.exports = Object.fromEntries(functions.map((called) => [called, late(called)]));
    if (fs.existsSync(file)) {
        require.cache[file] = standIn;
    }
}
const [seen, told] = [new Set(), new Set()];
for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (error) => seen.add(error));
}
process.on("exit", (code) => {
    if (code === 0 && seen.size > 0) {
        // 32 stands for errors that are told already.
        process.exitCode = [...seen].every((error) => told.has(error)) ? 32 : 1;
    }
});
require(`${folder}/run`).run({
    argv: { _: [pack] },
    programStarted: () => {},
    reportLoggedError: (error) => told.add(error),
    typeScript: false,
});
