// Runs a command of the command line in this process, and with it the caller's own program.
import { AsyncLocalStorage } from "node:async_hooks";
import * as path from "node:path";
import type { EngineEvent, PulumiFn } from "@pulumi/pulumi/automation";
import { installedFrom } from "../command-line/origin";
import { callStorage } from "../current";
import { parseJson, toJsonText } from "../originals";
import { refuseExits } from "../process/exits";
import { onAbort } from "../process/waiting";
import { ProviderRegistry } from "../providers/registry";
import { Bridge } from "../run/bridge";
import { Run } from "../run/run";
import { attributeUncaught } from "../run/uncaught";
import { type RunSettings, Sdk, sdkVersionOf } from "../sdk";
import { Listeners } from "./listeners";
import { interval, type Progress } from "./progress";
import { type CommandRequest, type Outcome, wantedEvents } from "./request";
import type { CommandResult } from "./result";

const LABEL = "inline program";

/** Runs a command; one that fails throws a `CommandError`. */
export async function runInside(request: CommandRequest): Promise<CommandResult> {
    const bridge = Bridge.get();
    const number = bridge.newOperation();
    const root = request.root ?? process.cwd();
    const registry = new ProviderRegistry(bridge.native, root);
    // What the caller keeps in async storages is there in the program and in its providers. A provider call that the
    // caller is in is none of ours.
    const snapshot = AsyncLocalStorage.snapshot();
    const context = <T>(action: () => T): T => snapshot(() => callStorage.exit(action)) as T;
    const run = new Run(
        bridge,
        registry,
        (_engine, text, it) => context(() => launch(it, parseJson(text) as Description, root, request.program)),
        context,
    );
    const listeners = new Listeners(request);
    request.onRun?.(run);
    bridge.serve(number, run);
    const undo =
        request.program === undefined
            ? []
            : [refuseExits((code) => run.isCurrent() && run.exited(code)), attributeUncaught(run, LABEL)];
    try {
        const ended = bridge.invoke(number, toJsonText(described(request, sdkVersionOf(root))), {
            written: (stream, bytes) => context(() => listeners.written(stream, bytes)),
            event: (event) => context(() => listeners.event(event as EngineEvent)),
            progress: (report) => context(() => listeners.progress(report as Progress)),
        });
        request.began?.(() => progressOf(bridge.native.progressOfInvocation(number)));
        undo.push(onAbort(request.signal, () => bridge.native.cancelInvocation(number)));
        const outcome = outcomeOf(await ended);
        const original = bridge.errorOf(outcome.operation?.source ?? 0);
        return listeners.finish(outcome, original && { value: original.thrown });
    } finally {
        request.onRun?.(undefined);
        for (const one of undo) {
            one();
        }
        registry.close();
        bridge.stopServing(number);
    }
}

type Description = RunSettings & { attachOnly?: boolean };

async function launch(run: Run, description: Description, root: string, program: PulumiFn | undefined): Promise<void> {
    if (program === undefined || description.attachOnly === true) {
        return;
    }
    run.guardModuleBodies(description.project, description.stack);
    await run.execute(Sdk.load(root), description, LABEL, (it) => it.toItsEnd(program));
}

/** A request as the engine takes it. `command`: what starts a command line, where the process runs this one alone. */
export function described(request: CommandRequest, sdk: string, command: string[] = []): object {
    const all = { ...process.env, ...request.variables };
    return {
        arguments: request.arguments,
        directory: path.resolve(request.directory),
        variables: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
        events: wantedEvents(request),
        progressEvery: request.onProgress === undefined ? null : interval(request.progressEvery),
        languageVersion: process.version,
        executable: process.execPath,
        sdkVersion: sdk,
        installedFrom: installedFrom(),
        command,
    };
}

function progressOf(report: string | null): Progress | undefined {
    return report === null ? undefined : (parseJson(report) as Progress);
}

/** The engine's report. */
export function outcomeOf(report: string): Outcome {
    const outcome = parseJson(report) as Partial<Outcome>;
    return { code: 255, message: "", operation: null, ...outcome };
}
