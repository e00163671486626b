// Taking over objects that exist.
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import type { ImportOptions } from "@pulumi/pulumi/automation";
import { flagsOf, type LockOptions, type TelemetryOptions } from "./flags";
import { type OnStack, operate } from "./operations";
import type { ProgressOptions } from "./progress";
import type { CommandResult, PageOptions } from "./result";

/** Imports resources; gives the declarations that were written for them. */
export async function importResources(
    stack: OnStack,
    options: ImportOptions & PageOptions & ProgressOptions & TelemetryOptions & LockOptions,
): Promise<{ done: CommandResult; generatedCode: string }> {
    const directory = await fs.promises.mkdtemp(path.join(os.tmpdir(), "automation-import-"));
    try {
        const list = path.join(directory, "import.json");
        const code = path.join(directory, "generated.txt");
        const args = ["import", "--yes", "--skip-preview", ...flagsOf("import", options)];
        if (options.resources !== undefined) {
            const { nameTable, resources } = options;
            await fs.promises.writeFile(list, JSON.stringify({ nameTable, resources }), { mode: 0o600 });
            args.push("--file", list);
        }
        args.push(...(options.generateCode === false ? ["--generate-code=false"] : ["--out", code]));
        if (options.protect === false) {
            args.push("--protect=false");
        }
        const done = await operate(stack, args, options, stack.workspace.program);
        const written = options.generateCode !== false && fs.existsSync(code);
        return { done, generatedCode: written ? await fs.promises.readFile(code, "utf8") : "" };
    } finally {
        await fs.promises.rm(directory, { recursive: true, force: true });
    }
}
