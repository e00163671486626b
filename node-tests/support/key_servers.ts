// Key services on this machine: the servers of Python's tests, in a process of their own.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const PYTHON = join(ROOT, ".venv", "bin", "python");
const SERVERS = join(ROOT, "python-tests", "support", "key_servers.py");

/** Starts them until the end of the test; gives the variables that lead a command there, with credentials. */
export async function keyServers(): Promise<NodeJS.ProcessEnv> {
    const servers = spawn(PYTHON, [SERVERS], { stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => void servers.stdin.end());
    const first = await createInterface({ input: servers.stdout })[Symbol.asyncIterator]().next();
    return JSON.parse(first.value as string) as NodeJS.ProcessEnv;
}
