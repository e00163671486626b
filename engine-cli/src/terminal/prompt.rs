//! Questions to the user. Only asked when the console is interactive; they go to stderr.

use std::io::IsTerminal;

use dialoguer::theme::ColorfulTheme;
use dialoguer::{Confirm, FuzzySelect, Input, Password};

use crate::failure::{Failure, Result};
use crate::terminal::console::Console;

fn unanswered(error: dialoguer::Error) -> Failure {
    let dialoguer::Error::IO(error) = error;
    if error.kind() == std::io::ErrorKind::Interrupted {
        Failure::cancelled("cancelled")
    } else {
        Failure::io("the answer could not be read", &error)
    }
}

/// A yes or no; no when the user just presses return.
pub(crate) fn confirm(question: &str) -> Result<bool> {
    Confirm::with_theme(&ColorfulTheme::default()).with_prompt(question).default(false).interact().map_err(unanswered)
}

/// One of several, chosen with the arrows or by typing it; gives its index.
pub(crate) fn choose(question: &str, choices: &[String]) -> Result<usize> {
    FuzzySelect::with_theme(&ColorfulTheme::default())
        .with_prompt(question)
        .items(choices)
        .default(0)
        .interact()
        .map_err(unanswered)
}

/// A line of text.
pub(crate) fn text(question: &str, default: Option<&str>) -> Result<String> {
    let theme = ColorfulTheme::default();
    let input = Input::<String>::with_theme(&theme).with_prompt(question);
    let input = match default {
        Some(default) => input.default(default.to_owned()),
        None => input,
    };
    input.interact_text().map_err(unanswered)
}

/// A text that is not shown.
pub(crate) fn secret(question: &str) -> Result<String> {
    Password::with_theme(&ColorfulTheme::default())
        .with_prompt(question)
        .allow_empty_password(true)
        .interact()
        .map_err(unanswered)
}

/// The passphrase of a stack; a new one is asked for twice.
pub(crate) fn passphrase(new: bool) -> Result<String> {
    let theme = ColorfulTheme::default();
    let ask = Password::with_theme(&theme).allow_empty_password(true);
    let ask = if new {
        ask.with_prompt("Enter a new passphrase to protect the stack's secrets")
            .with_confirmation("Enter it again", "The two are not the same")
    } else {
        ask.with_prompt("Enter the passphrase of the stack's secrets")
    };
    ask.interact().map_err(unanswered)
}

/// Lets a command that cannot be undone go on: with `--yes`, or when the user says so. Not interactive and without
/// `--yes`, the command ends with exit code 2.
pub(crate) fn permission(console: &Console, yes: bool, question: &str) -> Result<()> {
    if yes {
        return Ok(());
    }
    if !console.interactive {
        return Err(Failure::configuration(format!(
            "{question} This command cannot ask for confirmation here: add --yes \
                                                   to go on"
        )));
    }
    if confirm(question)? { Ok(()) } else { Err(Failure::cancelled("cancelled")) }
}

/// All of stdin, when it is not a terminal, and the command's own.
pub(crate) fn piped_text(console: &Console) -> Result<Option<String>> {
    let stdin = std::io::stdin();
    if !console.reads_stdin || stdin.is_terminal() {
        return Ok(None);
    }
    std::io::read_to_string(stdin).map(Some).map_err(|error| Failure::io("stdin cannot be read", &error))
}
