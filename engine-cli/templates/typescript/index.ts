// Keeps two notes as files in the directory `notes`.

import * as pulumi from "@pulumi/pulumi";

import { Note } from "./note";

const config = new pulumi.Config();
const author = config.get("author") ?? "nobody";

const first = new Note("first", { file: "first.txt", text: `written by ${author}` });
const second = new Note("second", {
    file: "second.txt",
    text: pulumi.interpolate`the first note says: ${first.text}`,
});

export const paths = [first.path, second.path];
