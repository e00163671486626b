//! The terminal of the process, lent to the program that is run.
//!
//! While an operation goes on, what is printed is captured and the display has the terminal. A debugger, or a program that
//! asks something, needs it itself: the display takes its live view away and stands back, and descriptors 1 and 2 are the
//! terminal's until it is given back. The bindings know when somebody begins to read from it, and call [`borrow`] and
//! [`give_back`] around that. Descriptors belong to the process, and so does this.

pub(crate) mod capture;
pub(crate) mod console;
pub(crate) mod prompt;
pub(crate) mod signals;

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::display::Display;
use crate::terminal::capture::{Capture, Lendable, LentDescriptors};

pub use signals::{leave, when_signals_are_handled};

/// Who reads from the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Something that asks. Ctrl-C cancels the run as ever.
    Prompt,
    /// A debugger, to which Ctrl-C belongs.
    Debugger,
}

/// The terminal of the operation that goes on, if it can be lent.
static LENDER: Mutex<Option<Arc<Lender>>> = Mutex::new(None);

struct Lender {
    lines: Lendable,
    display: Option<Arc<dyn Display>>,
    loans: Mutex<Loans>,
}

#[derive(Default)]
struct Loans {
    prompts: usize,
    debuggers: usize,
    /// What is there to be put back.
    lent: Option<LentDescriptors>,
    /// The operation is over, and has put everything back.
    over: bool,
}

impl Loans {
    fn of(&mut self, reader: Reader) -> &mut usize {
        match reader {
            Reader::Prompt => &mut self.prompts,
            Reader::Debugger => &mut self.debuggers,
        }
    }
}

impl Lender {
    fn loans(&self) -> MutexGuard<'_, Loans> {
        self.loans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lend(&self, reader: Reader) -> bool {
        let mut loans = self.loans();
        if loans.over {
            return false;
        }
        if loans.lent.is_none() {
            self.display.iter().for_each(|display| display.stand_back());
            match self.lines.lend() {
                Ok(lent) => loans.lent = Some(lent),
                Err(_) => {
                    // Whoever reads does so behind the live view, as well as that goes.
                    self.display.iter().for_each(|display| display.go_on());
                    return false;
                }
            }
        }
        *loans.of(reader) += 1;
        true
    }

    fn take_back(&self, reader: Reader) {
        let mut loans = self.loans();
        let of_reader = loans.of(reader);
        *of_reader = of_reader.saturating_sub(1);
        if loans.prompts + loans.debuggers == 0 {
            self.end(&mut loans);
        }
    }

    fn end(&self, loans: &mut Loans) {
        if let Some(lent) = loans.lent.take() {
            self.lines.take_back(lent);
            self.display.iter().for_each(|display| display.go_on());
        }
    }
}

fn lender() -> Option<Arc<Lender>> {
    LENDER.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Can the terminal be borrowed: does an operation of this process have one to read from and to write to?
#[must_use]
pub fn is_to_be_had() -> bool {
    lender().is_some()
}

/// Gives the terminal to the program, until [`give_back`] was called as often. `false`: there is none to be had, and
/// nothing is to be given back.
#[must_use]
pub fn borrow(reader: Reader) -> bool {
    lender().is_some_and(|lender| lender.lend(reader))
}

/// Ends what [`borrow`] began.
pub fn give_back(reader: Reader) {
    if let Some(lender) = lender() {
        lender.take_back(reader);
    }
}

/// Does a debugger have the terminal?
pub(crate) fn has_debugger() -> bool {
    lender().is_some_and(|lender| lender.loans().debuggers > 0)
}

/// Says something that cannot wait until the display has the terminal again.
pub(crate) fn say_if_lent(text: &str) {
    if lender().is_some_and(|lender| lender.loans().lent.is_some()) {
        // A terminal that is gone has nobody who reads it.
        let _ = writeln!(std::io::stderr(), "\r\n{text}");
    }
}

/// Ends the lending when it is dropped; before the capture is.
pub(crate) struct Lending(());

impl Drop for Lending {
    fn drop(&mut self) {
        let lender = LENDER.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(lender) = lender {
            let mut loans = lender.loans();
            loans.over = true;
            lender.end(&mut loans);
        }
    }
}

/// From now on the terminal can be borrowed, where there is one. `display` is what shows something on it meanwhile.
pub(crate) fn lend(capture: &Capture, display: Option<&Arc<dyn Display>>) -> Option<Lending> {
    let lines = capture.lendable();
    if !std::io::stdin().is_terminal() || !lines.are_of_a_terminal() {
        return None;
    }
    let lender = Lender { lines, display: display.cloned(), loans: Mutex::default() };
    *LENDER.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(lender));
    Some(Lending(()))
}
