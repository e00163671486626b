//! A project together with its state: what nearly every command begins with.

pub(crate) mod fleet_key;
mod key_file;
mod keys;
mod new_key;
mod new_stack;
mod stack_names;
pub(crate) mod tags;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use maloko_core::message;
use maloko_core::message::{Command, Message};
use maloko_core::state::lock_file::by_whom;
use maloko_core::state::{
    Backend, Crypter, Holder, MIN_GENERATIONS, Passphrase, Session, SessionOptions, Snapshot, StackFilter, StackName,
    StackReading, StoredStack, UnfinishedCommand, overwrite_stack, read_stack, read_stack_beside, reseal_stack,
};

use crate::backend::{self, PROJECT_DIRECTORY, Place};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::settings::Settings;

/// How many former states of a stack, and entries of its history, are kept when nothing else is said.
const KEPT_GENERATIONS: usize = 10;
const KEPT_HISTORY: usize = 500;
/// What says otherwise.
const GENERATIONS_VARIABLE: &str = "MALOKO_GENERATIONS";
const HISTORY_VARIABLE: &str = "MALOKO_HISTORY_LIMIT";

/// A project, the place of its state, and the store there.
pub(crate) struct Workplace<'c> {
    /// The world.
    pub(crate) context: &'c Context,
    /// The project.
    pub(crate) project: Project,
    /// Where state is kept, and why there.
    pub(crate) place: Place,
    /// The store.
    pub(crate) backend: Arc<dyn Backend>,
    /// How many former states of a stack are kept.
    pub(crate) keep_generations: usize,
    /// How many entries of a stack's history are kept; 0: all.
    pub(crate) keep_history: usize,
    /// Which secrets provider a new stack gets, where the user said so; otherwise that of its settings counts, and without one a passphrase.
    pub(crate) secrets_provider: Option<String>,
    typed_passphrase: Mutex<Option<Passphrase>>,
}

impl<'c> Workplace<'c> {
    /// Finds the project of the current directory and opens its store.
    pub(crate) fn open(context: &'c Context) -> Result<Self> {
        let project = context.project()?;
        let place = backend::place(context, Some(&project))?;
        let backend = backend::open_patient(context, &place)?;
        context.console.aim.at_place(&context.global, context.language_host.language());
        Ok(Self {
            context,
            project,
            place,
            backend,
            keep_generations: number(context, GENERATIONS_VARIABLE, MIN_GENERATIONS, KEPT_GENERATIONS)?,
            keep_history: number(context, HISTORY_VARIABLE, 0, KEPT_HISTORY)?,
            secrets_provider: None,
            typed_passphrase: Mutex::new(None),
        })
    }

    /// Is the state kept inside the project?
    #[must_use]
    pub(crate) fn is_embedded(&self) -> bool {
        self.place.url == format!("file://{}", self.project.root.join(PROJECT_DIRECTORY).display())
    }

    // --- What it holds

    /// The stack's settings file.
    pub(crate) fn settings(&self, stack: &StackName) -> Result<Settings> {
        Settings::read(&self.settings_file(stack), &self.project.name)
    }

    /// The settings of a stack that is not the one of the command: `--config-file` is not about it.
    pub(crate) fn settings_of_other(&self, stack: &StackName) -> Result<Settings> {
        Settings::read(&self.project.settings_file(stack.stack()), &self.project.name)
    }

    /// Where the stack's settings file is or would be.
    #[must_use]
    pub(crate) fn settings_file(&self, stack: &StackName) -> PathBuf {
        match &self.context.global.config_file {
            Some(file) => self.context.directory.join(file),
            None => self.project.settings_file(stack.stack()),
        }
    }

    /// Saves a settings file and says what has to be said about it.
    pub(crate) fn save_settings(&self, settings: &Settings) -> Result<()> {
        if let Some(notice) = settings.save()? {
            self.context.console.warn(&notice);
        }
        Ok(())
    }

    /// Reads a stack without locking it. Notices go to stderr.
    pub(crate) async fn read(&self, stack: &StackName) -> Result<Snapshot> {
        self.read_checked(stack, self.checks_integrity()).await
    }

    /// Reads a stack without locking it, whether its state is sound or not.
    pub(crate) async fn unchecked_read(&self, stack: &StackName) -> Result<Snapshot> {
        self.read_checked(stack, false).await
    }

    /// Reads a stack without locking it for a preview, with the key that tells whether its seal is genuine; gives those
    /// who are at work on it, too. What they have begun is in nobody's doubt.
    pub(crate) async fn read_beside(&self, stack: &StackName, crypter: &Crypter) -> Result<(Snapshot, Vec<Holder>)> {
        let reading = read_stack_beside(&*self.backend, stack, self.checks_integrity(), Some(crypter)).await;
        let (StackReading { snapshot, notices }, holders) = reading.map_err(|error| self.explain(error, stack))?;
        self.warn_of(stack, &notices);
        Ok((snapshot, holders))
    }

    /// Says who is at work on a stack that a preview is made of.
    pub(crate) fn tell_who_is_at_work(&self, stack: &StackName, holders: &[Holder]) {
        if holders.is_empty() {
            return;
        }
        let who = by_whom(&holders.iter().collect::<Vec<_>>());
        let tool = if holders.iter().all(|holder| holder.maloko) { "maloko" } else { "pulumi" };
        self.warn_of(
            stack,
            &[format!(
                "the stack '{}' is locked {who}. This preview goes by what is recorded so far; preview again when that is \
                 done. If it hangs, or its machine is gone, `{tool} cancel` takes the stack over",
                self.shown(stack)
            )
            .into()],
        );
    }

    fn warn_of(&self, stack: &StackName, notices: &[Message]) {
        for notice in notices {
            self.context.console.warn(self.tell_of(stack, notice));
        }
    }

    async fn read_checked(&self, stack: &StackName, check_integrity: bool) -> Result<Snapshot> {
        let reading = read_stack(&*self.backend, stack, check_integrity).await;
        let StackReading { snapshot, notices } = reading.map_err(|error| self.explain(error, stack))?;
        self.warn_of(stack, &notices);
        Ok(snapshot)
    }

    /// Seals a stack's state as it is; gives what was accepted.
    pub(crate) async fn reseal(&self, stack: &StackName, crypter: Crypter) -> Result<Vec<Message>> {
        let options = self.session_options(crypter, "maloko state reseal", true);
        reseal_stack(&*self.backend, stack, &options).await.map_err(|error| self.explain(error, stack))
    }

    /// Is there such a stack?
    pub(crate) async fn has(&self, stack: &StackName) -> Result<bool> {
        Ok(self.backend.survey(&StackFilter::named(stack)).await?.iter().any(|found| found.name == *stack))
    }

    /// The stacks of this project.
    pub(crate) async fn own_stacks(&self) -> Result<Vec<StackName>> {
        let wanted = StackFilter { project: Some(self.project.name.clone()), ..StackFilter::default() };
        Ok(self.backend.survey(&wanted).await?.into_iter().map(|stack| stack.name).collect())
    }

    /// Fails when there is no such stack.
    pub(crate) async fn require(&self, stack: &StackName) -> Result<()> {
        self.stored(stack).await.map(drop)
    }

    /// What is stored of a stack, as it is.
    pub(crate) async fn stored(&self, stack: &StackName) -> Result<StoredStack> {
        self.backend.load(stack).await.map_err(|error| self.explain(error, stack))
    }

    /// Opens a stack for writing.
    pub(crate) async fn session(&self, stack: &StackName, crypter: Crypter, command: &str) -> Result<Session> {
        self.session_to_finish(stack, crypter, command, None).await
    }

    /// Opens a stack for writing, also if this is what is not finished about it.
    pub(crate) async fn session_to_finish(
        &self,
        stack: &StackName,
        crypter: Crypter,
        command: &str,
        unfinished: Option<&UnfinishedCommand>,
    ) -> Result<Session> {
        self.session_with(stack, self.session_options(crypter, command, self.checks_integrity()), unfinished).await
    }

    /// Opens a stack for writing, whether its state is sound or not.
    pub(crate) async fn unchecked_session(
        &self,
        stack: &StackName,
        crypter: Crypter,
        command: &str,
    ) -> Result<Session> {
        self.session_with(stack, self.session_options(crypter, command, false), None).await
    }

    /// Is the integrity of the state to be checked?
    #[must_use]
    pub(crate) fn checks_integrity(&self) -> bool {
        !self.context.global.disable_integrity_checking
    }

    async fn session_with(
        &self,
        stack: &StackName,
        options: SessionOptions,
        unfinished: Option<&UnfinishedCommand>,
    ) -> Result<Session> {
        let opened = Session::open_to_finish(&*self.backend, stack, options, unfinished).await;
        let session = opened.map_err(|error| self.explain(error, stack))?;
        self.warn_of(stack, session.notices());
        Ok(session)
    }

    /// How this command opens a stack for writing.
    pub(crate) fn session_options(&self, crypter: Crypter, command: &str, check_integrity: bool) -> SessionOptions {
        SessionOptions {
            crypter,
            environment: self.context.environment.clone(),
            check_integrity,
            command: command.to_owned(),
            keep_generations: self.keep_generations,
        }
    }

    /// Replaces a stack's state, also one that cannot be read. Notices go to stderr.
    pub(crate) async fn overwrite(
        &self,
        stack: &StackName,
        snapshot: Snapshot,
        crypter: Crypter,
        check_integrity: bool,
    ) -> Result<()> {
        let options = self.session_options(crypter, "maloko stack import", check_integrity);
        let notices = overwrite_stack(&*self.backend, stack, snapshot, &options)
            .await
            .map_err(|error| self.explain(error, stack))?;
        for notice in notices {
            self.context.console.warn(&notice);
        }
        Ok(())
    }

    /// An error about a stack, with what can be done.
    pub(crate) fn explain(&self, error: maloko_core::Error, stack: &StackName) -> Failure {
        match error {
            maloko_core::Error::NoStack { .. } => {
                let name = self.shown(stack);
                Failure::no_stack(message![
                    format!(
                        "no stack named '{name}' found in {} (from {}); list the stacks with ",
                        self.backend.url(),
                        self.place.origin.name()
                    ),
                    Command::new("stack ls"),
                    ", or make this one with ",
                    Command::new("stack init").value(&name)
                ])
            }
            other => {
                let failure = Failure::from(other);
                Failure { message: self.tell_of(stack, &failure.message).into(), ..failure }
            }
        }
    }

    /// The text of a message about a stack, which need not be the one that the command works on.
    fn tell_of(&self, stack: &StackName, text: &Message) -> String {
        self.context.console.aim.tell_of(stack, &self.shown(stack), text)
    }
}

/// The number that a variable gives.
fn number(context: &Context, variable: &str, least: usize, otherwise: usize) -> Result<usize> {
    let Some(text) = context.text_variable(variable).filter(|text| !text.is_empty()) else { return Ok(otherwise) };
    match text.trim().parse() {
        Ok(number) if number >= least => Ok(number),
        _ => {
            Err(Failure::configuration(format!("{variable} is '{text}'; it has to be a number, and at least {least}")))
        }
    }
}
