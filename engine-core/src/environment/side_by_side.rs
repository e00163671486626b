//! Two halves of one computation at the same time.

use std::panic::resume_unwind;
use std::thread;

/// A text of so many bytes takes longer to read, or to hash, than a thread takes to begin.
pub(crate) const LONG_TEXT: usize = 1 << 18;

/// Runs two computations and returns both results. The second one has a thread of its own, unless `is_worth_it` is false: then it
/// follows the first. Neither may do anything but compute, so a simulation need not own the thread. A panic of either goes on in
/// the caller.
pub(crate) fn side_by_side<A, B: Send>(
    is_worth_it: bool,
    here: impl FnOnce() -> A,
    beside: impl Fn() -> B + Send + Sync,
) -> (A, B) {
    if !is_worth_it {
        return (here(), beside());
    }
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("maloko-beside".to_owned()).spawn_scoped(scope, &beside);
        let here = here();
        // A machine that has no thread to give is slower, and that is all.
        let beside =
            thread.map_or_else(|_| beside(), |thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        (here, beside)
    })
}

#[cfg(test)]
#[path = "side_by_side_tests.rs"]
mod tests;
