// A dynamic provider: notes, kept as files. Replace the file access by calls of a client for your own service.

import * as fs from "node:fs/promises";
import * as path from "node:path";

import * as pulumi from "@pulumi/pulumi";

const directory = path.join(__dirname, "notes");

interface NoteInputs {
    file: string;
    text: string;
}

interface NoteOutputs extends NoteInputs {
    path: string;
}

// What happens when a note is made, changed, looked up and removed. These methods run in your own process: set a
// breakpoint in any of them.
class NoteProvider implements pulumi.dynamic.ResourceProvider<NoteInputs, NoteOutputs> {
    async check(_olds: NoteInputs, news: NoteInputs): Promise<pulumi.dynamic.CheckResult<NoteInputs>> {
        const failures = news.file.includes("/")
            ? [{ property: "file", reason: "a note lies directly in the directory `notes`" }]
            : [];
        return { inputs: news, failures };
    }

    async diff(_id: string, olds: NoteOutputs, news: NoteInputs): Promise<pulumi.dynamic.DiffResult> {
        const replaces = olds.file === news.file ? [] : ["file"];
        return { changes: replaces.length > 0 || olds.text !== news.text, replaces };
    }

    async create(inputs: NoteInputs): Promise<pulumi.dynamic.CreateResult<NoteOutputs>> {
        await fs.mkdir(directory, { recursive: true });
        const file = path.join(directory, inputs.file);
        await fs.writeFile(file, inputs.text);
        return { id: inputs.file, outs: { ...inputs, path: file } };
    }

    async read(id: string, props?: NoteOutputs): Promise<pulumi.dynamic.ReadResult<NoteOutputs>> {
        const file = path.join(directory, id);
        try {
            const text = await fs.readFile(file, "utf8");
            return { id, props: { file: id, ...props, text, path: file } };
        } catch (error) {
            if ((error as NodeJS.ErrnoException).code === "ENOENT") {
                return { id: "" };
            }
            throw error;
        }
    }

    async update(id: string, _olds: NoteOutputs, news: NoteInputs): Promise<pulumi.dynamic.UpdateResult<NoteOutputs>> {
        const file = path.join(directory, id);
        await fs.writeFile(file, news.text);
        return { outs: { ...news, path: file } };
    }

    async delete(id: string): Promise<void> {
        await fs.rm(path.join(directory, id), { force: true });
    }
}

export interface NoteArgs {
    file: pulumi.Input<string>;
    text: pulumi.Input<string>;
}

export class Note extends pulumi.dynamic.Resource {
    declare public readonly file: pulumi.Output<string>;
    declare public readonly text: pulumi.Output<string>;
    declare public readonly path: pulumi.Output<string>;

    constructor(name: string, args: NoteArgs, opts?: pulumi.CustomResourceOptions) {
        super(new NoteProvider(), name, { path: undefined, ...args }, opts);
    }
}
