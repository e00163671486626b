//! Commands whose output cannot be written.
#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::io::ErrorKind;

use crate::testing::World;

#[test]
fn output_that_is_lost_is_told_and_a_reader_who_has_gone_is_not() {
    let world = World::with_shared_state();
    world.output("stack init dev");
    world.output("config set size 3");
    for line in [
        "stack export",
        "stack history --json",
        "stack output --json",
        "stack ls",
        "config get size",
        "config --json",
        "whoami",
        "completion bash",
        "version",
    ] {
        let lost = world.run_unheard(line, ErrorKind::StorageFull);
        assert_eq!(lost.code, 1, "{line}: {lost:?}");
        assert!(lost.err.contains("the output could not be written: no storage space"), "{line}: {lost:?}");
        let gone = world.run_unheard(line, ErrorKind::BrokenPipe);
        assert_eq!((gone.code, gone.err.trim()), (0, ""), "{line}");
    }
}

#[test]
fn a_failure_of_the_command_itself_is_what_is_told() {
    let world = World::with_shared_state();
    let done = world.run_unheard("stack export --stack none", ErrorKind::StorageFull);
    assert!(done.code == 6 && !done.err.contains("written"), "{done:?}");
}

#[test]
fn an_export_that_fails_leaves_the_file_as_it_was() {
    let world = World::with_shared_state();
    world.output("stack init dev");
    let files = || {
        let entries = std::fs::read_dir(&world.project).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let before = files();
    let missing = world.failure("stack export --file none/export.json");
    assert!(missing.contains("none/export.json cannot be written"), "{missing}");
    assert_eq!(files(), before);
    world.output("stack export --file export.json");
    let first = world.read("export.json");
    assert!(first.starts_with('{') && first.contains("deployment"), "{first}");
    // Through a link the file behind it is written, which stays one.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::os::unix::fs::symlink("export.json", world.project.join("link.json")).unwrap();
        world.write("export.json", "old");
        world.output("stack export --file link.json");
        assert!(world.project.join("link.json").is_symlink());
        assert_eq!(world.read("export.json"), first);
        let mode = std::fs::metadata(world.project.join("export.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // A device takes what is written as it is.
    #[cfg(target_os = "linux")]
    {
        let full = world.failure("stack export --file /dev/full");
        assert!(full.contains("/dev/full cannot be written: No space left on device"), "{full}");
    }
}
