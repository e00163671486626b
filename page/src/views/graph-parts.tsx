// The boxes and lines of the graph.

import type { JSX } from "preact";
import { type Box, type Layout, pathOf, TITLE } from "../graph/layout.ts";
import type { Catalog } from "../model/catalog.ts";
import { opWords, whole } from "../model/words.ts";

/** Longer texts do not fit into a box; the details have them whole. */
function short(text: string, most: number): string {
    return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

export function GraphBox(props: {
    catalog: Catalog;
    box: Box;
    selected: boolean;
    tabbable: boolean;
    onFocus: () => void;
    onActivate: () => void;
    onFold: () => void;
}): JSX.Element {
    const { catalog, box, selected, tabbable, onActivate, onFold } = props;
    const { item } = box;
    const sums = summary(catalog, item.members);
    const own = item.resource === undefined ? undefined : catalog.fate(item.resource);
    const cluster = item.kind === "cluster";
    const height = cluster ? TITLE : box.height;
    const letters = Math.floor((box.width - (cluster ? 60 : 40)) / 6.6);
    const small = Math.floor((box.width - 18) / 5.9);
    const tone = item.kind === "group" ? sums.tone : own ? (own.failed ? "failed" : opWords(own.op).tone) : undefined;
    const note = item.kind === "group" && sums.text ? `${item.note} · ${sums.text}` : item.note;
    const spoken = [
        item.label,
        note,
        own && (own.failed ? opWords(own.op).failed : opWords(own.op).done),
        item.kind === "group" ? "folded" : cluster ? "unfolded" : undefined,
    ].filter(Boolean);
    return (
        <g
            class={`box kind-${item.kind}${selected ? " selected" : ""}${item.resource !== undefined && catalog.resource(item.resource)?.gone ? " gone" : ""}`}
        >
            <g
                role="button"
                tabIndex={tabbable ? 0 : -1}
                data-box={item.id}
                aria-label={spoken.join(", ")}
                aria-pressed={item.kind === "resource" ? selected : undefined}
                aria-expanded={item.kind === "resource" ? undefined : cluster}
                onFocus={props.onFocus}
                onClick={onActivate}
            >
                <title>{`${item.label}\n${item.note}`}</title>
                {item.kind === "group" && (
                    <rect class="behind" x={box.x + 4} y={box.y + 4} width={box.width} height={height} rx="5" />
                )}
                <rect class="frame" x={box.x} y={box.y} width={box.width} height={height} rx="5" />
                {tone && <rect class={`edge fill-${tone}`} x={box.x} y={box.y} width="4" height={height} rx="2" />}
                {/* It cuts off what does not fit; the name of the button says all. */}
                <svg aria-hidden="true" x={box.x} y={box.y} width={box.width - (cluster ? 28 : 4)} height={height}>
                    <text x="12" y={cluster ? 19 : 17} class="label">
                        {short(item.label, letters)}
                        {cluster && <tspan class="small">{`  ${item.note}`}</tspan>}
                    </text>{" "}
                    {!cluster && (
                        <text x="12" y="32" class="small">
                            {short(note, small)}
                        </text>
                    )}
                </svg>
            </g>
            {!cluster && (own || item.kind === "group") && (
                // Beside the button: it is in the button's name as a word.
                <text
                    x={box.x + box.width - 14}
                    y={box.y + 17}
                    text-anchor="end"
                    aria-hidden="true"
                    class={
                        item.kind === "group" || !own
                            ? "small"
                            : `sign fill-${own.failed ? "failed" : opWords(own.op).tone}`
                    }
                >
                    {item.kind === "group" || !own ? "▸" : own.failed ? "!" : opWords(own.op).sign.replaceAll("-", "−")}
                </text>
            )}
            {cluster && (
                // The keyboard folds with Backspace.
                <g class="fold" aria-hidden="true" onClick={onFold}>
                    <rect x={box.x + box.width - 26} y={box.y + 4} width="22" height="22" rx="4" />
                    <text x={box.x + box.width - 15} y={box.y + 20} text-anchor="middle">
                        −
                    </text>
                </g>
            )}
        </g>
    );
}

/** What happened in a folded box: the worst of it as a colour, and how much of what. */
function summary(catalog: Catalog, members: number[]): { tone: string | undefined; text: string } {
    const ops = new Map<string, number>();
    let failed = 0;
    for (const member of members) {
        const fate = catalog.fate(member);
        if (fate?.failed) failed++;
        else if (fate && fate.op !== "same") ops.set(fate.op, (ops.get(fate.op) ?? 0) + 1);
    }
    const parts = [...ops]
        .sort((a, b) => b[1] - a[1])
        .slice(0, 2)
        .map(([op, many]) => `${opWords(op).sign.replaceAll("-", "−")}${whole(many)}`);
    if (failed > 0) parts.unshift(`!${whole(failed)}`);
    const most = [...ops].sort((a, b) => b[1] - a[1])[0];
    return { tone: failed > 0 ? "failed" : most && opWords(most[0]).tone, text: parts.join(" ") };
}

type Line = Layout["lines"][number];

/** The box of the chosen resource. */
function chosenBox(drawn: Layout, selected: number | undefined): string | undefined {
    return selected === undefined ? undefined : drawn.boxes.find(({ item }) => item.resource === selected)?.item.id;
}

function lineText({ link }: Line): string {
    return link.properties.length > 0 ? link.properties.join(", ") : link.kind === "deletedWith" ? "deletedWith" : "";
}

/** What stands below the boxes: the lines. */
export function GraphLines(props: { drawn: Layout; selected: number | undefined }): JSX.Element {
    const own = chosenBox(props.drawn, props.selected);
    return (
        <g class="lines">
            {props.drawn.lines.map((line) => {
                const { link, points } = line;
                const touched = own !== undefined && (link.from === own || link.to === own);
                return (
                    <g key={`${link.kind} ${link.from} ${link.to}`} class={touched ? "line touched" : "line"}>
                        <path d={pathOf(points)} class={`kind-${link.kind}`} marker-end="url(#arrow)" fill="none">
                            <title>{`${lineText(line) || link.kind}${link.count > 1 ? ` (${link.count})` : ""}`}</title>
                        </path>
                    </g>
                );
            })}
        </g>
    );
}

/** What stands above the boxes: what the lines of the chosen resource say. */
export function GraphTexts(props: { drawn: Layout; selected: number | undefined }): JSX.Element {
    const own = chosenBox(props.drawn, props.selected);
    const touched =
        own === undefined ? [] : props.drawn.lines.filter(({ link: { from, to } }) => from === own || to === own);
    return (
        <g class="texts">
            {touched.map((line) => {
                const { link, points } = line;
                // At the other end: there the texts of many lines are beside each other.
                const way = own === link.from ? [...points].reverse() : points;
                const [text, at] = [lineText(line), along(way)];
                if (!text || !at) return undefined;
                const right = (way[1]?.[0] ?? 0) >= (way[0]?.[0] ?? 0);
                return (
                    <text
                        key={`${link.kind} ${link.from} ${link.to}`}
                        x={at[0]}
                        y={at[1] - 4}
                        text-anchor={right ? "start" : "end"}
                        class="small"
                    >
                        {short(text, 30)}
                    </text>
                );
            })}
        </g>
    );
}

/** A place on a line, near its beginning. */
function along(points: [number, number][]): [number, number] | undefined {
    const [first, second] = points;
    if (!first || !second) return first;
    const length = Math.hypot(second[0] - first[0], second[1] - first[1]);
    const share = Math.min(0.6, 8 / Math.max(length, 1));
    return [first[0] + (second[0] - first[0]) * share, first[1] + (second[1] - first[1]) * share];
}
