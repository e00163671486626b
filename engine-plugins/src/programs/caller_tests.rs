use std::os::unix::fs::symlink;
use std::path::Path;

use super::{program, script};
use crate::programs::runtime_command::PluginRuntime::{Node, Python};

/// A process as the system describes it.
fn process(folder: &Path, called: &str, executable: &str, path: &str) {
    std::fs::write(folder.join("cmdline"), format!("{called}\0app.py\0")).expect("a file");
    std::fs::write(folder.join("environ"), format!("A=b\0PATH={path}\0")).expect("a file");
    symlink(executable, folder.join("exe")).expect("a link");
}

#[test]
fn the_interpreter_is_that_of_the_environment_in_which_the_caller_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::create_dir(folder.join("bin")).expect("a folder");
    let own = folder.join("bin/python");
    std::fs::write(&own, "").expect("a file");
    process(folder, "python", "/usr/bin/python3.11", &format!("/nowhere:{}", folder.join("bin").display()));
    assert_eq!(program(folder, folder, Python), Some(own.clone()));
    assert_eq!(program(folder, folder, Node), None);
    std::fs::write(folder.join("cmdline"), "bin/python\0-c\0").expect("a file");
    assert_eq!(program(folder, folder, Python), Some(own));
    std::fs::write(folder.join("app.js"), "").expect("a file");
    std::fs::write(folder.join("cmdline"), "node\0--import\0x/register\0app.js\0y\0").expect("a file");
    assert_eq!(script(folder, folder), folder.join("app.js").canonicalize().ok());
    std::fs::write(folder.join("cmdline"), "python\0-m\0app.js\0").expect("a file");
    assert_eq!(script(folder, folder), None);
    std::fs::write(folder.join("cmdline"), "renamed\0").expect("a file");
    assert_eq!(program(folder, folder, Python), Some("/usr/bin/python3.11".into()));
}
