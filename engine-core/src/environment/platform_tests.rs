#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

#[cfg(unix)]
#[test]
fn the_user_has_a_name_without_an_environment() {
    let told = std::process::Command::new("id").arg("-un").output().unwrap();
    assert_eq!(user_name_in(&|_| None), String::from_utf8(told.stdout).unwrap().trim());
    assert_eq!(user_name_in(&|name| (name == "LOGNAME").then(|| "ada".to_owned())), "ada");
    assert_ne!(user_name_in(&|name| (name == "USER").then(String::new)), "");
}

#[cfg(unix)]
#[test]
fn a_process_has_ended_once_nobody_has_its_number() {
    let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    assert!(!has_ended(child.id()));
    drop(child.stdin.take());
    child.wait().unwrap();
    assert!(has_ended(child.id()));
    assert!(!has_ended(0), "nobody's number");
}
