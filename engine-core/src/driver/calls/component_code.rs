//! The code of dynamic resources that components' plugins made, on its way to the plugin that runs it and back.
//! Resources keep it apart from their properties; the SDK's own server expects it among them.

use std::sync::Arc;

use crate::provider::{
    Answer, Method, PluginArguments, ProviderError, ProviderErrorKind, SerializedProvider, StoredProvider,
};
use crate::value::{PROVIDER_KEY, PropertyMap};

/// The code that serves a resource.
#[derive(Clone)]
pub(crate) struct ComponentCode {
    /// Today's: what the registration says, else the state.
    today: Arc<SerializedProvider>,
    /// That of the state.
    former: Option<Arc<SerializedProvider>>,
}

impl ComponentCode {
    /// That of a registration, and of the state that it goes on from.
    pub(crate) fn new(today: Arc<SerializedProvider>, former: Option<Arc<SerializedProvider>>) -> Self {
        Self { today, former }
    }

    /// Is it other code than that of the state?
    pub(crate) fn has_changed(&self) -> bool {
        self.former.as_ref().is_some_and(|former| former.text != self.today.text)
    }

    /// As the state keeps it.
    pub(crate) fn stored(&self) -> StoredProvider {
        StoredProvider::Code(Arc::clone(&self.today))
    }

    /// Puts the code into what a method is given; `false` where no code is known, so that nothing can be asked.
    pub(super) fn hand_over(&self, method: &mut Method, for_plugin: &mut Option<Box<PluginArguments>>) -> bool {
        if self.today.is_unknown() && self.former.is_none() {
            return false;
        }
        let former = self.former.as_ref().unwrap_or(&self.today);
        match method {
            Method::Check { olds, news } | Method::Diff { olds, news, .. } | Method::Update { olds, news, .. } => {
                put(news, &self.today);
                // Without an old object there are none.
                if !olds.is_empty() {
                    put(olds, former);
                }
            }
            Method::Create { inputs: bag, .. }
            | Method::Find { inputs: bag, .. }
            | Method::Read { props: bag, .. }
            | Method::Delete { props: bag, .. } => put(bag, &self.today),
            Method::Configure { .. } | Method::Close => {}
        }
        if let Some(beside) = for_plugin {
            let is_read = matches!(method, Method::Read { .. });
            let mut old_inputs = beside.old_inputs.as_deref().cloned();
            if let Some(inputs) = old_inputs.as_mut() {
                put(inputs, former);
            } else if is_read {
                // The look-up of what is imported: there is nothing else that the server could find the code in.
                old_inputs = Some(PropertyMap::from([(PROVIDER_KEY.to_owned(), self.today.as_value())]));
            }
            beside.old_inputs = old_inputs.map(Arc::new);
        }
        true
    }
}

fn put(bag: &mut PropertyMap, code: &SerializedProvider) {
    bag.insert(PROVIDER_KEY.to_owned(), code.as_value());
}

/// Takes the code out of an answer: the server gives it back with all that it returns.
pub(super) fn take_out(answer: &mut Result<Answer, ProviderError>) {
    let bags: Vec<&mut PropertyMap> = match answer {
        Ok(
            Answer::Checked { inputs: bag, .. }
            | Answer::Created { outputs: bag, .. }
            | Answer::Updated { outputs: bag, .. },
        ) => {
            vec![bag]
        }
        Ok(Answer::Read { outputs, inputs, .. }) => outputs.iter_mut().chain(inputs).collect(),
        Ok(Answer::Configured | Answer::Diffed(_) | Answer::Deleted | Answer::Closed) => Vec::new(),
        Err(error) => match &mut error.kind {
            ProviderErrorKind::UnusableOutputs { properties, .. } => vec![properties],
            ProviderErrorKind::NotInitialized { properties, inputs, .. } => {
                std::iter::once(properties).chain(inputs.as_deref_mut()).collect()
            }
            _ => Vec::new(),
        },
    };
    for bag in bags {
        bag.remove(PROVIDER_KEY);
    }
}
