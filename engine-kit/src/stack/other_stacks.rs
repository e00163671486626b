//! Stacks that a test has made up: it gives their outputs, for stack references.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use maloko_core::builtin::{OtherStack, OtherStacks, StackReader};
use maloko_core::error::{Error, Result};
use maloko_core::resource_state::ResourceState;
use maloko_core::state::StackName;
use maloko_core::{PropertyMap, Urn};
use serde_json::{Map, Value as Json};

use crate::json;

/// Those of a test, by their names; a name without a project is one of this project.
pub(crate) fn made_up(outputs: &BTreeMap<String, Map<String, Json>>, project: &str) -> OtherStacks {
    let outputs = outputs.iter().map(|(name, outputs)| (name.clone(), json::read_map(outputs))).collect();
    OtherStacks::new(Arc::new(OtherStackOutputs { outputs, project: project.to_owned() }))
}

struct OtherStackOutputs {
    outputs: BTreeMap<String, PropertyMap>,
    project: String,
}

#[async_trait]
impl StackReader for OtherStackOutputs {
    async fn read(&self, name: &str) -> Result<OtherStack> {
        let wanted = StackName::parse(name, &self.project)?;
        let is_it = |given: &String| StackName::parse(given, &self.project).is_ok_and(|given| given == wanted);
        let Some((_, outputs)) = self.outputs.iter().find(|(given, _)| is_it(given)) else {
            let known: Vec<&str> = self.outputs.keys().map(String::as_str).collect();
            return Err(Error::Configuration(
                format!(
                    "the test gives no outputs of it (it gives those of: {}); name it in the stack's references",
                    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
                )
                .into(),
            ));
        };
        let kind = maloko_core::urn::STACK_TYPE;
        let name = format!("{}-{}", wanted.project(), wanted.stack());
        let resource = ResourceState {
            urn: Urn::new(wanted.stack(), wanted.project(), "", kind, &name),
            kind: kind.to_owned(),
            outputs: Some(Arc::new(outputs.clone())),
            ..ResourceState::default()
        };
        Ok(OtherStack { resources: vec![Arc::new(resource)], sealed_because: None })
    }
}
