// A picture with 256 colours: a screenshot has few, and as many more at the edges of its letters, which nobody misses.

import { crc32, deflateSync } from "node:zlib";

/** @param {{ width: number, height: number, data: Uint8Array }} image four bytes for each pixel, of which the last is not looked at */
export function palettePng({ width, height, data }) {
    const counts = new Map();
    for (let at = 0; at < data.length; at += 4) {
        const colour = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
        counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
    const palette = chosen(counts);
    const places = new Map(palette.map((colour, place) => [colour, place]));
    const rows = Buffer.alloc((width + 1) * height);
    for (let pixel = 0; pixel < width * height; pixel++) {
        const at = pixel * 4;
        const colour = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
        let place = places.get(colour);
        if (place === undefined) {
            place = nearest(palette, colour);
            places.set(colour, place);
        }
        // Each row begins with its filter: none.
        rows[pixel + Math.floor(pixel / width) + 1] = place;
    }
    const header = Buffer.alloc(13);
    header.writeUInt32BE(width, 0);
    header.writeUInt32BE(height, 4);
    header.set([8, 3, 0, 0, 0], 8);
    const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
    const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
    return Buffer.concat([
        signature,
        chunk("IHDR", header),
        chunk("PLTE", colours),
        chunk("IDAT", deflateSync(rows, { level: 9, memLevel: 9 })),
        chunk("IEND", Buffer.alloc(0)),
    ]);
}

/** One colour after the other: that which is much used and far from those that are chosen. */
function chosen(counts) {
    const colours = [...counts].map(([colour, count]) => ({ colour, count, away: Number.MAX_SAFE_INTEGER }));
    const palette = [];
    while (palette.length < 256) {
        const best = colours.reduce((most, one) => (one.count * one.away > most.count * most.away ? one : most));
        if (best.away === 0) break;
        palette.push(best.colour);
        for (const one of colours) one.away = Math.min(one.away, distance(one.colour, best.colour));
    }
    return palette;
}

function nearest(palette, colour) {
    const far = palette.map((other) => distance(other, colour));
    return far.indexOf(Math.min(...far));
}

/** The square of how far apart two colours are. */
function distance(one, other) {
    const red = (one >> 16) - (other >> 16);
    const green = ((one >> 8) & 255) - ((other >> 8) & 255);
    const blue = (one & 255) - (other & 255);
    return red * red + green * green + blue * blue;
}

function chunk(type, data) {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
}
