// Adopting what exists: the option `import`, the command `import`, lists of imports, interrupted creates, look-ups.
import { expect, test } from "vitest";
import { type Project, project } from "../support/project";

const PROGRAM = `import * as pulumi from "@pulumi/pulumi"; import * as fs from "fs";
type World = Record<string, string>;
const load = (): World => JSON.parse(fs.readFileSync("world.json", "utf8"));
function change(edit: (world: World) => void) {
    const world = load();
    edit(world);
    fs.writeFileSync("world.json", JSON.stringify(world));
}
const outputs = (id: string, text: string) => ({ text, url: "https://notes/" + id });
class NoteProvider {
    async diff(id: string, olds: any, news: any) {
        return { changes: Object.keys(news).some((key) => olds[key] !== news[key]) };
    }
    async create(props: any) {
        const id = "made-" + props.text;
        change((world) => { world[id] = props.text; });
        return { id: props.text === "half" ? "" : id, outs: outputs(id, props.text) };
    }
    async read(id: string, props: any) {
        const text = load()[id];
        return text === undefined ? {} : { id, props: outputs(id, text) };
    }
    async update(id: string, olds: any, news: any) {
        change((world) => { world[id] = news.text; });
        return { outs: outputs(id, news.text) };
    }
    async delete(id: string) { change((world) => { delete world[id]; }); }
}
class Note extends pulumi.dynamic.Resource {
    constructor(name: string, text: string, opts: pulumi.CustomResourceOptions) {
        super(new NoteProvider() as any, name, { text }, opts);
    }
}
for (const note of JSON.parse(fs.readFileSync("wanted.json", "utf8"))) {
    new Note(note.name, note.text, note.options);
}`;

const TYPE = "pulumi-nodejs:dynamic:Resource";
const PLACE = "index.ts#NoteProvider";

interface Note {
    name: string;
    text: string;
    options: Record<string, unknown>;
}

const REFUSE = "--refuse-import-differences";

const note = (name: string, text: string, options: Record<string, unknown> = {}): Note => ({ name, text, options });

/** A project whose resources are notes, which are entries of a file. */
class Notes {
    readonly project: Project;

    constructor() {
        this.project = project({ "index.ts": PROGRAM, "world.json": "{}", "wanted.json": "[]" });
    }

    wants(...notes: Note[]): void {
        this.project.write({ "wanted.json": JSON.stringify(notes) });
    }

    has(world: Record<string, string>): void {
        this.project.write({ "world.json": JSON.stringify(world) });
    }

    world(): Record<string, string> {
        return JSON.parse(this.project.read("world.json")) as Record<string, string>;
    }

    run(...args: string[]): string {
        return this.project.ok(...args, "--stack", "dev");
    }

    failing(...args: string[]): string {
        const { status, output } = this.project.run(...args, "--stack", "dev");
        expect(status).not.toBe(0);
        return output;
    }

    resources(): any[] {
        return JSON.parse(this.run("stack", "export")).deployment.resources ?? [];
    }

    resource(name: string): any {
        const found = this.resources().filter(({ urn }) => urn.endsWith(`::${name}`));
        expect(found).toHaveLength(1);
        return found[0];
    }

    up(...args: string[]): string {
        return this.run("up", "--yes", "--skip-preview", ...args);
    }
}

test("an object is taken over by the option import", () => {
    const notes = new Notes();
    notes.has({ n1: "hello" });
    notes.wants(note("a", "hello", { import: "n1" }));
    expect(notes.run("preview")).toContain("1 to import");
    notes.up();
    const resource = notes.resource("a");
    expect([resource.id, resource.importID, resource.outputs.url]).toEqual(["n1", "n1", "https://notes/n1"]);
    notes.up("--expect-no-changes");
    notes.wants(note("a", "changed", { import: "n1" }));
    notes.up();
    expect(notes.world()).toEqual({ n1: "changed" });
    notes.wants();
    notes.up();
    expect(notes.world()).toEqual({});
});

test("an import that does not match is shown property by property and updated in the same run", () => {
    const notes = new Notes();
    notes.has({ n1: "hello" });
    notes.wants(note("a", "other", { import: "n1" }));
    const said = notes.run("preview", "--diff");
    expect(said).toContain("1 to import");
    expect(said).toContain("1 to update");
    expect(said).toContain('"hello"');
    expect(said).toContain('"other"');
    expect(notes.world()).toEqual({ n1: "hello" });
    notes.up();
    const resource = notes.resource("a");
    expect([resource.id, resource.importID, resource.inputs.text]).toEqual(["n1", "n1", "other"]);
    expect(notes.world()).toEqual({ n1: "other" });
    notes.up("--expect-no-changes");
});

test("an import that needs a replacement keeps the imported object and refuses the replacement", () => {
    const notes = new Notes();
    notes.has({ n1: "hello" });
    notes.wants(note("a", "other", { import: "n1", replaceOnChanges: ["text"] }));
    const words = "previously-imported resources that still specify an ID may not be replaced";
    expect(notes.run("preview")).toContain(words);
    expect(notes.failing("up", "--yes", "--skip-preview")).toContain(words);
    expect(notes.resource("a").inputs.text).toBe("hello");
    expect(notes.world()).toEqual({ n1: "hello" });
});

test("an import whose differences are refused is explained property by property and changes nothing", () => {
    const notes = new Notes();
    notes.has({ n1: "hello" });
    notes.wants(note("a", "other", { import: "n1" }));
    for (const command of [
        ["preview", REFUSE],
        ["up", "--yes", "--skip-preview", REFUSE],
    ]) {
        const said = notes.failing(...command);
        expect(said).toContain('* text: the program has "other", the object has "hello"');
        expect(said).toContain("'ignoreChanges'");
    }
    expect(notes.world()).toEqual({ n1: "hello" });
    expect(JSON.stringify(notes.resources())).not.toContain("https://notes/n1");
    notes.wants(note("a", "other", { import: "n1", ignoreChanges: ["text"] }));
    notes.up();
    expect(notes.world()).toEqual({ n1: "hello" });
});

test("import mismatches name the properties by comparing", () => {
    // `read` tells the program's own inputs, and `diff` only that something differs.
    const read = `{ id, props: outputs(id, text), inputs: { ...props, url: "https://notes/" + id } }`;
    const program = PROGRAM.replace("{ id, props: outputs(id, text) }", read)
        .replace("Object.keys(news).some((key) => olds[key] !== news[key])", "true")
        .replace("name, { text }", `name, { text, url: "https://notes/" + "x".repeat(150) } as any`);
    const notes = new Notes();
    notes.project.write({ "index.ts": program });
    notes.has({ n1: "hello" });
    notes.wants(note("a", "other", { import: "n1" }));
    const times = (said: string, line: string) => said.split(line).length - 1;
    const whole = "the object 'n1' cannot be imported: it is not as the program says in ";
    for (const command of [
        ["preview", REFUSE],
        ["up", "--yes", "--skip-preview", REFUSE],
    ]) {
        const said = notes.failing(...command);
        // The line is whole, and stands there once.
        expect(times(said, `${whole}url\n`), said).toBe(1);
        expect(said).toContain(`* url: the program has "https://notes/${"x".repeat(20)}`);
    }
    // Inputs that are as the program says: the outputs are compared.
    const same = program
        .replace(`, url: "https://notes/" + "x".repeat(150)`, "")
        .replace(read, "{ id, props: outputs(id, text), inputs: props }");
    notes.project.write({ "index.ts": same });
    const differing = notes.failing("preview", REFUSE);
    expect(times(differing, `${whole}text\n`), differing).toBe(1);
    expect(differing).toContain('* text: the program has "other", the object has "hello"');
    notes.wants(note("a", "hello", { import: "n1" }));
    const unnamed = notes.failing("preview", REFUSE);
    expect(times(unnamed, "its provider's 'diff' says that it is not as the program says\n"), unnamed).toBe(1);
    expect(unnamed).toContain("look at what 'diff' compares");
});

test("an import of an id that does not exist says so", () => {
    const notes = new Notes();
    notes.wants(note("a", "hello", { import: "n9" }));
    expect(notes.failing("preview")).toContain("there is no object with the id 'n9' to import");
    expect(notes.failing("up", "--yes", "--skip-preview")).toContain("there is no object with the id 'n9' to import");
});

test("an import over another object replaces it and deletes the old one", () => {
    const notes = new Notes();
    notes.wants(note("a", "hello"));
    notes.up();
    notes.has({ "made-hello": "hello", n1: "hello" });
    notes.wants(note("a", "hello", { import: "n1" }));
    expect(notes.run("preview")).toContain("1 to replace");
    notes.up();
    expect(notes.world()).toEqual({ n1: "hello" });
    expect(notes.resource("a").id).toBe("n1");
});

test("the command import takes over an object and prints its code", () => {
    const notes = new Notes();
    notes.has({ n1: "hello" });
    notes.wants(note("first", "one"));
    notes.up();
    const said = notes.run("import", TYPE, "a", "n1", "--yes");
    expect(said).toContain('const a = new Note("a", "hello", { protect: true });');
    expect(said).not.toContain("https://notes");
    const resource = notes.resource("a");
    expect([resource.id, resource.protect, resource.inputs.text]).toEqual(["n1", true, "hello"]);
    expect(resource.importID).toBeUndefined();
    // The list may be worked through again; another object of that name may not.
    notes.run("import", TYPE, "a", "n1", "--yes");
    expect(notes.failing("import", TYPE, "a", "made-one", "--yes")).toContain("with the id 'n1'");
    notes.wants(note("first", "one"), note("a", "hello", { protect: true }));
    notes.up("--expect-no-changes");
});

test("the command import is told the provider by its place", () => {
    const notes = new Notes();
    notes.has({ n1: "hello", n2: "hi" });
    expect(notes.failing("import", TYPE, "a", "n1", "--yes")).toContain("no provider is known for the type");
    notes.run("import", PLACE, "a", "n1", "--yes", "--properties", "text", "--protect=false");
    expect(notes.resource("a").protect).toBeUndefined();
    notes.run("import", TYPE, "b", "n2", "--yes", "--provider", PLACE, "--properties", "text", "--out", "code.txt");
    expect(notes.project.read("code.txt")).toContain("NoteProvider");
    notes.wants(note("a", "hello"), note("b", "hi", { protect: true }));
    notes.up("--expect-no-changes");
});

test("an object that the stack has is not imported a second time", () => {
    const notes = new Notes();
    notes.has({ n1: "hello" });
    const first = note("a", "hello", { import: "n1" });
    notes.wants(first);
    notes.up();
    notes.wants(first, note("b", "hello", { import: "n1" }));
    const told = `the object 'n1' is that of 'urn:pulumi:dev::test::${TYPE}::a' already`;
    expect(notes.failing("preview")).toContain(told);
    expect(notes.failing("up", "--yes", "--skip-preview")).toContain(told);
    // Nor may one that the program just lost be deleted behind the import.
    notes.wants(note("b", "hello", { import: "n1" }));
    expect(notes.failing("up", "--yes", "--skip-preview")).toContain(told);
    notes.wants(first);
    expect(notes.failing("import", TYPE, "b", "n1", "--yes")).toContain(told);
    const resources = ["b", "c"].map((name) => ({ type: TYPE, name, id: "n1", provider: PLACE }));
    notes.project.write({ "list.json": JSON.stringify({ resources }) });
    expect(notes.failing("import", "--file", "list.json", "--yes", "--skip-preview")).toContain(told);
    expect(notes.world()).toEqual({ n1: "hello" });
    notes.up("--expect-no-changes");
});

const TYPED = `import * as pulumi from "@pulumi/pulumi"; import * as fs from "fs";
class NoteProvider {
    async create(outs: any) { return { id: "made", outs }; }
    async read(id: string) { return { id, props: { text: "hello" } }; }
}
class Note extends pulumi.dynamic.Resource {
    constructor(name: string, type = "Note") {
        super(new NoteProvider() as any, name, { text: "hello" }, undefined, "notes", type);
    }
}
for (const [name, type] of JSON.parse(fs.readFileSync("wanted.json", "utf8"))) new Note(name, type);`;
const TYPED_KIND = "pulumi-nodejs:dynamic/notes:Note";

test("an import by provider gets the type of the providers resources", () => {
    const it = project({ "index.ts": TYPED, "wanted.json": '[["first", "Note"]]' });
    it.up();
    it.ok("import", PLACE, "a", "n1", "--yes", "--protect=false", "--stack", "dev");
    expect(it.ok("stack", "export", "--stack", "dev")).toContain(`::${TYPED_KIND}::a`);
    it.write({ "wanted.json": '[["first", "Note"], ["a", "Note"]]' });
    it.ok("up", "--yes", "--skip-preview", "--expect-no-changes", "--stack", "dev");
    it.write({ "wanted.json": '[["first", "Note"], ["a", "Note"], ["second", "Memo"]]' });
    const { status, output } = it.run("import", PLACE, "b", "n2", "--yes", "--stack", "dev");
    expect(status).not.toBe(0);
    expect(output).toContain("has resources of several types");
    expect(output).toContain(TYPED_KIND);
    expect(output).toContain(TYPED_KIND.replace(":Note", ":Memo"));
});

test("a preview lists what it would create and the list is imported", () => {
    const notes = new Notes();
    notes.wants(note("a", "hello"), note("b", "hi"));
    notes.run("preview", "--import-file", "list.json");
    const listed = JSON.parse(notes.project.read("list.json")) as { resources: { name: string; id: string }[] };
    expect(listed.resources.map(({ name }) => name).sort()).toEqual(["a", "b"]);
    expect(notes.failing("import", "--file", "list.json", "--yes")).toContain("it has no id yet");
    for (const entry of listed.resources) {
        entry.id = `n-${entry.name}`;
    }
    notes.project.write({ "list.json": JSON.stringify(listed) });
    notes.has({ "n-a": "hello", "n-b": "hi" });
    notes.run("import", "--file", "list.json", "--preview-only");
    expect(JSON.stringify(notes.resources())).not.toContain('"n-a"');
    notes.run("import", "--file", "list.json", "--yes");
    notes.up("--expect-no-changes");
    expect(notes.world()).toEqual({ "n-a": "hello", "n-b": "hi" });
});

test("five hundred objects are imported from one list", () => {
    const notes = new Notes();
    const names = Array.from({ length: 500 }, (_, number) => `n${number}`);
    notes.has(Object.fromEntries(names.map((name) => [name, `text of ${name}`])));
    const resources = names.map((name) => ({ type: TYPE, name, id: name, provider: PLACE, properties: ["text"] }));
    notes.project.write({ "list.json": JSON.stringify({ resources }) });
    notes.run("import", "--file", "list.json", "--yes", "--skip-preview", "--generate-code=false");
    const ids = notes.resources().filter(({ type }) => type === TYPE);
    expect(new Set(ids.map(({ id }) => id))).toEqual(new Set(names));
    notes.wants(...names.map((name) => note(name, `text of ${name}`, { protect: true })));
    notes.up("--expect-no-changes");
});

test("what is wrong with one import keeps none of the others back", () => {
    const notes = new Notes();
    notes.has({ n1: "hello" });
    const entry = (name: string, id: string) => ({ type: TYPE, name, id, provider: PLACE });
    notes.project.write({ "list.json": JSON.stringify({ resources: [entry("a", "n9"), entry("b", "n1")] }) });
    const said = notes.failing("import", "--file", "list.json", "--skip-preview");
    expect(said).toContain("there is no object with the id 'n9'");
    expect(notes.resource("b").id).toBe("n1");
});

test("a list of imports that cannot be read says where", () => {
    const notes = new Notes();
    const wrong = (text: string) => {
        notes.project.write({ "list.json": text });
        return notes.failing("import", "--file", "list.json", "--yes");
    };
    expect(wrong('{"resources": [')).toContain("line 1");
    expect(wrong('{"resource": []}')).toContain("unknown field `resource`");
    const entry = { type: TYPE, name: "a", id: "n1" };
    const under = JSON.stringify({ resources: [{ ...entry, parent: "p" }] });
    expect(wrong(under)).toContain("resource 'a': its parent 'p' is neither");
    expect(wrong(JSON.stringify({ resources: [entry, entry] }))).toContain("another entry has the same");
    expect(wrong(JSON.stringify({ resources: [{ ...entry, type: "Note" }] }))).toContain("'Note' is not a type");
});

test("an interrupted create is completed with the id of its object", () => {
    const notes = new Notes();
    notes.wants(note("a", "half"));
    notes.failing("up", "--yes", "--skip-preview");
    expect(notes.world()).toEqual({ "made-half": "half" });
    const warned = notes.project.run("refresh", "--yes", "--skip-preview", "--skip-pending-creates", "--stack", "dev");
    expect(warned.status).toBe(0);
    const urn = `urn:pulumi:dev::test::${TYPE}::a`;
    expect(warned.output).toContain(`--import-pending-creates '${urn}' ID`);
    const asked = ["refresh", "--skip-preview", "--import-pending-creates", urn];
    expect(notes.failing(...asked)).toContain("is not followed by an id");
    expect(notes.failing(...asked, "n9")).toContain("there is no object with the id 'n9'");
    notes.run(...asked, "--import-pending-creates", "made-half");
    expect(notes.resource("a").id).toBe("made-half");
    notes.up("--expect-no-changes");
});

test("interrupted creates are forgotten when asked", () => {
    const notes = new Notes();
    notes.wants(note("a", "half"));
    notes.failing("up", "--yes", "--skip-preview");
    expect(notes.run("stack", "export")).toContain("pending_operations");
    notes.run("refresh", "--skip-preview", "--clear-pending-creates");
    notes.wants();
    expect(notes.up()).not.toContain("interrupted");
});

test("a resource that is looked up is never deleted and becomes managed and back", () => {
    const notes = new Notes();
    notes.has({ n1: "hello" });
    notes.wants(note("a", "hello", { id: "n1" }));
    notes.up();
    expect(notes.resource("a").external).toBe(true);
    notes.wants(note("a", "hello", { import: "n1" }));
    notes.up();
    expect(notes.resource("a").external).toBeUndefined();
    notes.wants(note("a", "hello", { id: "n1" }));
    notes.up();
    expect(notes.resource("a").external).toBe(true);
    notes.wants();
    notes.up();
    expect(notes.world()).toEqual({ n1: "hello" });
    expect(notes.resources().filter(({ type }) => type === TYPE)).toEqual([]);
});

test("a look-up of an id that does not exist says so", () => {
    const notes = new Notes();
    notes.wants(note("a", "hello", { id: "n9" }));
    expect(notes.failing("up", "--yes", "--skip-preview")).toContain("there is no object with the id 'n9'");
});
