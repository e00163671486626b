// The process of a local program: runs one command, and tells the parent its outcome.

import { Command, ownCommand } from "../command-line/cli";
import { loadFile } from "../loading/program";
import { parseJson, toJsonText } from "../originals";
import { describe } from "../process/errors";
import { ProviderRegistry } from "../providers/registry";
import { Bridge } from "../run/bridge";
import { PrintedLines, takeWrites } from "../run/printed-lines";
import { sdkVersionOf } from "../sdk";

import { described, outcomeOf } from "./inside";
import type { ChildError, ChildMessage, ChildRequest } from "./local";
import type { CommandRequest, ThrownText } from "./request";

const CANCELLED = 130;

async function serve(asked: ChildRequest): Promise<void> {
    const bridge = Bridge.get();
    const number = bridge.newOperation();
    const command = new Command(bridge, new ProviderRegistry(bridge.native, process.cwd(), loadFile));
    cancelWith(() => bridge.native.cancelInvocation(number));
    bridge.serve(number, command.run);
    if (asked.tellsPrinted) {
        const lines = new PrintedLines((line, write) => {
            if (!command.run.print(line)) {
                write(`${line}\n`);
            }
        });
        command.run.lines = lines;
        takeWrites(process.stdout, () => lines.take);
        takeWrites(process.stderr, () => lines.take);
    }
    const request: CommandRequest = {
        arguments: asked.arguments,
        directory: asked.directory,
        variables: {},
        onProgress: () => {},
        progressEvery: asked.progressEvery,
        ...(asked.events === "all" ? { onEvent: () => {} } : {}),
        ...(asked.events === "messages" ? { onPrinted: () => {} } : {}),
    };
    const text = toJsonText(described(request, sdkVersionOf(asked.directory), ownCommand()));
    const outcome = outcomeOf(
        await bridge.invoke(number, text, {
            written: (stream, bytes) =>
                void tell({ written: { stream, base64: Buffer.from(bytes).toString("base64") } }),
            event: (event) => void tell({ event } as ChildMessage),
            progress: (progress) => void tell({ progress } as ChildMessage),
        }),
    );
    const exception = outcome.operation?.exception ?? undefined;
    await tell({ finished: { outcome, error: exception && told(exception) } });
    command.exit(outcome.code);
}

function told({ name, message, traceback }: ThrownText): ChildError {
    const text = `${name}: ${message}`;
    return { name, message, stack: traceback === "" ? text : `${text}\n${traceback}` };
}

/** Resolves when the message is with the parent, or when there is no parent any more. */
function tell(message: ChildMessage): Promise<void> {
    return new Promise((resolve) => {
        if (process.connected) {
            process.send?.(parseJson(toJsonText(message)), () => resolve());
        } else {
            resolve();
        }
    });
}

// The parent asks for it, or has gone; a terminal's Ctrl-C reaches both.
function cancelWith(cancel: () => void): void {
    process.on("message", (message: { cancel?: boolean }) => {
        if (message.cancel === true) {
            cancel();
        }
    });
    // Listening is no reason for the process to go on.
    process.channel?.unref();
    process.on("disconnect", cancel);
    let heard = false;
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
        process.on(signal, () => {
            if (heard) {
                process.exit(CANCELLED);
            }
            heard = true;
            cancel();
        });
    }
}

process.once("message", (asked: ChildRequest) => {
    serve(asked).catch(async (error: unknown) => {
        const fault = describe(error);
        await tell({ finished: { outcome: { code: 255, message: "", operation: null, fault }, error: undefined } });
        process.exit(255);
    });
});
