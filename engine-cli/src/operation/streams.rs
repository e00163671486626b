//! Where an operation is shown.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use crate::failure::{Failure, Result};
use crate::terminal::capture;
use crate::workplace::Workplace;

/// Where the operation is shown, whatever is captured meanwhile.
pub(super) fn standard_output(workplace: &Workplace<'_>, is_pass: bool) -> Result<Box<dyn Write + Send>> {
    let console = &workplace.context.console;
    if workplace.context.library.is_some() {
        return Ok(Box::new(console.out()));
    }
    let out =
        capture::standard_output().map_err(|error| Failure::io("standard output cannot be kept aside", &error))?;
    // A preview that is not seen does not keep the operation itself from its work, which says it then.
    Ok(if is_pass { Box::new(out) } else { Box::new(console.kept_aside(out)) })
}

/// Where the operation is shown when stdout is for programs only.
pub(super) fn standard_error(workplace: &Workplace<'_>) -> Result<Box<dyn Write + Send>> {
    if workplace.context.library.is_some() {
        return Ok(Box::new(workplace.context.console.err()));
    }
    let err = capture::standard_error().map_err(|error| Failure::io("standard error cannot be kept aside", &error))?;
    Ok(Box::new(err))
}

/// A text that a display writes and somebody else reads afterwards.
#[derive(Clone, Default)]
pub(super) struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl SharedBuffer {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
