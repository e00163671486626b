// A picture with 256 colours: a screenshot has few, and as many more at the edges of its letters, which nobody misses.

import { crc32, deflateSync } from "node:zlib";

/** @param {{ width: number, height: number, data: Uint8Array }} image four bytes for each pixel, of which the last is not looked at */
export function palettePng({ width, height, data }) {
    const counts = new Map();
    for (let at = 0; at < data.length; at += 4) {
        const colour = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
        counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
    const palette = [...counts]
        .sort((a, b) => b[1] - a[1])
        .slice(0, 256)
        .map(([colour]) => colour);
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

function nearest(palette, colour) {
    let best = 0;
    let least = Number.POSITIVE_INFINITY;
    palette.forEach((other, place) => {
        const red = (other >> 16) - (colour >> 16);
        const green = ((other >> 8) & 255) - ((colour >> 8) & 255);
        const blue = (other & 255) - (colour & 255);
        const distance = red * red + green * green + blue * blue;
        if (distance < least) {
            least = distance;
            best = place;
        }
    });
    return best;
}

function chunk(type, data) {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
}
