// The files of notes, as the package `note-files`.
const fs = require("node:fs");
const path = require("node:path");

const place = (id) => path.join(process.env.NOTES_WORLD, `${id}.json`);

exports.write = (id, said) => fs.writeFileSync(place(id), JSON.stringify({ ...said, cwd: process.cwd() }));
exports.read = (id) => (fs.existsSync(place(id)) ? JSON.parse(fs.readFileSync(place(id), "utf8")).text : undefined);
exports.remove = (id) => fs.rmSync(place(id), { force: true });
