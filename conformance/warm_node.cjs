// Runs command lines inside this process, one after the other, through the automation API.
//
// A request is a line of JSON on standard input: `arguments`, `directory` (of the project) and `variables` (the whole
// environment). The answer is a line with `code`, `stdout` and `stderr`. The program of the directory runs anew for each
// operation: its modules are loaded once more. Its one argument is the node_modules folder that has maloko.
const { createRequire } = require("node:module");
const path = require("node:path");
const readline = require("node:readline");

const need = createRequire(path.resolve(process.argv[2], "x.js"));
const { CommandError, LocalWorkspace, PulumiCommand, Stack } = need("maloko/automation");
createRequire(need.resolve("maloko"))("tsx/cjs/api").register();

class Done extends Error {
    constructor(result) {
        super("done");
        this.result = result;
    }
}

// A workspace's command that runs the arguments that it was given, with the program of the workspace.
function given(arguments_) {
    const run = async (args, cwd, variables) => {
        if (args[0] !== "preview") return { stdout: "", stderr: "", code: 0 };
        throw new Done(await (await PulumiCommand.get()).run(arguments_, cwd, variables));
    };
    return { command: "conformance", version: null, run };
}

let last = __filename;

// Modules of the program that ran before go too: what is loaded still counts as a part of what runs here.
function runProgram(directory) {
    for (const file of Object.keys(require.cache)) {
        if (file.startsWith(directory + path.sep) || file.startsWith(last + path.sep)) delete require.cache[file];
    }
    last = directory;
    return createRequire(path.join(directory, "x.js"))("./index.ts");
}

// An operation's program has the directory and the environment of this process.
async function run({ arguments: arguments_, directory, variables }) {
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, variables);
    process.chdir(directory);
    const program = async () => runProgram(process.cwd());
    try {
        const workspace = await LocalWorkspace.create({ workDir: directory, program, pulumiCommand: given(arguments_) });
        await (await Stack.select("dev", workspace)).preview();
    } catch (error) {
        if (error instanceof Done) return error.result;
        if (error instanceof CommandError) return { stdout: error.stdout, stderr: error.stderr, code: error.code };
        throw error;
    }
    throw new Error("the command was never run");
}

async function main() {
    // What a program prints is no answer.
    const write = process.stdout.write.bind(process.stdout);
    process.stdout.write = process.stderr.write.bind(process.stderr);
    for await (const line of readline.createInterface({ input: process.stdin })) {
        const { code, stdout, stderr } = await run(JSON.parse(line));
        write(`${JSON.stringify({ code, stdout, stderr })}\n`);
    }
}

void main();
