//! How the handlers of signals that the command line sets get on with those of Node.

#![expect(unsafe_code, reason = "no safe interface to sigaction(2) keeps the handler and changes its mask")]

/// Has each of these signals keep all others waiting while it is handled.
///
/// The handlers call those of libuv, which hold a lock while they note a signal, and which libuv itself only sets so that nothing
/// interrupts them. A second signal on the same thread would wait for that lock for ever: a closed terminal sends SIGHUP and
/// SIGTERM at once, and Ctrl-C ends children, whose SIGCHLD comes in the same moment.
pub(crate) fn let_handlers_end(signals: &[i32]) {
    for signal in signals {
        // SAFETY: sigaction(2) and sigfillset(3) read and write these values, and keep none of them.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(*signal, std::ptr::null(), &raw mut action) == 0 {
                libc::sigfillset(&raw mut action.sa_mask);
                libc::sigaction(*signal, &raw const action, std::ptr::null_mut());
            }
        }
    }
}

#[cfg(test)]
#[path = "signals_tests.rs"]
mod tests;
