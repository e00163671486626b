//! Which stack a command works on.

use std::path::PathBuf;

use maloko_core::message;
use maloko_core::message::{Command, Message};
use maloko_core::state::StackName;

use crate::backend::{self, PROJECT_DIRECTORY};
use crate::creation::create;
use crate::failure::{Failure, Result};
use crate::terminal::prompt;
use crate::workplace::Workplace;

const SELECTION_FILE: &str = "stack";
/// So many stacks are named where one has to be chosen and nobody can be asked.
const NAMED: usize = 5;

impl Workplace<'_> {
    /// The stack of this project to work on: the one named as an argument, by `--stack` or `PULUMI_STACK`, or the selected one. Where none is,
    /// the one that Pulumi's own command line has selected here, if it is in this store; otherwise the user chooses.
    pub(crate) async fn stack_name(&self, argument: Option<&str>) -> Result<StackName> {
        self.require_own(self.named_or_chosen(argument, false).await?)
    }

    /// The same, also of another project: for commands that use no configuration.
    pub(crate) async fn any_stack_name(&self, argument: Option<&str>) -> Result<StackName> {
        self.named_or_chosen(argument, false).await
    }

    /// The same for a command with which work on a stack may begin: the user may as well make a new one.
    pub(crate) async fn stack_to_begin_with(&self) -> Result<StackName> {
        self.require_own(self.named_or_chosen(None, true).await?)
    }

    async fn named_or_chosen(&self, argument: Option<&str>, may_create: bool) -> Result<StackName> {
        let stack = match self.named(argument)? {
            Some(stack) => stack,
            None => self.choose_stack(may_create).await?,
        };
        let name = (!self.is_taken_without_a_flag(&stack)).then(|| self.shown(&stack));
        self.context.console.aim.at_stack(&stack, name);
        Ok(stack)
    }

    /// The stack that is named or selected, if one is.
    pub(crate) fn named(&self, argument: Option<&str>) -> Result<Option<StackName>> {
        let named = argument
            .map(str::to_owned)
            .or_else(|| self.context.global.stack.clone())
            .or_else(|| self.context.text_variable("PULUMI_STACK").filter(|name| !name.is_empty()));
        match named {
            Some(name) => self.parse_stack(&name).map(Some),
            None => self.selected(),
        }
    }

    async fn choose_stack(&self, may_create: bool) -> Result<StackName> {
        let own = self.own_stacks().await?;
        if let Some(stack) = self.selected_in_pulumi().filter(|stack| own.contains(stack)) {
            return Ok(stack);
        }
        if !self.context.console.interactive || (own.is_empty() && !may_create) {
            return Err(self.none_selected(&own));
        }
        let Some(stack) = self.ask_for_stack("No stack is selected. Which one?", &own, may_create)? else {
            return self.make_stack().await;
        };
        self.select(Some(&stack))?;
        Ok(stack)
    }

    /// The stack that Pulumi's command line has selected in this directory.
    fn selected_in_pulumi(&self) -> Option<StackName> {
        self.parse_stack(&backend::selected_in_pulumi(self.context, &self.project)?).ok()
    }

    /// Asks which stack; `None` for a new one.
    fn ask_for_stack(&self, question: &str, stacks: &[StackName], may_create: bool) -> Result<Option<StackName>> {
        if stacks.is_empty() {
            return Ok(None);
        }
        let mut choices: Vec<String> = stacks.iter().map(|stack| self.shown(stack)).collect();
        choices.extend(may_create.then(|| "(make a new stack)".to_owned()));
        Ok(stacks.get(prompt::choose(question, &choices)?).cloned())
    }

    async fn make_stack(&self) -> Result<StackName> {
        let usual = self.selected_in_pulumi().map_or_else(|| "dev".to_owned(), |stack| stack.stack().to_owned());
        let stack = self.parse_own_stack(&prompt::text("Name of the new stack", Some(&usual))?)?;
        create(self, &stack).await?;
        self.select(Some(&stack))?;
        self.context.console.note(format!("Created stack '{}'", self.shown(&stack)));
        Ok(stack)
    }

    /// Chooses among the stacks of this project for good.
    pub(crate) async fn choose_for_good(&self) -> Result<StackName> {
        let own = self.own_stacks().await?;
        let chosen =
            if self.context.console.interactive { self.ask_for_stack("Which stack?", &own, false)? } else { None };
        chosen
            .ok_or_else(|| self.unchosen(message!["name the stack: ", Command::new("stack select").with("NAME")], &own))
    }

    fn none_selected(&self, own: &[StackName]) -> Failure {
        let place = self.backend.url();
        match own {
            [] => Failure::configuration(message![
                format!(
                    "no stack is selected, and there is none of the project '{}' in {place} (from {}); make one with ",
                    self.project.name,
                    self.place.origin.name()
                ),
                Command::new("stack init").with("NAME")
            ]),
            [only] => Failure::configuration(message![
                format!(
                    "no stack is selected; the only one of this project in {place} is '{}'. Add `-s {}`, or select it \
                     with ",
                    self.shown(only),
                    self.shown(only)
                ),
                Command::new("stack select").value(self.shown(only))
            ]),
            several => self.unchosen(
                message![
                    "no stack is selected; name one with `--stack NAME`, or select it with ",
                    Command::new("stack select").with("NAME")
                ],
                several,
            ),
        }
    }

    /// An error with the names among which to choose.
    fn unchosen(&self, what: Message, own: &[StackName]) -> Failure {
        let mut names: Vec<String> = own.iter().take(NAMED).map(|stack| format!("'{}'", self.shown(stack))).collect();
        if own.len() > NAMED {
            names.push(format!("{} more", own.len() - NAMED));
        }
        let there = if names.is_empty() { String::new() } else { format!(" (there is {})", names.join(", ")) };
        Failure::configuration(message![what, there])
    }

    /// Do later commands work on this stack by themselves? A variable may be gone by then.
    fn is_taken_without_a_flag(&self, stack: &StackName) -> bool {
        let variable = self.context.text_variable("PULUMI_STACK").filter(|name| !name.is_empty());
        let by_variable = variable.is_none_or(|name| self.parse_stack(&name).ok().as_ref() == Some(stack));
        by_variable && self.selected().ok().flatten().as_ref() == Some(stack)
    }

    fn selection_file(&self) -> PathBuf {
        self.project.root.join(PROJECT_DIRECTORY).join(SELECTION_FILE)
    }

    /// The selected stack. The choice is a file in the project's own directory: Pulumi's workspace files are bound to
    /// Pulumi's login, which need not be where this state is.
    pub(crate) fn selected(&self) -> Result<Option<StackName>> {
        let file = self.selection_file();
        match std::fs::read_to_string(&file) {
            Ok(text) => self.parse_stack(text.trim()).map(Some).map_err(|failure| {
                Failure::configuration(format!("{}: {}; select a stack again", file.display(), failure.message))
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                Err(Failure::io(format!("the selection of a stack {} cannot be read", file.display()), &error))
            }
        }
    }

    /// Selects a stack, or none. What a library works with is no choice of the user's.
    pub(crate) fn select(&self, stack: Option<&StackName>) -> Result<()> {
        if self.context.library.is_some() {
            return Ok(());
        }
        let file = self.selection_file();
        let write = match stack {
            Some(stack) => {
                backend::make_project_directory(&self.project)?;
                let text =
                    if stack.project() == self.project.name { stack.stack().to_owned() } else { stack.to_string() };
                crate::platform::write_private_file(&file, (text + "\n").as_bytes())
            }
            None => match std::fs::remove_file(&file) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
                other => other,
            },
        };
        write.map_err(|error| {
            Failure::io(format!("the selection of a stack {} cannot be written", file.display()), &error)
        })
    }
}
