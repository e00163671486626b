//! Names of stacks, in Pulumi's grammar.

use std::fmt;

use crate::error::{Error, Result};

/// The only organization of self-managed state.
pub const ORGANIZATION: &str = "organization";
const MAX_LENGTH: usize = 100;
/// How much of a name is shown that is too long.
const SHOWN_OF_LONG: usize = 30;
/// Names of devices, which Windows takes for files in every directory, whatever their ending.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
/// Devices that have a number from 1 to 9.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// The name of a stack within a backend: its project and its short name, both checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackName {
    project: String,
    stack: String,
}

impl StackName {
    /// A stack of a project. Both names: 1 to 100 letters, digits, `-`, `_` and `.`, but neither `.` nor `..`.
    pub fn new(project: &str, stack: &str) -> Result<Self> {
        check_part("project", project)?;
        check_part("stack", stack)?;
        Ok(Self { project: project.to_owned(), stack: stack.to_owned() })
    }

    /// Reads `<stack>`, `organization/<stack>` or `organization/<project>/<stack>`; a missing project is `project`.
    pub fn parse(text: &str, project: &str) -> Result<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        let (organization, project, stack) = match parts.as_slice() {
            [stack] => (ORGANIZATION, project, *stack),
            [organization, stack] => (*organization, project, *stack),
            [organization, project, stack] => (*organization, *project, *stack),
            _ => {
                return Err(not_a_name(text));
            }
        };
        if organization != ORGANIZATION {
            return Err(not_a_name(text));
        }
        Self::new(project, stack)
    }

    /// Refuses names that a new stack had better not have, because a command line or the file system of another machine
    /// cannot use them. A stack that has one already can be worked on all the same.
    ///
    /// # Errors
    /// [`Error::Configuration`], with what is wrong with which of the two names.
    pub fn check_new(&self) -> Result<()> {
        for (what, name) in [("project", &self.project), ("stack", &self.stack)] {
            let problem = if is_device(name) {
                "Windows takes it for a device, and not for a file"
            } else if name.starts_with('-') {
                "a command line takes it for a flag"
            } else if name.ends_with('.') {
                "Windows drops a '.' at the end"
            } else {
                continue;
            };
            return Err(Error::Configuration(format!("'{name}' cannot be the name of a new {what}: {problem}").into()));
        }
        Ok(())
    }

    /// The project's name.
    #[must_use]
    pub fn project(&self) -> &str {
        &self.project
    }

    /// The short name of the stack.
    #[must_use]
    pub fn stack(&self) -> &str {
        &self.stack
    }

    /// `<project>/<stack>`: without the organization, of which a store has no other.
    #[must_use]
    pub fn in_store(&self) -> String {
        format!("{}/{}", self.project, self.stack)
    }
}

/// `organization/<project>/<stack>`, as it stands in stack files.
impl fmt::Display for StackName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ORGANIZATION}/{}/{}", self.project, self.stack)
    }
}

/// Says what the slashes in a name are taken for, and offers a name without them.
fn not_a_name(text: &str) -> Error {
    let plain = text.split('/').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    let offer = match StackName::new("project", &plain) {
        Ok(_) => format!("; without slashes it could be '{plain}'"),
        Err(_) => String::new(),
    };
    Error::Configuration(
        format!(
            "'{text}' is not the name of a stack: a '/' separates the parts of organization/project/stack, and with \
         self-managed state the organization is always '{ORGANIZATION}'{offer}"
        )
        .into(),
    )
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let numbered =
        |device: &str| stem.strip_prefix(device).is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9']));
    DEVICES.contains(&stem.as_str()) || NUMBERED_DEVICES.into_iter().any(numbered)
}

fn check_part(what: &str, name: &str) -> Result<()> {
    let problem = if name.is_empty() {
        "it is empty"
    } else if name.len() > MAX_LENGTH {
        let shown: String = name.chars().take(SHOWN_OF_LONG).collect();
        return Err(Error::Configuration(
            format!(
                "'{}...' cannot be the name of a {what}: it is longer than {MAX_LENGTH} characters",
                shown.escape_debug()
            )
            .into(),
        ));
    } else if name == "." || name == ".." {
        "'.' and '..' mean directories"
    } else if !name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')) {
        "only letters, digits, '-', '_' and '.' are allowed"
    } else {
        return Ok(());
    };
    // Control characters would garble the message.
    Err(Error::Configuration(format!("'{}' cannot be the name of a {what}: {problem}", name.escape_debug()).into()))
}

#[cfg(test)]
#[path = "name_tests.rs"]
mod tests;
