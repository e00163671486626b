// What did not succeed, by what it failed of: many stacks with one failure are one row, which unfolds.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { count, whole } from "../model/words.ts";
import { Split } from "../parts/layout.tsx";
import { PickList } from "../parts/pick-list.tsx";
import { address, pick, route } from "../route.ts";
import type { FleetCatalog } from "./catalog.ts";
import { type FailureRow, failureRows, type Group } from "./groups.ts";
import { StandingBadge, StandingSign } from "./signs.tsx";
import { StackDetail, StackList } from "./stack-detail.tsx";

const HEAD = 48;
const LINE = 26;

/** The groups that were unfolded by hand. */
const unfolded = signal<ReadonlySet<number>>(new Set());

interface Props {
    catalog: FleetCatalog;
    groups: Group[];
}

/** How the address names a group; a stack is named by its id. */
function keyOf(group: number): string {
    return `group:${group}`;
}

export function Failures({ catalog, groups }: Props): JSX.Element {
    const { item } = route.value;
    const stack = item === undefined ? undefined : catalog.byId.get(item);
    const rows = useMemo(() => failureRows(groups, unfolded.value), [groups, unfolded.value]);
    const size = useMemo(() => (at: number) => (rows[at]?.stack === undefined ? HEAD : LINE), [rows]);
    const isChosen = ({ group, stack: at }: FailureRow) => (at === undefined ? item === keyOf(group) : at === stack);
    const place = item === undefined ? -1 : rows.findIndex(isChosen);
    const group = groups.find((_, index) => item === keyOf(index));
    if (groups.length === 0)
        return (
            <>
                <h2 class="hidden">Failures</h2>
                <p class="empty">Nothing failed.</p>
            </>
        );
    const fold = (at: number, open: boolean) => {
        const next = new Set(unfolded.value);
        if (open) next.add(at);
        else next.delete(at);
        unfolded.value = next;
    };
    const onKey = (key: string, at: number): number | boolean | undefined => {
        const row = rows[at];
        if (!row || (key !== "ArrowRight" && key !== "ArrowLeft")) return undefined;
        if (row.stack !== undefined)
            return key === "ArrowLeft" ? rows.findIndex((one) => one.group === row.group) : true;
        if (row.open === undefined) return true;
        if (key === "ArrowRight" && row.open) return at + 1;
        fold(row.group, key === "ArrowRight");
        return true;
    };
    return (
        <Split
            label="Details of the failure"
            back={group || stack !== undefined ? address("failures") : undefined}
            list={
                <>
                    <h2 class="hidden">Failures</h2>
                    <PickList
                        role="tree"
                        label="Failures"
                        count={rows.length}
                        size={size}
                        selected={place < 0 ? undefined : place}
                        onPick={(at, how) => {
                            const row = rows[at] as FailureRow;
                            pick(row.stack === undefined ? keyOf(row.group) : catalog.member(row.stack).id, how);
                        }}
                        onKey={onKey}
                        aria={(at) => {
                            const row = rows[at] as FailureRow;
                            return {
                                "aria-level": row.stack === undefined ? 1 : 2,
                                ...(row.open === undefined ? {} : { "aria-expanded": row.open }),
                            };
                        }}
                        row={(at) => (
                            <Line catalog={catalog} groups={groups} row={rows[at] as FailureRow} onFold={fold} />
                        )}
                        empty=""
                    />
                </>
            }
            detail={
                group ? (
                    <GroupDetail key={item} catalog={catalog} group={group} />
                ) : stack !== undefined ? (
                    <StackDetail key={item} catalog={catalog} index={stack} />
                ) : (
                    <p class="empty">Choose a failure to see what its stacks have in common.</p>
                )
            }
        />
    );
}

function Line(props: Props & { row: FailureRow; onFold: (group: number, open: boolean) => void }): JSX.Element {
    const { catalog, groups, row, onFold } = props;
    const group = groups[row.group] as Group;
    if (row.stack !== undefined)
        return (
            <div class="line group-stack">
                <StandingSign standing={group.outcome} />
                <span class="cut">{catalog.member(row.stack).id}</span>
            </div>
        );
    const many = group.stacks.length;
    return (
        <div class="group-line">
            <div class="line">
                {/* For the mouse: the keyboard has its arrows. */}
                <span
                    class="fold"
                    aria-hidden="true"
                    onClick={(event) => {
                        if (row.open === undefined) return;
                        event.stopPropagation();
                        onFold(row.group, !row.open);
                    }}
                >
                    {row.open === undefined ? "" : row.open ? "▾" : "▸"}
                </span>
                <StandingBadge standing={group.outcome} many={many} />
                {many === 1 && <span class="cut">{catalog.member(group.stacks[0] as number).id}</span>}
                {group.reason && <span class="dim">{group.reason}</span>}
                {group.skipped > 0 && <span class="dim">{`${whole(group.skipped)} skipped because of that`}</span>}
            </div>
            <p class="cut said">{group.text}</p>
        </div>
    );
}

function GroupDetail({ catalog, group }: { catalog: FleetCatalog; group: Group }): JSX.Element {
    const { stacks, outcome, reason, method, text, skipped, common } = group;
    if (stacks.length === 1) return <StackDetail catalog={catalog} index={stacks[0] as number} />;
    return (
        <div class="detail">
            <h2>
                {count(stacks.length, "stack")} {outcome} of the same
            </h2>
            <p class="badges">
                <StandingBadge standing={outcome} />
                {reason && <span class="badge tone-same">{reason}</span>}
                {method && <span class="badge tone-same">{method}</span>}
            </p>
            <p class={outcome === "failed" ? "message failure" : "message"}>{text}</p>
            {skipped > 0 && <p>{count(skipped, "stack")} skipped because of that.</p>}
            {common.length > 0 && (
                <section class="why" aria-label="What they have in common">
                    All of them have{" "}
                    {common.map(([name, value], place) => (
                        <span key={name}>
                            {place > 0 && ", "}
                            <code>
                                {name}={value}
                            </code>
                        </span>
                    ))}
                    .
                </section>
            )}
            <h3>Stacks</h3>
            <StackList catalog={catalog} stacks={stacks} standing={false} />
        </div>
    );
}
