// `process.exit` and `process.abort` in the middle of a run: the process is not the program's own to end. What runs in it
// has to be recorded first.
import { callStorage } from "../current";

/** Thrown where a program or a provider wanted to end the process. */
export class ExitRefused extends Error {
    override readonly name = "ExitRefused";
}

/** Told when a program wants to end the process; answers whether a run deals with it. */
export type OnExit = (code: number) => boolean;

const handlers = new Set<OnExit>();
let restore: (() => void) | undefined;

/**
 * From now on, provider methods that end the process fail in place of that; a program that does is told to `onExit`. What
 * is returned puts it back.
 */
export function refuseExits(onExit: OnExit = () => false): () => void {
    handlers.add(onExit);
    restore ??= replace();
    return () => {
        handlers.delete(onExit);
        if (handlers.size === 0) {
            restore?.();
            restore = undefined;
        }
    };
}

function replace(): () => void {
    const { exit, abort } = process;
    const refused = (what: string): ExitRefused | undefined => {
        const call = callStorage.getStore();
        return call === undefined
            ? undefined
            : new ExitRefused(
                  `\`${call.method}\` called ${what}, which would end the whole deployment: throw an error to fail the resource`,
              );
    };
    const exitInstead = (code?: number | string | null): never => {
        const number = Number(code ?? process.exitCode ?? 0) & 0xff;
        const error = refused(`process.exit(${code ?? ""})`);
        if (error !== undefined) {
            throw error;
        }
        if ([...handlers].some((handler) => handler(number))) {
            throw new ExitRefused(`the program ended with process.exit(${code ?? ""})`);
        }
        return exit.call(process, code);
    };
    const abortInstead = (): never => {
        const error = refused("process.abort()");
        if (error !== undefined) {
            throw error;
        }
        return abort.call(process);
    };
    process.exit = exitInstead as typeof process.exit;
    process.abort = abortInstead;
    return () => {
        // Whoever has put something over it keeps that.
        if (process.exit === exitInstead) {
            process.exit = exit;
        }
        if (process.abort === abortInstead) {
            process.abort = abort;
        }
    };
}
