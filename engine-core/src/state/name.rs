//! Names of stacks, in Pulumi's grammar.

use std::fmt;

use crate::error::{Error, Result};

/// The only organization of self-managed state.
pub const ORGANIZATION: &str = "organization";
const MAX_LENGTH: usize = 100;

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
                return Err(Error::Configuration(format!(
                    "'{text}' is not the name of a stack: expected <stack> or organization/<project>/<stack>"
                )));
            }
        };
        if organization != ORGANIZATION {
            return Err(Error::Configuration(format!(
                "'{text}' is not the name of a stack here: with self-managed state the organization is always \
                 '{ORGANIZATION}'"
            )));
        }
        Self::new(project, stack)
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
}

/// `organization/<project>/<stack>`, as it stands in stack files.
impl fmt::Display for StackName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ORGANIZATION}/{}/{}", self.project, self.stack)
    }
}

fn check_part(what: &str, name: &str) -> Result<()> {
    let problem = if name.is_empty() {
        "it is empty"
    } else if name.len() > MAX_LENGTH {
        "it is longer than 100 characters"
    } else if name == "." || name == ".." {
        "'.' and '..' mean directories"
    } else if !name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')) {
        "only letters, digits, '-', '_' and '.' are allowed"
    } else {
        return Ok(());
    };
    Err(Error::Configuration(format!("'{name}' cannot be the name of a {what}: {problem}")))
}

#[cfg(test)]
#[path = "name_tests.rs"]
mod tests;
