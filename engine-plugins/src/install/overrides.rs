//! `PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES`: other sources in the place of those that packages name.

use regex::Regex;

use super::error::InstallError;

/// The variable of the environment.
const VARIABLE: &str = "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES";

/// See the module's text.
#[derive(Debug, Default)]
pub(crate) struct Overrides(Vec<(Regex, String)>);

impl Overrides {
    /// Reads `regexp=URL,regexp=URL`.
    pub(crate) fn parse(settings: &crate::settings::PluginSettings) -> Result<Self, InstallError> {
        let Some(text) = settings.variable(VARIABLE) else { return Ok(Self::default()) };
        let entries = text.split(',').map(|entry| {
            let (pattern, address) = entry
                .split_once('=')
                .filter(|(pattern, address)| !pattern.is_empty() && !address.is_empty())
                .ok_or_else(|| {
                    InstallError::last(format!("{VARIABLE} has the entry '{entry}'; entries are written REGEXP=URL"))
                })?;
            let pattern = Regex::new(pattern).map_err(|error| {
                InstallError::last(format!("{VARIABLE} has a regular expression that cannot be read: {error}"))
            })?;
            Ok((pattern, address.to_owned()))
        });
        entries.collect::<Result<_, _>>().map(Self)
    }

    /// What takes the place of a source; `None`: nothing.
    pub(crate) fn of(&self, source: &str) -> Option<String> {
        self.0.iter().find_map(|(pattern, address)| {
            let found = pattern.captures(source)?;
            let mut address = address.clone();
            // `${NAME}` and the like stay for later: they are no groups.
            for name in pattern.capture_names().flatten() {
                let text = found.name(name).map_or("", |group| group.as_str());
                address = address.replace(&format!("${{{name}}}"), text);
            }
            for number in (0..found.len()).rev() {
                let text = found.get(number).map_or("", |group| group.as_str());
                address = address.replace(&format!("${number}"), text);
            }
            Some(address)
        })
    }
}
