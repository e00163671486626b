//! Worlds for tests.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use maloko_core::environment::Environment;

use crate::World;

/// A world with these variables only.
pub(crate) fn world_at(home: &Path, variables: &[(&str, &str)]) -> World {
    let known: HashMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    World {
        variables: Arc::new(move |name| known.get(name).cloned()),
        home: Some(home.to_owned()),
        environment: Environment::system(),
        notify: Arc::new(|_| {}),
    }
}
