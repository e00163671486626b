// Where things stand in the document of a fleet's run: stacks by their id, who needs whom, what came of each. It is read once.

import type { AtWork, FleetData, FleetStack, StackEnd, Standing } from "./data.ts";

/** A stack of the run. Numbers are those of `FleetCatalog.members`. */
export interface Member {
    id: string;
    labels: { [label: string]: string };
    /** From 0. */
    wave: number;
    queue: string;
    needs: number[];
    /** What it needs and the run does not have. */
    others: string[];
    /** Who needs it. */
    dependents: number[];
    standing: Standing;
    end?: StackEnd;
    work?: AtWork;
    /** What is searched: a line for each of its texts, in small letters. */
    searched: string;
}

/** A label with the stacks that have each of its values, the most frequent first. */
export interface Label {
    name: string;
    values: [value: string, stacks: number][];
}

export class FleetCatalog {
    readonly members: Member[];
    readonly byId = new Map<string, number>();
    readonly labels: Label[];
    /** How many stacks stand where, by what the document says of each. */
    readonly standings = new Map<Standing, number>();
    /** Does the document name every stack that goes on? */
    private readonly namesAllAtWork: boolean;

    constructor(readonly data: FleetData) {
        const stacks = [...data.stacks];
        const known = new Set(stacks.map(({ id }) => id));
        // What ended or goes on is shown, also where the list of stacks does not have it.
        for (const { id } of [...data.ends, ...data.atWork]) {
            if (known.has(id)) continue;
            known.add(id);
            stacks.push({ id, wave: 0 });
        }
        this.members = stacks.map(member);
        for (const [index, { id }] of this.members.entries()) if (!this.byId.has(id)) this.byId.set(id, index);
        for (const work of data.atWork) {
            const one = this.find(work.id);
            if (one) Object.assign(one, { work, standing: work.retrying ? "retrying" : "running" });
        }
        for (const end of data.ends) {
            const one = this.find(end.id);
            if (one) Object.assign(one, { end, standing: end.outcome });
        }
        for (const [index, one] of this.members.entries()) {
            this.connect(index, one, [...(stacks[index]?.needs ?? []), ...(one.end?.needs ? [one.end.needs] : [])]);
            one.searched = searched(one);
            this.standings.set(one.standing, (this.standings.get(one.standing) ?? 0) + 1);
        }
        this.labels = labelsOf(this.members);
        this.namesAllAtWork = data.atWork.length >= data.counts.running + data.counts.retrying;
    }

    member(index: number): Member {
        return this.members[index] as Member;
    }

    /** The word for a standing. Where not all that goes on is named, the others are known not to have ended, and no more. */
    wordOf(standing: Standing): string {
        return standing === "waiting" && !this.namesAllAtWork ? "not ended" : standing;
    }

    find(id: string | undefined): Member | undefined {
        return this.members[this.byId.get(id ?? "") ?? -1];
    }

    /** All that it needs, directly or through others; what comes first comes last. */
    needsOf(index: number): number[] {
        return reached(index, (at) => this.member(at).needs);
    }

    /** All that need it, directly or through others. */
    dependentsOf(index: number): number[] {
        return reached(index, (at) => this.member(at).dependents);
    }

    /** The stacks that failed and because of which this one was skipped. */
    causesOf(index: number): number[] {
        if (this.member(index).standing !== "skipped") return [];
        return this.needsOf(index).filter((at) => this.member(at).standing === "failed");
    }

    private connect(index: number, one: Member, needs: string[]): void {
        for (const id of new Set(needs)) {
            const at = this.byId.get(id);
            if (at === undefined) one.others.push(id);
            else if (at !== index) {
                one.needs.push(at);
                this.member(at).dependents.push(index);
            }
        }
    }
}

function member({ id, labels, wave, queue }: FleetStack): Member {
    return {
        id,
        labels: labels ?? {},
        wave,
        queue: queue ?? "",
        needs: [],
        others: [],
        dependents: [],
        standing: "waiting",
        searched: "",
    };
}

function searched({ id, labels, queue, end, work }: Member): string {
    const told = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
    const texts = [end?.reason, end?.text, end?.urn, end?.method, end?.worker, work?.text, work?.note, work?.worker];
    return [id, ...told, queue, ...texts].filter(Boolean).join("\n").toLowerCase();
}

/** What can be reached from one, nearest first, whatever circles there are. */
function reached(from: number, next: (at: number) => number[]): number[] {
    const seen = new Set([from]);
    // The set grows while it is gone through.
    for (const at of seen) for (const other of next(at)) seen.add(other);
    seen.delete(from);
    return [...seen];
}

function labelsOf(members: Member[]): Label[] {
    const counts = new Map<string, Map<string, number>>();
    for (const { labels } of members) {
        for (const [name, value] of Object.entries(labels)) {
            const values = counts.get(name) ?? new Map<string, number>();
            values.set(value, (values.get(value) ?? 0) + 1);
            counts.set(name, values);
        }
    }
    return [...counts].map(([name, values]) => ({
        name,
        values: [...values].sort(([a, many], [b, few]) => few - many || (a < b ? -1 : 1)),
    }));
}
