// Runs a policy pack that needs no TypeScript: what @pulumi/pulumi/cmd/run-policy-pack does, without the compiler, which takes longer to load
// than the pack. Arguments: that folder, the engine's address, the pack.
const [, folder, , pack] = process.argv;
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
