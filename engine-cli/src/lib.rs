//! The command line of maloko: arguments, progress, diffs and JSON events, over `maloko-core`, in either host.

pub mod display;
pub mod front;

use std::ffi::OsString;
use std::sync::Arc;

pub use front::{Front, FrontAbout, Language, PassResult, ProgramSpec};

/// Runs the command line with these arguments (without the program's name) and gives the exit code.
pub async fn run(_arguments: Vec<OsString>, _front: Arc<dyn Front>) -> i32 {
    255
}
