// What is told of a project that cannot be loaded as it is.

/** A mistake in the project, to be shown without a stack. */
export class ProjectError extends Error {
    // The SDK and we show errors of this kind by their message alone.
    readonly plain = true;
}
