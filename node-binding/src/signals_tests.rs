use std::sync::atomic::{AtomicBool, Ordering};

use super::let_handlers_end;

static SECOND: AtomicBool = AtomicBool::new(false);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

extern "C" fn first(_signal: libc::c_int) {
    // SAFETY: raise(3) may be called where signals are handled.
    unsafe { libc::raise(libc::SIGUSR2) };
    INTERRUPTED.store(SECOND.load(Ordering::SeqCst), Ordering::SeqCst);
}

extern "C" fn second(_signal: libc::c_int) {
    SECOND.store(true, Ordering::SeqCst);
}

#[test]
fn a_signal_waits_until_another_one_is_handled() {
    let handle = |signal, handler: extern "C" fn(libc::c_int)| {
        // SAFETY: the handlers do nothing but what may be done where signals are handled.
        unsafe { libc::signal(signal, handler as *const () as libc::sighandler_t) };
    };
    // Signals of a process can be on any thread; `raise` has them on this one.
    let raise = || {
        SECOND.store(false, Ordering::SeqCst);
        // SAFETY: both signals have handlers.
        unsafe { libc::raise(libc::SIGUSR1) };
        (INTERRUPTED.load(Ordering::SeqCst), SECOND.load(Ordering::SeqCst))
    };
    handle(libc::SIGUSR1, first);
    handle(libc::SIGUSR2, second);
    assert_eq!(raise(), (true, true), "what is mended here");
    let_handlers_end(&[libc::SIGUSR1]);
    assert_eq!(raise(), (false, true));
}
