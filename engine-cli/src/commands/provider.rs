//! `provider test`: judges a plugin by the laws of providers.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use maloko_kit::{
    Config, Listener, PluginLawResult, PluginSetup, PluginUnderTest, Samples, judge_plugin, problems_of_examples,
};
use serde_json::{Map, Value as Json, json};

use super::pretty;
use crate::arguments::ProviderTest;
use crate::context::Context;
use crate::failure::{Failure, Result, code};
use crate::operation::{plugin_under_test, schema_under_test};
use crate::plain::count;
use crate::terminal::console::Console;
use crate::terminal::signals::Watch;
use crate::yaml;

/// How long the judge may take to delete what it has made, once it is stopped.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `provider test`.
pub(crate) async fn test(context: &Context, arguments: &ProviderTest) -> Result<()> {
    let file = context.directory.join(&arguments.inputs);
    let (samples, mut config) = read_samples(&file)?;
    for given in &arguments.config {
        let Some((key, value)) = given.split_once('=') else {
            let text = format!("--config is '{given}'; write it as KEY=VALUE");
            return Err(Failure::configuration(text));
        };
        config.insert(key.to_owned(), Config { value: value.to_owned(), secret: false });
    }
    let setup = PluginSetup {
        kind: arguments.kind.clone(),
        version: arguments.plugin_version.clone().unwrap_or_default(),
        parameters: arguments.parameter.clone(),
        config,
    };
    let plugin = plugin_under_test(&context.directory, &arguments.plugin, setup.clone());
    let plugin = plugin.map_err(Failure::configuration)?;
    let judged = judge(context, arguments, &plugin, &setup, &samples).await;
    plugin.close().await;
    judged
}

async fn judge(
    context: &Context,
    arguments: &ProviderTest,
    plugin: &PluginUnderTest,
    setup: &PluginSetup,
    samples: &Samples,
) -> Result<()> {
    let (console, is_json) = (&context.console, arguments.format.json());
    let mut shown = LawResultPrinter { console, is_json, stopped: Arc::default() };
    let watch = watch(context, plugin, &shown.stopped)?;
    // That is no result of a law.
    plugin.prepare().await.map_err(|error| Failure::configuration(format!("no law was tried: {error}")))?;
    if samples.go_by_schema() {
        check_by_schema(context, arguments, setup, samples).await?;
    }
    let results = judge_plugin(plugin, &arguments.kind, samples, &arguments.law, &mut shown).await;
    drop(watch);
    let results = results.map_err(|error| Failure::configuration(error.to_string()))?;
    if shown.stops() {
        let message = "stopped: what the present law had made was deleted".to_owned();
        return Err(Failure::cancelled(message));
    }
    let number = |outcome: &str| results.iter().filter(|result| result.outcome == outcome).count();
    let (holds, broken) = (number("holds"), number("broken"));
    if is_json {
        let told = json!({ "type": arguments.kind, "plugin": arguments.plugin, "laws": results, "broken": broken });
        console.line(&pretty(&told));
    } else {
        let others = results.len() - holds - broken;
        let laws = count(results.len(), "law");
        console.line(&format!("\n{laws}: {holds} held, {broken} broken, {others} not tried"));
    }
    if broken == 0 { Ok(()) } else { Err(Failure::silent(code::FAILURE)) }
}

/// Refuses inputs that the schema of the plugin does not allow, before anything is made of them.
async fn check_by_schema(
    context: &Context,
    arguments: &ProviderTest,
    setup: &PluginSetup,
    samples: &Samples,
) -> Result<()> {
    // A plugin without a schema is judged all the same.
    let Some(schema) = schema_under_test(&context.directory, &arguments.plugin, setup).await else { return Ok(()) };
    let kind = &arguments.kind;
    let problems = problems_of_examples(&schema, kind, &samples.inputs);
    let problems = problems.map_err(|what| Failure::configuration(format!("no law was tried: '{kind}': {what}")))?;
    let [first, others @ ..] = problems.as_slice() else { return Ok(()) };
    let more = match others.len() {
        0 => String::new(),
        more => format!(", and {}", count(more, "other problem")),
    };
    let file = arguments.inputs.display();
    Err(Failure::configuration(format!(
        "no law was tried: the inputs do not fit '{kind}'{more}\n{file}: {first}\n\
         Correct them. Where the schema is wrong, say so in the file: waive: {{ schema: REASON }}"
    )))
}

/// Shows the results of laws as they come.
struct LawResultPrinter<'a> {
    console: &'a Console,
    is_json: bool,
    stopped: Arc<AtomicBool>,
}

impl Listener for LawResultPrinter<'_> {
    fn tell(&mut self, result: &PluginLawResult) {
        if !self.is_json {
            self.console.line(&result.text);
        }
        for left in &result.left {
            self.console.warn(format!("{}: this object could not be deleted and is left: {left}", result.law));
        }
    }

    fn stops(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

/// Deals with signals: the first one stops the judge, which deletes what it has made; the second one leaves at once.
fn watch(context: &Context, plugin: &PluginUnderTest, stopped: &Arc<AtomicBool>) -> Result<Option<Watch>> {
    if context.library.is_some() {
        return Ok(None);
    }
    let (plugin, stopped) = (plugin.clone(), Arc::clone(stopped));
    let (told, left) = (context.console.clone(), context.console.clone());
    let first = move |_| {
        stopped.store(true, Ordering::Relaxed);
        told.note("stopping: what the present law has made is deleted (press Ctrl-C again to leave at once)");
        plugin.give_up();
    };
    let last_words = move |_| left.warn("left at once: what the present law has made may be left");
    let begun = Watch::begin(PATIENCE, code::CANCELLED, |_| false, first, last_words);
    begun.map(Some).map_err(|error| Failure::io("signals cannot be watched", &error))
}

/// Reads the file of inputs: a list of them, or an object with the list as `inputs` and what else is known of the resource.
fn read_samples(file: &Path) -> Result<(Samples, BTreeMap<String, Config>)> {
    let failure = |what: &str| Failure::configuration(format!("{}: {what}", file.display()));
    let text = yaml::load("the file of inputs", file)?;
    let text = text.ok_or_else(|| failure("there is no such file; write inputs of the resource into it"))?;
    let value = yaml::read(file, &text)?;
    let value = serde_json::to_value(&value).map_err(|error| failure(&error.to_string()))?;
    let mut members = match value {
        Json::Array(inputs) => Map::from_iter([("inputs".to_owned(), Json::Array(inputs))]),
        Json::Object(members) => members,
        _ => return Err(failure("it has neither a list of inputs nor an object with the member `inputs`")),
    };
    let mut config = BTreeMap::new();
    for (member, secret) in [("config", false), ("secrets", true)] {
        match members.remove(member) {
            None => {}
            Some(Json::Object(values)) => config.extend(values.into_iter().map(|(key, value)| {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                (key, Config { value, secret })
            })),
            Some(_) => return Err(failure(&format!("`{member}` is no object; write a value for each key"))),
        }
    }
    let mut samples: Samples =
        serde_json::from_value(Json::Object(members)).map_err(|error| failure(&error.to_string()))?;
    samples.check().map_err(|text| failure(&text))?;
    file.parent().unwrap_or(Path::new(".")).clone_into(&mut samples.directory);
    Ok((samples, config))
}
