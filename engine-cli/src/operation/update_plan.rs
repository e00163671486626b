//! Update plans on disk: `preview --save-plan` and `up --plan`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use maloko_core::autonaming::Seed;
use maloko_core::config_value::ConfigValue;
use maloko_core::event::{Event, EventSink, Op};
use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::Crypter;
use maloko_core::update_plan::UpdatePlan;
use maloko_core::update_plan::{decode_plan, encode_plan};

use crate::context::Context;
use crate::failure::{Failure, Result};

type Config = BTreeMap<String, ConfigValue>;

/// Makes a plan of what a preview tells.
pub(crate) struct PlanWriter {
    plan: Mutex<UpdatePlan>,
    crypter: Crypter,
}

impl PlanWriter {
    /// For a preview with this configuration, which draws automatic names from this seed. `crypter` encrypts the plan's secrets.
    pub(crate) fn new(config: &Config, seed: Seed, crypter: Crypter) -> Self {
        let plan = UpdatePlan { config: texts(config), seed: Some(seed), ..UpdatePlan::default() };
        Self { plan: Mutex::new(plan), crypter }
    }

    /// Writes the file.
    pub(crate) fn write(&self, context: &Context, file: &Path) -> Result<()> {
        let plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        let text = encode_plan(&plan, &self.crypter, &context.environment.clock.now().to_string())?;
        let file = context.directory.join(file);
        crate::platform::replace_private_file(&file, text.as_bytes()).map_err(|error| {
            Failure::io(format!("the plan {} (from --save-plan) cannot be written", file.display()), &error)
        })
    }
}

impl EventSink for PlanWriter {
    fn emit(&self, event: Event) {
        let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::StepStarted(step) if step.op != Op::Refresh && !step.internal => {
                plan.note(step.op, &step.urn, step.old.as_deref(), step.new.as_deref());
            }
            Event::StepDone(step) if matches!(step.op, Op::Same | Op::Create | Op::Update) => {
                if let Some(new) = step.new.filter(|new| !new.custom) {
                    let old = step.old.map(|old| old.outputs_or_empty()).unwrap_or_default();
                    plan.note_outputs(&step.urn, &old, &new.outputs_or_empty());
                }
            }
            _ => {}
        }
    }
}

/// Reads a plan, which must have been made with the present configuration.
pub(crate) fn read(context: &Context, given: &Path, config: &Config, crypter: &Crypter) -> Result<UpdatePlan> {
    let file = context.directory.join(given);
    let bytes = std::fs::read(&file).map_err(|error| {
        let why = if context.is_shim() {
            // The words that those look for who call `pulumi`.
            format!("open {}: {error}", given.display())
        } else {
            format!("the plan {} (from --plan) cannot be read: {error}", file.display())
        };
        Failure::configuration(message![
            format!("{why}; make one with "),
            Command::new("preview").with("--save-plan FILE")
        ])
    })?;
    let plan = decode_plan(&bytes, crypter, &file.display().to_string())?;
    let now = texts(config);
    let differing: Vec<&str> = plan
        .config
        .keys()
        .chain(now.keys())
        .filter(|key| plan.config.get(*key) != now.get(*key))
        .map(String::as_str)
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    if differing.is_empty() {
        return Ok(plan);
    }
    Err(Failure::configuration(message![
        format!(
            "the plan {} was made with another configuration: {} differ; set them back, or save a new plan with ",
            file.display(),
            differing.join(", ")
        ),
        Command::new("preview").with("--save-plan")
    ]))
}

fn texts(config: &Config) -> BTreeMap<String, (String, bool)> {
    config.iter().map(|(key, entry)| (key.clone(), (entry.value.clone(), entry.secret))).collect()
}
