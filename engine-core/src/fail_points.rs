//! Named points at which the process kills itself, for tests that need a real SIGKILL and not the simulation's, by the crate `fail`.
//! `FAILPOINTS` turns them on (its grammar is that crate's: `FAILPOINTS='kill::after-intent=2*off->1*return'`), and nothing of this is left
//! in a build without the feature `for-tests`: neither the names, nor the variable, nor the crate. `examples/kill/points.py` goes through
//! them.
//!
//! The bugs of `engine-model/bugs` are turned on in the same way, as `planted::NAME`, in a tree that has them (`make model-bugs`). A point
//! belongs to the whole process, so a test that turns one on has a process of its own: `planted::is_noticed` starts it.

#[cfg(all(feature = "for-tests", debug_assertions))]
mod active {
    use std::sync::LazyLock;

    use fail::FailScenario;

    /// What the variable asks for holds as long as the process does.
    pub(super) static FROM_ENVIRONMENT: LazyLock<()> = LazyLock::new(|| std::mem::forget(FailScenario::setup()));

    /// Is the point turned on? Counts, where the variable says how often.
    #[must_use]
    pub fn is_on(point: &'static str) -> bool {
        LazyLock::force(&FROM_ENVIRONMENT);
        fail::fail_point!(point, |_| true);
        false
    }

    /// Ends the process as `kill -9` does, if the point is turned on.
    pub(crate) fn kill(point: &'static str) {
        if is_on(point) {
            kill_now();
        }
    }

    pub(crate) fn kill_now() -> ! {
        loop {
            // A process may always send itself a signal; there is nobody to tell if it may not.
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
    }
}

/// Is the planted bug of this name turned on?
#[cfg(feature = "planted-bugs")]
#[macro_export]
macro_rules! planted {
    ($bug:literal) => {
        $crate::fail_points::is_on(concat!("planted::", $bug))
    };
}

/// For the tests of the planted bugs.
#[cfg(feature = "planted-bugs")]
mod planted {
    use std::any::type_name;
    use std::process::Command;
    use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

    use fail::FailGuard;

    use super::active::FROM_ENVIRONMENT;

    /// A point that is on for the whole process until this is dropped. Only where every test of the process takes one: the others would
    /// meet it.
    #[derive(Debug)]
    pub struct TurnedOn {
        _point: FailGuard,
        _alone: MutexGuard<'static, ()>,
    }

    /// Turns a point on, when no other one is.
    #[must_use]
    pub fn turn_on(point: &'static str) -> TurnedOn {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        LazyLock::force(&FROM_ENVIRONMENT);
        #[expect(clippy::expect_used, reason = "`return` is an action of the crate's")]
        let point = FailGuard::new(point, "return").expect("an action");
        TurnedOn { _point: point, _alone: alone }
    }

    /// Does the test fail in a process in which the point is turned on?
    #[must_use]
    pub fn is_noticed<T: Fn()>(point: &str, test: T) -> bool {
        is_noticed_with(point, test, [])
    }

    /// The same, with more variables. A test that is not found fails nobody, so it notices nothing.
    #[must_use]
    #[expect(
        clippy::expect_used,
        clippy::disallowed_methods,
        reason = "only tests call it, in a process that may start others"
    )]
    pub fn is_noticed_with<'v, T: Fn()>(
        point: &str,
        _test: T,
        variables: impl IntoIterator<Item = (&'v str, &'v str)>,
    ) -> bool {
        let (_, name) = type_name::<T>().split_once("::").expect("a function in a crate");
        let output = Command::new(std::env::current_exe().expect("the test's program"))
            .args([name, "--exact"])
            .env("FAILPOINTS", format!("{point}=return"))
            .envs(variables)
            .output()
            .expect("the test's program can be started");
        !output.status.success()
    }
}

#[cfg(all(feature = "for-tests", debug_assertions))]
pub use active::is_on;
#[cfg(all(feature = "for-tests", debug_assertions))]
pub(crate) use active::{kill, kill_now};
#[cfg(feature = "planted-bugs")]
pub use planted::{TurnedOn, is_noticed, is_noticed_with, turn_on};

/// Nothing, without the feature.
#[cfg(not(all(feature = "for-tests", debug_assertions)))]
pub(crate) const fn kill(_point: &'static str) {}

#[cfg(all(test, feature = "planted-bugs"))]
mod tests {
    use super::is_noticed;

    #[test]
    fn a_point_is_off_unless_it_is_turned_on() {
        assert!(!crate::planted!("of-this-test"));
    }

    fn not_a_test() {}

    /// So that what [`is_noticed`] says of the others means something.
    #[test]
    fn a_test_fails_where_its_point_is_on_and_nowhere_else() {
        assert!(is_noticed("planted::of-this-test", a_point_is_off_unless_it_is_turned_on));
        assert!(!is_noticed("planted::of-another-test", a_point_is_off_unless_it_is_turned_on));
        assert!(!is_noticed("planted::of-this-test", not_a_test));
    }
}
