//! What every store of stacks has to do, as cases that any [`Backend`] can be put through. They need no test framework.
//!
//! A store hands in a [`Rig`], which makes empty stores; each case opens a store by several machines, that is, by
//! backend objects that share nothing but what is stored. A test then reads:
//!
//! ```text
//! let report = futures::executor::block_on(conformance::run(&MyRig, &[]));
//! assert!(report.failures().is_empty(), "{report}");
//! ```
//!
//! The cases never wait for a clock: how long a store waits before it takes over a lease whose holder has died is for
//! its own tests, with real processes.
#![expect(clippy::disallowed_methods, reason = "holders are compared with the process that runs the cases")]

mod bytes;
mod fencing;
mod fixture;
mod generations;
mod history;
mod journal;
mod leases;
mod listing;
mod losses;
mod recovery;
mod seals;
mod stacks;
mod tags;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;

use crate::error::Result;

use super::backend::Backend;
use super::name::StackName;

pub use fixture::CaseFailure;
use fixture::{Bench, Outcome};

/// Makes stores to be tested.
#[async_trait]
pub trait Rig: Send + Sync {
    /// A store of its own with nothing in it.
    async fn store(&self) -> Result<Box<dyn Store>>;
}

/// One store, which any number of machines can open. Dropping it may throw its content away.
#[async_trait]
pub trait Store: Send + Sync {
    /// The store as one more machine sees it.
    async fn machine(&self) -> Result<Arc<dyn Backend>>;

    /// Loses the checkpoint of a stack and nothing else, as a failing disk or somebody with access may: a file, an object
    /// or a resource goes. False says that what this store holds cannot be lost in parts.
    async fn lose_checkpoint(&self, _stack: &StackName) -> Result<bool> {
        Ok(false)
    }
}

/// One thing that is asked of every store.
#[derive(Clone, Copy)]
pub struct Case {
    /// What the store does, as a sentence without blanks.
    pub name: &'static str,
    run: fn(Bench) -> BoxFuture<'static, Outcome>,
}

impl Case {
    /// Runs the case in a new store of the rig.
    pub async fn run(&self, rig: &dyn Rig) -> std::result::Result<(), CaseFailure> {
        let bench = Bench::new(rig.store().await?);
        (self.run)(bench).await
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Lists a module's cases: the functions' names are the cases' names.
macro_rules! list {
    ($($name:ident),+ $(,)?) => {
        pub(super) const CASES: &[super::Case] =
            &[$(super::Case { name: stringify!($name), run: |bench| Box::pin($name(bench)) }),+];
    };
}
use list;

/// All cases.
#[must_use]
pub fn cases() -> Vec<Case> {
    let groups: [&[Case]; 12] = [
        stacks::CASES,
        bytes::CASES,
        journal::CASES,
        recovery::CASES,
        losses::CASES,
        leases::CASES,
        fencing::CASES,
        generations::CASES,
        seals::CASES,
        history::CASES,
        tags::CASES,
        listing::CASES,
    ];
    groups.concat()
}

/// The outcome of each case, in the order of [`cases`].
#[derive(Debug)]
pub struct Report {
    /// The cases and what they ended with.
    pub verdicts: Vec<(Case, std::result::Result<(), CaseFailure>)>,
}

impl Report {
    /// The names of the cases that failed.
    #[must_use]
    pub fn failures(&self) -> Vec<&'static str> {
        self.verdicts.iter().filter(|(_, diff_result)| diff_result.is_err()).map(|(case, _)| case.name).collect()
    }
}

/// The failures with their reasons, or how many cases passed.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut passed = 0;
        for (case, diff_result) in &self.verdicts {
            match diff_result {
                Ok(()) => passed += 1,
                Err(failed) => writeln!(f, "{}: {failed}", case.name)?,
            }
        }
        write!(f, "{passed} of {} cases passed", self.verdicts.len())
    }
}

/// The one case that the suite is to run where it would run all.
const CASE_VARIABLE: &str = "MALOKO_CONFORMANCE_CASE";

/// Runs the cases of these names (all, when there are none), one after the other.
#[expect(clippy::disallowed_methods, reason = "asked for by `unnoticed_bugs`, of another process")]
pub async fn run(rig: &dyn Rig, names: &[&str]) -> Report {
    let only = std::env::var(CASE_VARIABLE).ok();
    let only = only.as_deref();
    let names = if names.is_empty() { only.as_slice() } else { names };
    let mut verdicts = Vec::new();
    for case in cases().into_iter().filter(|case| names.is_empty() || names.contains(&case.name)) {
        let diff_result = case.run(rig).await;
        verdicts.push((case, diff_result));
    }
    Report { verdicts }
}

/// The bugs of leases and fences that the suite does not notice in a store, each with the case that has to; none in a store that has
/// the fail points where it should. `suite` is the store's own test that runs every case.
#[cfg(feature = "planted-bugs")]
pub fn unnoticed_bugs<T: Fn() + Copy>(suite: T) -> Vec<(&'static str, &'static str)> {
    use crate::fail_points::is_noticed_with;
    let promises = [
        ("planted::lease-shared", "one_machine_at_a_time_may_write"),
        ("planted::lease-shared", "of_many_leases_at_once_exactly_one_is_given"),
        ("planted::fence-dropped", "a_holder_that_lost_its_lock_writes_nothing"),
        ("planted::fence-dropped", "a_zombie_writes_nothing_while_another_one_works"),
    ];
    let noticed = |(point, case): &(&str, &str)| is_noticed_with(point, suite, [(CASE_VARIABLE, *case)]);
    promises.into_iter().filter(|promise| !noticed(promise)).collect()
}

#[cfg(test)]
#[path = "conformance_tests.rs"]
mod tests;
