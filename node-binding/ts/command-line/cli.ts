// The command line: Rust reads the arguments and runs the engine, this side runs the program.
import { type ChildProcess, spawn } from "node:child_process";
import * as path from "node:path";
import { callStorage } from "../current";
import { LoadedFiles } from "../loading/loaded-files";
import {
    checkTypes,
    type Entry,
    entryWithout,
    findEntry,
    loadFile,
    loadProgram,
    prepareLoader,
    type RuntimeOptions,
    requirePackages,
} from "../loading/program";
import { ProjectError } from "../loading/project-error";
import { apply } from "../originals";
import { DirectEnds } from "../process/direct-ends";
import { describe, textOf } from "../process/errors";
import { refuseExits } from "../process/exits";
import { OWN_DIRECTORY } from "../process/own-files";
import { listen } from "../process/own-listeners";
import { ProviderRegistry } from "../providers/registry";
import { Bridge, type LanguageHost, ProgramFailed } from "../run/bridge";
import { processIdle, releaseProviderHandles } from "../run/idle";
import { attributeOutput, showBegun } from "../run/printed-output";
import type { ResourceClass } from "../run/resource-classes";
import { Run } from "../run/run";
import { lendToReaders } from "../run/terminal";
import { type RunSettings, Sdk, sdkVersionOf } from "../sdk";
import { nodeFlags } from "./node-flags";
import { installedFrom } from "./origin";

// What every Node has, and its types leave out.
const { reallyExit } = process as unknown as { reallyExit(code: number): never };

// Set for a process that was started again under the flags that the project asks for.
const RESTARTED = "MALOKO_NODE_RESTARTED";

// What starts a command line.
const COMMAND = path.join(OWN_DIRECTORY, "..", "bin", "maloko.js");
const INSPECTS = /^--inspect(-|=|$)/;

// What the commands of `fleet` are made of, and the exit code where it is missing.
const FLEET_PACKAGES =
    "@temporalio/client @temporalio/worker @temporalio/workflow @temporalio/activity @temporalio/common @temporalio/envconfig";
const CONFIGURATION = 2;

interface FleetCommands {
    run(request: string): Promise<number>;
}

interface ProgramDescription extends RunSettings {
    projectRoot: string;
    entry: string;
    runtimeOptions: (RuntimeOptions & { nodeargs?: string }) | null;
    /** Only get ready to load the program's files, for the providers that the state refers to (`--no-program`). */
    attachOnly?: boolean;
    /** Where the files that the program was loaded from are to be listed. */
    loadedFile: string | null;
}

/** What starts a command line as this process was started. */
export function ownCommand(): string[] {
    // The debugger of this process has the port.
    return [process.execPath, ...process.execArgv.filter((flag) => !INSPECTS.test(flag)), COMMAND];
}

/** Runs the command line of this process; the process ends with its exit code. */
export function main(args: string[]): void {
    let bridge: Bridge;
    try {
        bridge = Bridge.get();
    } catch (error) {
        process.stderr.write(`error: ${describe(error)}\n`);
        process.exitCode = 255;
        return;
    }
    // `provider test` asks for nothing, and deals with signals from its beginning.
    bridge.engaged = args.includes("provider") && args.includes("test");
    leaveSignalsToEngine(bridge);
    const registry = new ProviderRegistry(bridge.native, process.cwd(), loadFile);
    const command = new Command(bridge, registry);
    bridge.serve(0, command.run);
    bridge.runCli(
        args,
        {
            version: process.version,
            sdk: sdkVersionOf(process.cwd()),
            from: installedFrom(),
            command: ownCommand(),
        },
        command,
    );
}

// The process of the pass that is waited for, and whether a signal has come meanwhile.
const passes: { child: ChildProcess | undefined; heard: boolean } = { child: undefined, heard: false };

// Node's own handlers raise a signal a second time, which the engine would take for a second Ctrl-C. The engine sets its
// handlers after these and deals with signals; before it is at work, they end the command.
function leaveSignalsToEngine(bridge: Bridge): void {
    for (const [signal, number] of [
        ["SIGINT", 2],
        ["SIGTERM", 15],
        ["SIGHUP", 1],
    ] as const) {
        if (signal === "SIGHUP" && process.platform !== "linux") {
            // The engine hears it where it can tell that nobody has it ignored; elsewhere it ends the process, as ever.
            continue;
        }
        listen(signal, () => {
            if (passes.child !== undefined) {
                // A terminal sends the first Ctrl-C to both processes; of all else the other one hears from here.
                if (signal !== "SIGINT" || passes.heard) {
                    passes.child.kill(signal);
                }
                passes.heard = true;
            } else if (!bridge.engaged) {
                process.exit(128 + number);
            }
        });
    }
}

/** Runs programs by their paths, in a process that is theirs. */
export class Command implements LanguageHost {
    readonly run: Run;
    // Node's own, for the end of the command.
    #exit = process.exit;
    readonly #ends = new DirectEnds();
    #loaded: LoadedFiles | undefined;

    constructor(
        private readonly bridge: Bridge,
        registry: ProviderRegistry,
    ) {
        this.run = new Run(bridge, registry, (_engine, text, run) =>
            this.#launch(JSON.parse(text) as ProgramDescription, run),
        );
    }

    async #launch(description: ProgramDescription, run: Run): Promise<void> {
        const options = description.runtimeOptions ?? {};
        try {
            run.registry.setRoot(description.projectRoot);
            const entry = await this.#entryOf(description);
            requirePackages(entry.directory);
            if (description.attachOnly !== true) {
                checkTypes(entry, options);
            }
            const sdk = Sdk.load(entry.directory);
            if (description.loadedFile !== null) {
                this.#loaded = new LoadedFiles(description.loadedFile);
            }
            await prepareLoader(entry, description.projectRoot, options, this.#loaded);
            releaseProviderHandles();
            process.chdir(entry.workingDirectory);
            process.argv = [process.argv[0] ?? "node", entry.file];
            this.#attributeErrors(sdk, entry.file);
            this.#exit = process.exit;
            refuseExits((code) => run.exited(code));
            this.#ends.begin(description.dryRun);
            attributeOutput(this.bridge);
            lendToReaders(this.bridge, showBegun);
            if (entry.warning !== undefined) {
                run.note(entry.warning);
            }
            if (description.attachOnly === true) {
                return;
            }
            await this.#execute(sdk, description, entry.file, () => loadProgram(entry));
        } catch (error) {
            if (error instanceof ProjectError) {
                throw new ProgramFailed(error.message, error);
            }
            throw error;
        }
    }

    // Where there is no program, a destroy or refresh goes on with what the state says, and needs the files that are there.
    async #entryOf({ entry, projectRoot, runtimeOptions }: ProgramDescription): Promise<Entry> {
        try {
            return findEntry(entry);
        } catch (error) {
            await prepareLoader(entryWithout(entry), projectRoot, runtimeOptions ?? {});
            throw error;
        }
    }

    async #execute(
        sdk: Sdk,
        description: ProgramDescription,
        file: string,
        load: () => Promise<unknown>,
    ): Promise<void> {
        let settled = false;
        const program = async (): Promise<unknown> => {
            const exported = await load();
            const outputs: unknown = await (typeof exported === "function" ? (exported as () => unknown)() : exported);
            settled = true;
            return outputs;
        };
        // While the program runs, only what it does itself keeps the process alive.
        this.bridge.release();
        const idle = processIdle(this.bridge);
        void this.#endIdle(idle, file, () => settled);
        try {
            await this.run.execute(sdk, description, file, async () => {
                const outputs = await program();
                await idle;
                return outputs;
            });
        } finally {
            this.bridge.hold();
        }
    }

    // Until the run has ended, nothing keeps the process alive that does not bring it on.
    async #endIdle(idle: Promise<void>, file: string, isSettled: () => boolean): Promise<void> {
        await idle;
        if (isSettled() && !this.run.isWaitedFor) {
            // What is left is the SDK's own work, and some of what that needs may have been taken away.
            await processIdle(this.bridge);
        }
        this.run.endIdle(file);
    }

    // What nobody catches belongs to the program, or to the provider call that it was raised in.
    #attributeErrors(sdk: Sdk, file: string): void {
        const seen = new WeakSet<object>();
        const onError = (thrown: unknown): void => {
            // The SDK lets several promises fail with one error.
            if (typeof thrown === "object" && thrown !== null) {
                if (seen.has(thrown)) {
                    return;
                }
                seen.add(thrown);
            }
            const call = callStorage.getStore();
            if (call === undefined) {
                this.run.fail(thrown, this.run.errorText(sdk, file, thrown));
            } else {
                const text = `an error was raised in \`${call.method}\` that nobody waits for:\n${textOf(thrown)}`;
                // The call itself may have done what it was asked for: its result says whether it has failed.
                this.bridge.native.log(call.engine, call.urn, 2, text);
            }
        };
        listen("uncaughtException", onError);
        listen("unhandledRejection", onError);
    }

    async runPass(args: string[]): Promise<number> {
        // The debugger of this process has the port, and waits for the operation itself.
        const flags = process.execArgv.filter((flag) => !INSPECTS.test(flag));
        const code = await runNode(flags, args, process.env);
        this.bridge.engaged = false;
        return code;
    }

    async reExecute(request: { runtimeOptions: unknown; arguments: string[] }): Promise<number | undefined> {
        const flags = nodeFlags(request.runtimeOptions);
        if (flags.length === 0 || process.env[RESTARTED] !== undefined) {
            return undefined;
        }
        return runNode([...process.execArgv, ...flags], request.arguments, { ...process.env, [RESTARTED]: "1" });
    }

    async fleet(request: string): Promise<number> {
        try {
            require.resolve("@temporalio/client");
        } catch {
            process.stderr.write(`error: maloko fleet needs more packages: npm install ${FLEET_PACKAGES}\n`);
            return CONFIGURATION;
        }
        // By its path: fleets are above the automation API, which is above this.
        const commands = require(path.join(OWN_DIRECTORY, "fleet", "commands", "index.js")) as FleetCommands;
        return commands.run(request);
    }

    resourceClasses(): Promise<ResourceClass[]> {
        return this.run.resourceClasses();
    }

    exit(code: number): void {
        this.#loaded?.list();
        this.bridge.native.leave();
        // What the user's program left open must not keep a finished command from ending.
        try {
            this.#ends.over();
            apply(this.#exit, process, [code]);
        } catch {
            // Node's own end of a process asks for much of `process` that can be replaced, and for listeners that can throw.
            apply(reallyExit, process, [code]);
        }
    }
}

function runNode(flags: string[], args: string[], env: NodeJS.ProcessEnv): Promise<number> {
    return new Promise((resolve) => {
        const child = spawn(process.execPath, [...flags, COMMAND, ...args], { stdio: "inherit", env });
        Object.assign(passes, { child, heard: false });
        const ended = (code: number): void => {
            passes.child = undefined;
            resolve(code);
        };
        child.on("error", () => ended(255));
        child.on("exit", (code, signal) => ended(code ?? (signal === null ? 255 : 130)));
    });
}
