//! The policy packs of an operation: found, started before its program, and ended after it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use maloko_core::Engine;
use maloko_core::operation::Operation;
use maloko_core::plugin::PluginClient;
use maloko_core::policy::PoliciesOfRun;
use maloko_core::state::StackName;
use maloko_plugins::policies::{GivenConfig, PackRequest, Packs, RunFacts};

use crate::arguments::PolicyPackArguments;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::language_host::Language;
use crate::operation::plugins;
use crate::workplace::Workplace;
use crate::workplace::tags as stack_tags;

/// Starts the packs that flags ask for, and has the operation ask them. `None`: there are none.
pub(super) async fn start(
    workplace: &Workplace<'_>,
    stack: &StackName,
    flags: &PolicyPackArguments,
    operation: &mut Operation,
) -> Result<Option<Arc<Packs>>> {
    let requests = requested(&workplace.context.directory, flags)?;
    if requests.is_empty() {
        return Ok(None);
    }
    let tags = stack_tags::read(workplace, stack).await?;
    let facts = RunFacts { tags, ..facts(workplace.context, operation) };
    let settings = plugins::settings(workplace.context, &workplace.project);
    let packs = Packs::start(requests, facts, settings).await;
    let packs = packs.map_err(|reason| Failure::new(operation.redactor.message(&reason).into_owned()))?;
    operation.policies = PoliciesOfRun(Some(Arc::clone(&packs) as _));
    Ok(Some(packs))
}

/// Has a run show what packs say.
pub(super) fn bind(packs: Option<&Arc<Packs>>, engine: &Arc<Engine>) {
    if let Some(packs) = packs {
        let run: Weak<Engine> = Arc::downgrade(engine);
        let run: Weak<dyn PluginClient> = run;
        packs.bind(&run);
    }
}

/// Ends the packs of a run that is over.
pub(super) async fn end(packs: Option<Arc<Packs>>) {
    if let Some(packs) = packs {
        packs.end().await;
    }
}

/// The packs that flags name. Paths begin at the directory in which the command works.
fn requested(directory: &Path, flags: &PolicyPackArguments) -> Result<Vec<PackRequest>> {
    let (packs, configs) = (&flags.policy_pack, &flags.policy_pack_config);
    if !configs.is_empty() && configs.len() != packs.len() {
        return Err(Failure::configuration(
            "the number of \"--policy-pack-config\" flags must match the number of \"--policy-pack\" flags",
        ));
    }
    let config = |place: usize| configs.get(place).map(|file| GivenConfig::File(directory.join(file)));
    let request = |(place, pack): (usize, &PathBuf)| PackRequest {
        folder: directory.join(pack),
        shown: pack.display().to_string(),
        config: config(place),
    };
    Ok(packs.iter().enumerate().map(request).collect())
}

/// What packs are told of an operation.
fn facts(context: &Context, operation: &Operation) -> RunFacts {
    let language = context.language_host.language();
    let python = (language == Language::Python).then(|| PathBuf::from(context.language_host.about().executable));
    RunFacts {
        project: operation.project.clone(),
        stack: operation.stack.clone(),
        organization: operation.organization.clone(),
        dry_run: operation.dry_run,
        config: operation.plain_config(),
        secret_keys: operation.secret_keys(),
        python: python.filter(|python| python.is_file()),
        ..RunFacts::default()
    }
}
