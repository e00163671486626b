//! The law of secrets: what is secret in the inputs is nowhere in plain text.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::compare::{at_path, is_listed, texts_in};
use super::exchange::{
    DeployedResource, ExampleResult, Operation, Program, ProgramResource, RunOutcome, VisibleOutput, broken, pass_over,
};
use super::finding::{Finding, Leak};
use super::hiding::SecretValues;
use super::host::{Host, NAME};

/// So many letters must a secret have to be told apart from other text.
const LONG_ENOUGH: usize = 6;
/// So many letters of a text that has a secret are shown.
const SHOWN: usize = 300;
/// What stands in the place of a secret that is too short, or is a part of something else.
const PLANTED: &str = "maloko-canary-5ecre7";

/// L12.
pub(super) async fn secrets_stay_secret(host: &Host) -> ExampleResult {
    let paths = host.subject.secret.clone().unwrap_or_default();
    if paths.is_empty() {
        return Ok(());
    }
    let secrets = Secrets::of(&host.subject.inputs, &paths);
    if secrets.texts.is_empty() {
        return Err(pass_over("a secret that is a text"));
    }
    run_everything(host, &secrets).await?;
    secrets.look_at(&host.shown().await)
}

/// Does whatever may show a secret. What fails says most: names that are taken, objects that are gone.
async fn run_everything(host: &Host, secrets: &Secrets) -> ExampleResult {
    host.program(secrets.program(0, 0)).await;
    let made = host.run(Operation::Up).await;
    if made.error.is_some() {
        return Ok(());
    }
    secrets.look_at_outputs(&made)?;
    host.program(secrets.program(0, 1)).await;
    let changed = host.run(Operation::Up).await;
    secrets.look_at_outputs(&changed)?;
    secrets.look_at_outputs(&host.run(Operation::Refresh).await)?;
    host.program(secrets.program(1, 0)).await;
    host.run(Operation::Up).await;
    host.program(secrets.program(0, 0)).await;
    // As `create` or `update` left it: a `read` that tells another id is no matter of this law.
    if let Some(DeployedResource { id, .. }) = changed.resources.get(NAME)
        && host.subject.world.as_ref().is_some_and(|world| world.delete.there)
    {
        host.delete_remote(id).await;
        host.run(Operation::Up).await;
    }
    host.run(Operation::Destroy).await;
    Ok(())
}

/// The secrets of an example.
struct Secrets {
    /// Those that are looked for.
    texts: Vec<String>,
    /// What is planted in the inputs, by path, because nothing there can be looked for.
    planted: BTreeMap<String, String>,
    hidden: SecretValues,
}

impl Secrets {
    fn of(inputs: &[Json], paths: &[String]) -> Self {
        let mut texts: Vec<String> = inputs.iter().flat_map(|inputs| recognised(inputs, paths)).collect();
        texts.sort();
        texts.dedup();
        let is_text = |path: &&String| inputs.iter().any(|it| at_path(it, path).is_some_and(Json::is_string));
        let mut planted = BTreeMap::new();
        if texts.is_empty() {
            planted = paths.iter().filter(is_text).map(|path| (path.clone(), PLANTED.to_owned())).collect();
            texts.extend((!planted.is_empty()).then(|| PLANTED.to_owned()));
        }
        let mut hidden = SecretValues::new(inputs, paths);
        if !planted.is_empty() {
            hidden.add(PLANTED);
        }
        Self { texts, planted, hidden }
    }

    fn program(&self, stack: usize, inputs: usize) -> Program {
        let planted = self.planted.clone();
        let wanted = ProgramResource { name: NAME.to_owned(), inputs, planted, ..ProgramResource::default() };
        Program { stack, resources: vec![wanted], secret: true, together: false }
    }

    fn look_at_outputs(&self, ran: &RunOutcome) -> ExampleResult {
        let Some(made) = ran.resources.get(NAME) else { return Ok(()) };
        if self.is_in(&made.id) {
            return self.leaks(Leak::Id, &made.id);
        }
        let texts = texts_in(&made.outputs);
        match texts.iter().find(|(path, text)| !is_listed(path, &made.secret) && self.is_in(text)) {
            Some((property, text)) => self.leaks(Leak::Output { property: property.clone() }, text),
            None => Ok(()),
        }
    }

    fn look_at(&self, shown: &VisibleOutput) -> ExampleResult {
        for raised in &shown.errors {
            if self.is_in(&raised.whole) {
                return self.leaks(Leak::Error { method: raised.method.clone() }, &raised.error);
            }
        }
        if let Some(line) = shown.printed.lines().find(|line| self.is_in(line)) {
            return self.leaks(Leak::Printed, line);
        }
        if let Some(line) = shown.provider.lines().find(|line| self.is_in(line)) {
            return self.leaks(Leak::Provider, line);
        }
        match shown.messages.iter().find(|message| self.is_in(message)) {
            Some(message) => self.leaks(Leak::Message, message),
            None => Ok(()),
        }
    }

    fn is_in(&self, text: &str) -> bool {
        self.texts.iter().any(|secret| text.contains(secret.as_str()))
    }

    fn leaks(&self, place: Leak, text: &str) -> ExampleResult {
        let hidden = self.hidden.out_of_text(text);
        let found = match hidden.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}...", &hidden[..end]),
            None => hidden,
        };
        Err(broken(&Finding::Leak { place, found }))
    }
}

/// The secret texts of some inputs that can be told apart from what else is in them.
fn recognised(inputs: &Json, paths: &[String]) -> Vec<String> {
    let texts = texts_in(inputs);
    let (secret, plain): (Vec<_>, Vec<_>) = texts.iter().partition(|(path, _)| is_listed(path, paths));
    let is_long = |text: &str| text.chars().count() >= LONG_ENOUGH && text.chars().any(|it| !text.starts_with(it));
    let apart = |text: &str| plain.iter().all(|(_, other)| !other.contains(text));
    secret.iter().map(|(_, text)| *text).filter(|text| is_long(text) && apart(text)).map(str::to_owned).collect()
}
