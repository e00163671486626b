//! Who we are on this machine: the process, the user, the host.

/// Knows whether it is still in the process that made it. A process that user code forked has copies of everything we
/// hold, but none of our threads, and none of our rights.
#[derive(Clone, Copy, Debug)]
pub struct OwnProcess(u32);

impl OwnProcess {
    /// This process.
    #[must_use]
    pub fn here() -> Self {
        Self(std::process::id())
    }

    #[cfg(test)]
    pub(crate) fn of(process: u32) -> Self {
        Self(process)
    }

    /// Is this the process that it was made in, and no copy of it?
    #[must_use]
    pub fn is_here(self) -> bool {
        self.0 == std::process::id()
    }
}

/// The name of this machine; empty when it cannot be found out.
pub(crate) fn host_name() -> String {
    #[cfg(unix)]
    {
        rustix::system::uname().nodename().to_string_lossy().into_owned()
    }
    #[cfg(not(unix))]
    {
        std::env::var("COMPUTERNAME").unwrap_or_default()
    }
}

/// Has the process of this number on this machine ended? `false` where that cannot be found out.
pub(crate) fn has_ended(pid: u32) -> bool {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, test_kill_process};
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        pid.is_some_and(|pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
    }
    #[cfg(not(unix))]
    {
        let _ = pid;
        false
    }
}

/// The login name as the environment tells it, else the system's own record of users, which is all that containers and cron
/// jobs have; empty when neither does.
pub(crate) fn user_name() -> String {
    user_name_in(&|name| std::env::var(name).ok())
}

fn user_name_in(variable: &dyn Fn(&str) -> Option<String>) -> String {
    let told = |name: &&str| variable(name).filter(|user| !user.is_empty());
    let user = ["USER", "LOGNAME", "USERNAME"].iter().find_map(told);
    user.or_else(|| whoami::username().ok()).unwrap_or_default()
}

#[cfg(test)]
#[path = "platform_tests.rs"]
mod tests;
