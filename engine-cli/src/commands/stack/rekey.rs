//! `stack change-secrets-provider`: state and configuration under another passphrase, the key file, or a key that a service wraps.

use maloko_core::state::key_record::shown_url;
use maloko_core::state::{Checkpoint, Crypter, Passphrase, PassphraseSource, StackName, replace_sealed};
use serde_norway::Value;

use crate::arguments::StackChangeSecretsProvider;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::settings::{Settings, turn, value};
use crate::terminal::prompt;
use crate::workplace::Workplace;
use crate::workplace::fleet_key::{FleetKey, SharedKey};

const COMMAND: &str = "maloko stack change-secrets-provider";

/// Where the passphrase is kept from now on.
#[derive(Clone, PartialEq, Eq)]
enum Target {
    Passphrase,
    KeyFile,
    /// By a key service, with this URL.
    Service(String),
    /// The key of another stack (`fleet`, `fleet:STACK`).
    Fleet(FleetKey),
}

pub(super) async fn run(context: &Context, arguments: &StackChangeSecretsProvider) -> Result<()> {
    let workplace = Workplace::open(context)?;
    // Whoever sets configuration waits: it would be lost with the file that is replaced.
    let _turn = turn::take(&workplace.project).await;
    let stack = workplace.stack_name(None).await?;
    let target = target(&workplace, &arguments.new_secrets_provider)?;
    workplace.require(&stack).await?;
    let mut settings = workplace.settings(&stack)?;
    let old = workplace.crypter(&stack, &mut settings).await?;
    old.verify()?;
    let environment = context.environment.clone();
    let mut shared = None;
    let new = match &target {
        Target::Passphrase => Crypter::with_new_salt(new_passphrase(context)?, environment)?,
        Target::KeyFile => {
            workplace.refuse_second_key(Some(&old)).await?;
            Crypter::with_new_salt(workplace.key_file_passphrase()?, environment)?
        }
        Target::Service(url) => workplace.crypter_with_new_key(&stack, url)?,
        Target::Fleet(fleet) => {
            let key = shared.insert(workplace.key_of_fleet(&stack, fleet, None).await?);
            key.crypter.clone()
        }
    };
    let before = settings.clone();
    rewrite_settings(&mut settings, &old, &new, &target)?;
    let change = Change { before, settings, old, new, shared };
    replace_both(&workplace, &stack, &change).await?;
    tell(&workplace, &stack, &target, &change);
    Ok(())
}

/// From which key to which, and what is written.
struct Change {
    before: Settings,
    settings: Settings,
    old: Crypter,
    new: Crypter,
    /// Where the new key is that of a fleet.
    shared: Option<SharedKey>,
}

fn target(workplace: &Workplace<'_>, name: &str) -> Result<Target> {
    match name {
        "key-file" | "default" if workplace.is_embedded() => Ok(Target::KeyFile),
        "passphrase" | "default" => Ok(Target::Passphrase),
        "key-file" => Err(Failure::configuration(format!(
            "`key-file` is for state that is kept inside the project; the state of this stack is in {}, where others may \
             need it: use `passphrase`",
            workplace.backend.url()
        ))),
        name => match (FleetKey::of(name), maloko_stores::keys::check(name)) {
            (Some(fleet), _) => Ok(Target::Fleet(fleet)),
            (None, Ok(())) => Ok(Target::Service(name.to_owned())),
            (None, Err(why)) => Err(Failure::configuration(why)),
        },
    }
}

/// The new passphrase: typed twice, or the first line of stdin.
fn new_passphrase(context: &Context) -> Result<Passphrase> {
    if context.console.interactive {
        return Ok(Passphrase::given(&prompt::passphrase(true)?));
    }
    let piped = prompt::piped_text(&context.console)?.unwrap_or_default();
    match piped.lines().next() {
        Some(line) if !line.is_empty() => Ok(Passphrase::given(line)),
        _ => Err(Failure::configuration(format!(
            "the new passphrase is not known: pipe it in, such as `{COMMAND} passphrase < FILE`, or run this on a terminal"
        ))),
    }
}

fn rewrite_settings(settings: &mut Settings, old: &Crypter, new: &Crypter, target: &Target) -> Result<()> {
    let secrets: Vec<(String, Value)> = settings
        .entries()
        .filter(|(_, _, value)| value::has_secret(value))
        .map(|(_, key, value)| (key, value.clone()))
        .collect();
    for (key, mut value) in secrets {
        value::rewrite_secrets(&mut value, &|ciphertext| {
            let text = old.decrypt(ciphertext).map_err(|error| Failure::new(format!("`{key}`: {error}")))?;
            Ok(new.encrypt(&text)?.to_string())
        })?;
        settings.set(&key, &[], value)?;
    }
    settings.set_key(new.record())?;
    match target {
        Target::Passphrase => settings.set_by_passphrase(true),
        Target::KeyFile => settings.set_by_passphrase(false),
        Target::Fleet(_) => settings.name_passphrase_of(new),
        Target::Service(_) => Ok(()),
    }
}

/// Replaces the state, then the settings file, which lies ready beside it: a process that is killed between the two
/// is made up for by the next command.
async fn replace_both(workplace: &Workplace<'_>, stack: &StackName, change: &Change) -> Result<()> {
    let Change { before, settings, old, new, shared } = change;
    // The old state has to be what was sealed; and what a killed run left behind is settled first, so that the journal
    // need not be encrypted anew.
    let session = workplace.session(stack, old.clone(), COMMAND).await?;
    session.compact(session.snapshot().clone()).await?;
    let lease = workplace.backend.lease(stack, COMMAND).await?;
    let stored = lease.load().await?;
    let mut checkpoint = Checkpoint::decode(&stored.checkpoint, &stored.checkpoint_place)?;
    checkpoint.snapshot.unseal_all(old)?;
    checkpoint.snapshot.secrets_provider = Some(new.secrets_provider());
    let bytes = checkpoint.encode(new)?;
    let staged = settings.stage(before)?;
    if let Some(key) = shared
        && !workplace.make_holder(key).await?
    {
        staged.discard();
        return Err(Failure::new(format!(
            "the stack that holds the key of the fleet has just been made by somebody else: run this again. Stack '{}' is as it was",
            workplace.shown(stack)
        )));
    }
    let options = workplace.session_options(new.clone(), COMMAND, true);
    if let Err(error) = replace_sealed(&*lease, stack, &stored, &bytes, old, &options).await {
        staged.discard();
        return Err(error.into());
    }
    staged.put_in_place()?;
    lease.release().await?;
    Ok(())
}

fn tell(workplace: &Workplace<'_>, stack: &StackName, target: &Target, change: &Change) {
    let shown = workplace.shown(stack);
    let from_environment = match change.old.passphrase_source() {
        Some(PassphraseSource::Variable(variable)) => Some(variable.clone()),
        Some(PassphraseSource::VariableFile { variable, path }) => Some(format!("{variable} ({})", path.display())),
        _ => None,
    };
    let console = &workplace.context.console;
    match target {
        Target::Passphrase => {
            console.line(&format!("The secrets of stack '{shown}' are encrypted with the new passphrase"));
            if let Some(variable) = from_environment {
                console.note(format!("the environment still holds the old one: set {variable} to the new one"));
            }
        }
        Target::Service(url) => {
            console.line(&format!(
                "The secrets of stack '{shown}' are encrypted with a new key that {} wraps",
                shown_url(url)
            ));
        }
        Target::Fleet(_) => {
            console.line(&format!("The secrets of stack '{shown}' are encrypted with the key of the fleet"));
            if let Some(note) = workplace.note_of_passphrase(stack, &change.new) {
                console.note(note);
            }
        }
        Target::KeyFile => {
            console.line(&format!("The secrets of stack '{shown}' are encrypted with the key file of the project"));
            if let Some(variable) = from_environment {
                console.note(format!("unset {variable} for this stack: it goes before the key file"));
            }
        }
    }
}
