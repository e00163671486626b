// What the run did, property by property; the plan beside it; two states side by side.

import type { JSX } from "preact";
import type { Step } from "../data.ts";
import type { Catalog } from "../model/catalog.ts";
import { Split, Tabs } from "../parts/layout.tsx";
import { address, go, route } from "../route.ts";
import { Plan } from "./plan.tsx";
import { StepDetail } from "./step-detail.tsx";
import { StepList } from "./step-list.tsx";

type Show = "run" | "plan" | "states";

export function Changes({ catalog }: { catalog: Catalog }): JSX.Element {
    const { run, comparison } = catalog.data;
    const { params } = route.value;
    const tabs: [Show, string][] = [];
    if (run) tabs.push(["run", run.dryRun ? "What would change" : "This run"]);
    if (run?.plan) tabs.push(["plan", "Plan and result"]);
    if (comparison) tabs.push(["states", "Two states"]);
    const first = tabs[0]?.[0];
    if (!first) return <p class="empty">This page is of the stack alone: no changes are in it.</p>;
    const show = tabs.find(([name]) => name === params.show)?.[0] ?? first;
    const steps = show === "states" ? (comparison?.steps ?? []) : (run?.steps ?? []);
    const { item } = route.value;
    const selected = show !== "plan" && item !== undefined && steps[Number(item)] ? Number(item) : undefined;
    const body = (
        <Tabs
            label="Which changes"
            tabs={tabs}
            chosen={show}
            onChoose={(name) => go({ view: "changes", params: name === first ? {} : { show: name } })}
        >
            {show === "plan" ? (
                <Plan catalog={catalog} />
            ) : (
                <StepList
                    catalog={catalog}
                    steps={steps}
                    selected={selected}
                    note={show === "states" && comparison ? `${comparison.from} → ${comparison.to}` : undefined}
                />
            )}
        </Tabs>
    );
    if (show === "plan") return body;
    return (
        <Split
            label="Details of the step"
            back={selected === undefined ? undefined : address("changes", undefined, params)}
            list={body}
            detail={
                selected === undefined ? (
                    <p class="empty">Choose a step to see what it changed, and why.</p>
                ) : (
                    <StepDetail
                        catalog={catalog}
                        step={steps[selected] as Step}
                        index={selected}
                        ofRun={show === "run"}
                    />
                )
            }
        />
    );
}
