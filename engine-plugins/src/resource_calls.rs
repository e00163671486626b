//! The calls of a plugin for a resource: what goes to it, and what of its answer is kept.

use maloko_core::PropertyMap;
use maloko_core::assets;
use maloko_core::autonaming::{NameProposal, ProposalMode};
use maloko_core::provider::PluginArguments;
use maloko_core::provider::{Answer, Method, ProviderCall, ProviderError, ProviderErrorKind};
use maloko_core::urn::Urn;
use maloko_core::wire::Struct;
use maloko_core::wire::provider as wire;

use crate::answers::properties_in;
use crate::provider::{CallResult, RunningPlugin, bad_return, diff_answer, failures};
use crate::secrecy::mark_like;
use crate::views::shown;

/// The resource that a call is for, as messages name it.
struct ResourceIdentity {
    urn: String,
    name: String,
    r#type: String,
}

impl ResourceIdentity {
    fn of(urn: &Urn) -> Self {
        Self { urn: urn.to_string(), name: urn.name().to_owned(), r#type: urn.own_type().to_owned() }
    }
}

impl RunningPlugin {
    /// Calls a method for a resource.
    pub(crate) async fn call(&self, call: ProviderCall) -> CallResult<Answer> {
        let ProviderCall { urn, method, for_plugin, .. } = call;
        let beside = *for_plugin.unwrap_or_default();
        let named = ResourceIdentity::of(&urn);
        match method {
            Method::Check { olds, news } => self.check(named, &olds, &news, beside).await,
            Method::Diff { id, olds, news } => self.diff(named, id, &olds, &news, beside).await,
            Method::Create { inputs, timeout, .. } => self.create(named, inputs, timeout, beside.preview).await,
            Method::Update { id, olds, news, timeout } => self.update(named, id, &olds, news, timeout, beside).await,
            Method::Read { id, props, timeout } => self.read(named, id, &props, timeout, beside).await,
            Method::Delete { id, props, timeout } => self.delete(named, id, &props, timeout, beside).await,
            Method::Find { .. } => {
                Ok(Answer::Read { id: String::new(), outputs: None, inputs: None, read_first: false })
            }
            Method::Configure { .. } => Ok(Answer::Configured),
            Method::Close => Ok(Answer::Closed),
        }
    }

    async fn check(
        &self,
        ResourceIdentity { urn, name, r#type }: ResourceIdentity,
        olds: &PropertyMap,
        news: &PropertyMap,
        beside: PluginArguments,
    ) -> CallResult<Answer> {
        let features = self.features();
        let autonaming = beside.autonaming.filter(|_| features.autonaming).map(proposal);
        let (olds, sent) = (features.whole(olds)?, features.whole(news)?);
        let old_outputs = features.whole(&beside.old_outputs.unwrap_or_default())?;
        let asked = wire::CheckRequest {
            urn,
            olds: Some(olds),
            news: Some(sent),
            random_seed: beside.seed,
            name,
            r#type,
            autonaming,
            old_outputs: Some(old_outputs),
        };
        let answer: wire::CheckResponse = self.rpc("Check", &asked, false).await?;
        let mut inputs = properties_in(answer.inputs, true).map_err(bad_return("check"))?;
        self.mark(news, &mut inputs);
        Ok(Answer::Checked { inputs, failures: failures(answer.failures) })
    }

    async fn diff(
        &self,
        ResourceIdentity { urn, name, r#type }: ResourceIdentity,
        id: String,
        olds: &PropertyMap,
        news: &PropertyMap,
        beside: PluginArguments,
    ) -> CallResult<Answer> {
        let features = self.features();
        let asked = wire::DiffRequest {
            id,
            urn,
            olds: Some(features.elided(olds)?),
            news: Some(features.elided(news)?),
            ignore_changes: beside.ignore_changes,
            old_inputs: beside.old_inputs.map(|inputs| features.elided(&inputs)).transpose()?,
            name,
            r#type,
        };
        Ok(Answer::Diffed(diff_answer(self.rpc("Diff", &asked, false).await?)))
    }

    async fn create(
        &self,
        ResourceIdentity { urn, name, r#type }: ResourceIdentity,
        inputs: PropertyMap,
        timeout: f64,
        preview: bool,
    ) -> CallResult<Answer> {
        let features = self.features();
        if preview && !features.preview {
            return Ok(Answer::created("", inputs));
        }
        let properties = Some(features.whole(&inputs)?);
        let (resource_status_address, open) = self.status_of(&Urn::unchecked(&urn));
        let resource_status_token = open.token.clone();
        let asked = wire::CreateRequest {
            urn,
            properties,
            timeout,
            preview,
            name,
            r#type,
            resource_status_address,
            resource_status_token,
        };
        let answer: wire::CreateResponse = self.rpc("Create", &asked, !preview).await?;
        let mut outputs = outputs("create", &answer.id, answer.properties, preview)?;
        self.mark(&inputs, &mut outputs);
        Ok(Answer::Created { id: answer.id, outputs, read_first: answer.refresh_before_update })
    }

    async fn update(
        &self,
        ResourceIdentity { urn, name, r#type }: ResourceIdentity,
        id: String,
        olds: &PropertyMap,
        news: PropertyMap,
        timeout: f64,
        beside: PluginArguments,
    ) -> CallResult<Answer> {
        let (features, preview) = (self.features(), beside.preview);
        if preview && !features.preview {
            return Ok(Answer::Updated { outputs: news, read_first: false });
        }
        let (resource_status_address, open) = self.status_of(&Urn::unchecked(&urn));
        let asked = wire::UpdateRequest {
            id,
            urn,
            olds: Some(features.elided(olds)?),
            news: Some(features.whole(&news)?),
            timeout,
            ignore_changes: beside.ignore_changes,
            preview,
            old_inputs: beside.old_inputs.map(|inputs| features.elided(&inputs)).transpose()?,
            name,
            r#type,
            resource_status_address,
            resource_status_token: open.token.clone(),
            old_views: shown(&beside.old_views, features)?,
        };
        let answer: wire::UpdateResponse = self.rpc("Update", &asked, !preview).await?;
        let mut outputs = outputs("update", "", answer.properties, preview)?;
        assets::restore(&mut outputs, &[&news, olds]);
        self.mark(&news, &mut outputs);
        Ok(Answer::Updated { outputs, read_first: answer.refresh_before_update })
    }

    async fn read(
        &self,
        ResourceIdentity { urn, name, r#type }: ResourceIdentity,
        id: String,
        props: &PropertyMap,
        timeout: f64,
        beside: PluginArguments,
    ) -> CallResult<Answer> {
        let features = self.features();
        let (resource_status_address, open) = self.status_of(&Urn::unchecked(&urn));
        let asked = wire::ReadRequest {
            id,
            urn,
            // The look-up of what is imported has neither.
            properties: beside.old_inputs.is_some().then(|| features.elided(props)).transpose()?,
            inputs: beside.old_inputs.as_ref().map(|inputs| features.elided(inputs)).transpose()?,
            name,
            r#type,
            timeout,
            resource_status_address,
            resource_status_token: open.token.clone(),
            old_views: shown(&beside.old_views, features)?,
        };
        // It was shown assets by their hashes alone, and may well return them.
        let known = [props, beside.old_inputs.as_deref().unwrap_or(props)];
        let answer: wire::ReadResponse = match self.rpc("Read", &asked, false).await {
            Ok(answer) => answer,
            Err(mut error) => {
                if let ProviderErrorKind::NotInitialized { properties, inputs, .. } = &mut error.kind {
                    assets::restore(properties, &known);
                    if let Some(inputs) = inputs {
                        assets::restore(inputs, &known);
                    }
                }
                return Err(error);
            }
        };
        let bag = |bag: Option<Struct>| bag.map(|bag| properties_in(Some(bag), beside.preview)).transpose();
        let mut outputs = bag(answer.properties).map_err(bad_return("read"))?;
        let mut inputs = bag(answer.inputs).map_err(bad_return("read"))?;
        outputs.iter_mut().chain(&mut inputs).for_each(|properties| assets::restore(properties, &known));
        if let Some(outputs) = &mut outputs {
            self.mark(props, outputs);
        }
        if let (Some(inputs), Some(old)) = (&mut inputs, &beside.old_inputs) {
            self.mark(old, inputs);
        }
        Ok(Answer::Read { id: answer.id, outputs, inputs, read_first: answer.refresh_before_update })
    }

    async fn delete(
        &self,
        ResourceIdentity { urn, name, r#type }: ResourceIdentity,
        id: String,
        props: &PropertyMap,
        timeout: f64,
        beside: PluginArguments,
    ) -> CallResult<Answer> {
        let features = self.features();
        let (resource_status_address, open) = self.status_of(&Urn::unchecked(&urn));
        let asked = wire::DeleteRequest {
            id,
            urn,
            properties: Some(features.elided(props)?),
            timeout,
            old_inputs: beside.old_inputs.map(|inputs| features.elided(&inputs)).transpose()?,
            name,
            r#type,
            resource_status_address,
            resource_status_token: open.token.clone(),
            old_views: shown(&beside.old_views, features)?,
        };
        self.rpc::<_, ()>("Delete", &asked, true).await?;
        Ok(Answer::Deleted)
    }

    fn mark(&self, given: &PropertyMap, returned: &mut PropertyMap) {
        if !self.features().secrets {
            mark_like(given, returned);
        }
    }
}

fn proposal(NameProposal { name, mode }: NameProposal) -> wire::Autonaming {
    let mode = match mode {
        ProposalMode::Propose => wire::AutonamingMode::Propose,
        ProposalMode::Enforce => wire::AutonamingMode::Enforce,
        ProposalMode::Disable => wire::AutonamingMode::Disable,
    };
    wire::Autonaming { proposed_name: name, mode: mode.into() }
}

/// The outputs of what was made or changed. Where they cannot be kept, the object is there all the same.
fn outputs(method: &str, id: &str, answer: Option<Struct>, preview: bool) -> CallResult<PropertyMap> {
    properties_in(answer, preview).map_err(|reason| {
        let kind = ProviderErrorKind::UnusableOutputs { id: id.to_owned(), properties: PropertyMap::new() };
        ProviderError::new(kind, format!("{method} returned a value that cannot be kept: {reason}"))
    })
}
