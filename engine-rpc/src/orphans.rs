//! No plugin outlives the run, not even one that is killed.
//!
//! A shell waits beside the run for the end of a pipe that the run holds open. When that comes, however the run ended, the
//! shell ends the process groups of the plugins that are left. It needs no more than POSIX has, on every system.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Group numbers come in lines: `+N` for one that began, `-N` for one that has ended.
const WATCH: &str = "groups=' '
while read -r line; do
    case $line in
        +*) groups=\"$groups${line#+} \" ;;
        -*) groups=$(printf '%s' \"$groups\" | sed \"s/ ${line#-} / /\") ;;
    esac
done
for group in $groups; do kill -TERM \"-$group\" 2>/dev/null; done
[ -z \"${groups# }\" ] || sleep 2
for group in $groups; do kill -KILL \"-$group\" 2>/dev/null; done
exit 0";

/// The shell that waits, and the pipe.
pub struct OrphanWatch(Child);

impl OrphanWatch {
    /// Begins to wait. In a process group of its own: the terminal's Ctrl-C is not for it.
    pub fn begin() -> std::io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", WATCH]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.process_group(0).spawn().map(Self)
    }

    /// A plugin has begun, with its process group.
    pub fn began(&mut self, group: u32) {
        self.tell(&format!("+{group}\n"));
    }

    /// A plugin has ended.
    pub fn ended(&mut self, group: u32) {
        self.tell(&format!("-{group}\n"));
    }

    fn tell(&mut self, line: &str) {
        if let Some(pipe) = &mut self.0.stdin {
            // A shell that somebody killed watches no longer; the plugins are ended by the run all the same.
            drop(pipe.write_all(line.as_bytes()));
        }
    }
}

impl Drop for OrphanWatch {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        drop(self.0.wait());
    }
}
