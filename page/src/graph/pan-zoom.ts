// Moving and zooming a drawing: by mouse, by touch, by wheel. The scene is moved without drawing it anew.

import { useEffect, useRef } from "preact/hooks";

export interface View {
    x: number;
    y: number;
    scale: number;
}

const MIN_SCALE = 0.05;
const MAX_SCALE = 3;

/** The view in which all of a drawing is seen, at its own size at most. */
export function fitted(drawing: { width: number; height: number }, frame: { width: number; height: number }): View {
    const margin = 24;
    const room = (length: number) => Math.max(length - 2 * margin, 40);
    const scale = Math.min(
        1,
        room(frame.width) / Math.max(drawing.width, 1),
        room(frame.height) / Math.max(drawing.height, 1),
    );
    const kept = Math.max(scale, MIN_SCALE);
    return {
        scale: kept,
        x: Math.max((frame.width - drawing.width * kept) / 2, margin),
        y: Math.max((frame.height - drawing.height * kept) / 2, margin),
    };
}

/** Zooms about a point that stays where it is. */
export function zoomed(view: View, factor: number, [x, y]: [number, number]): View {
    const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, view.scale * factor));
    const by = scale / view.scale;
    return { scale, x: x - (x - view.x) * by, y: y - (y - view.y) * by };
}

export function usePanZoom() {
    const frame = useRef<HTMLDivElement>(null);
    const scene = useRef<SVGGElement>(null);
    const view = useRef<View>({ x: 0, y: 0, scale: 1 });
    const apply = (next: View) => {
        view.current = next;
        scene.current?.setAttribute("transform", `translate(${next.x} ${next.y}) scale(${next.scale})`);
    };
    const zoom = (factor: number) => {
        const size = frame.current?.getBoundingClientRect();
        if (size) apply(zoomed(view.current, factor, [size.width / 2, size.height / 2]));
    };
    useEffect(() => {
        const element = frame.current;
        if (!element) return;
        const pointers = new Map<number, [number, number]>();
        let moved = 0;
        const down = (event: PointerEvent) => {
            if (event.button !== 0 || (event.target as Element).closest("button")) return;
            if (pointers.size === 0) moved = 0;
            pointers.set(event.pointerId, [event.clientX, event.clientY]);
        };
        const move = (event: PointerEvent) => {
            const before = pointers.get(event.pointerId);
            if (!before) return;
            const now: [number, number] = [event.clientX, event.clientY];
            const by: [number, number] = [now[0] - before[0], now[1] - before[1]];
            const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
            pointers.set(event.pointerId, now);
            moved += Math.abs(by[0]) + Math.abs(by[1]);
            if (moved > 4 && !element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
            const { x, y, scale } = view.current;
            if (!other) return apply({ scale, x: x + by[0], y: y + by[1] });
            const corner = element.getBoundingClientRect();
            const far = (one: [number, number]) => Math.hypot(one[0] - other[0], one[1] - other[1]) || 1;
            apply(zoomed(view.current, far(now) / far(before), [other[0] - corner.left, other[1] - corner.top]));
        };
        const up = (event: PointerEvent) => {
            pointers.delete(event.pointerId);
        };
        // The end of a movement is no click.
        const click = (event: MouseEvent) => {
            if (moved > 4) event.stopPropagation();
            moved = 0;
        };
        const wheel = (event: WheelEvent) => {
            event.preventDefault();
            const corner = element.getBoundingClientRect();
            const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
            const factor = Math.exp(-event.deltaY * lines * 0.0015);
            apply(zoomed(view.current, factor, [event.clientX - corner.left, event.clientY - corner.top]));
        };
        element.addEventListener("pointerdown", down);
        element.addEventListener("pointermove", move);
        element.addEventListener("pointerup", up);
        element.addEventListener("pointercancel", up);
        element.addEventListener("click", click, true);
        element.addEventListener("wheel", wheel, { passive: false });
        return () => {
            element.removeEventListener("pointerdown", down);
            element.removeEventListener("pointermove", move);
            element.removeEventListener("pointerup", up);
            element.removeEventListener("pointercancel", up);
            element.removeEventListener("click", click, true);
            element.removeEventListener("wheel", wheel);
        };
    }, []);
    return { frame, scene, view, zoom, apply };
}
