// Where the files of this package are.

import path from "node:path";

/** The directory that holds the package's compiled files. */
export const OWN_DIRECTORY: string = path.dirname(__dirname);
