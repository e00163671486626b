//! The end of a command line's process, whatever its JavaScript has been made to do.
//!
//! The package ends the process with the command's exit code. Code of a user can take from Node what that depends on: listeners of
//! `process`, prototypes, promises. Node then ends with success in the middle of a run, or never ends.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use napi::Env;

use crate::callback::{Crossing, Message};

/// How long the engine may take to record what happened, and the package to end the process.
const PATIENCE: Duration = Duration::from_secs(10);
/// The exit code of a run in which something failed.
const FAILED: i32 = 1;

/// Takes the exit code of a command, once it has one.
pub(crate) struct Ending {
    crossing: Arc<Crossing>,
    over: Sender<i32>,
}

impl Ending {
    /// Stands in the way of a Node that ends before the command does.
    pub(crate) fn guard(env: Env, crossing: &Arc<Crossing>) -> napi::Result<Self> {
        let (over, code) = channel();
        env.add_env_cleanup_hook((Arc::clone(crossing), code), |(crossing, code)| ended(&crossing, &code))?;
        Ok(Self { crossing: Arc::clone(crossing), over })
    }

    /// The command is over: has the package end the process, and ends it where the package does not.
    pub(crate) async fn end(self, code: i32) {
        let Self { crossing, over } = self;
        // Nobody listens where the process is ending already.
        let _ = over.send(code);
        crossing.post(Message::Exit { code });
        tokio::time::sleep(PATIENCE).await;
        if !crossing.is_leaving() {
            maloko_cli::terminal::leave(code);
        }
    }
}

/// Node's loop has ended. A command that goes on is told that nobody answers it any more, and leaves with its own exit code.
fn ended(crossing: &Crossing, code: &Receiver<i32>) {
    if !crossing.is_leaving() {
        crossing.close();
        maloko_cli::terminal::leave(code.recv_timeout(PATIENCE).unwrap_or(FAILED));
    }
}
