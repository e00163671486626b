use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use async_trait::async_trait;
use futures::executor::block_on;
use maloko_core::error::{Error, Result};
use maloko_core::plugin::{FIRST_PLUGIN, PackageRequest, PluginAnswer, PluginClient, PluginHost, PluginQuestion};
use maloko_core::provider::{Answer, DiffAnswer, Method, ObjectId, ProviderCall, ProviderError, ProviderErrorKind};
use maloko_core::urn::Urn;
use maloko_core::{PropertyMap, Value};

use super::{Listener, PluginLawResult, PluginSetup, PluginUnderTest, Samples, judge_plugin};

const BOX: &str = "boxes:index:Box";

/// A plugin in memory, with a bug or without one.
#[derive(Default)]
struct Boxes {
    bug: &'static str,
    world: Mutex<World>,
}

#[derive(Default)]
struct World {
    boxes: BTreeMap<String, PropertyMap>,
    made: u32,
    starts: u32,
    configured: u32,
}

impl Boxes {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, call: ProviderCall) -> std::result::Result<Answer, ProviderError> {
        let preview = call.for_plugin.as_ref().is_some_and(|it| it.preview);
        let mut world = self.world();
        Ok(match call.method {
            Method::Create { inputs, .. } if preview => Answer::created("", inputs),
            Method::Update { news, .. } if preview => Answer::Updated { outputs: news, read_first: false },
            Method::Check { mut news, .. } => {
                if self.bug == "L1" {
                    let count = world.made + 1;
                    world.made = count;
                    news.insert("count".to_owned(), Value::Number(f64::from(count)));
                }
                Answer::Checked { inputs: news, failures: Vec::new() }
            }
            Method::Diff { .. } => Answer::Diffed(DiffAnswer::default()),
            Method::Create { inputs, .. } => {
                if inputs.get("size") == Some(&Value::Number(-1.0)) {
                    return Err(ProviderError::new(ProviderErrorKind::Raised, "too small"));
                }
                world.made += 1;
                let id = format!("box-{}", world.made);
                world.boxes.insert(id.clone(), inputs.clone());
                Answer::created(id, inputs)
            }
            Method::Update { id, news, .. } => {
                world.boxes.insert(id, news.clone());
                Answer::Updated { outputs: news, read_first: false }
            }
            Method::Read { id, .. } => match world.boxes.get(&id).cloned() {
                None => Answer::Read { id: String::new(), outputs: None, inputs: None, read_first: false },
                Some(inputs) => {
                    let mut outputs = inputs.clone();
                    if self.bug == "L3" {
                        outputs.insert("size".to_owned(), Value::Number(99.0));
                    }
                    Answer::Read { id, outputs: Some(outputs), inputs: Some(inputs), read_first: false }
                }
            },
            Method::Delete { id, .. } => {
                if world.boxes.remove(&id).is_none() && self.bug == "L8" {
                    return Err(ProviderError::new(ProviderErrorKind::Raised, "there is no such box"));
                }
                Answer::Deleted
            }
            Method::Find { .. } | Method::Configure { .. } | Method::Close => Answer::Closed,
        })
    }
}

#[async_trait]
impl PluginHost for Boxes {
    fn bind(&self, _engine: Weak<dyn PluginClient>) {}

    async fn start(&self, _package: &PackageRequest, _provider: &Urn) -> std::result::Result<ObjectId, ProviderError> {
        if self.bug == "start" {
            return Err(ProviderError::new(ProviderErrorKind::NoProvider, "no such plugin"));
        }
        let mut world = self.world();
        world.starts += 1;
        Ok(FIRST_PLUGIN + u64::from(world.starts))
    }

    async fn ask(
        &self,
        _plugin: ObjectId,
        question: PluginQuestion,
    ) -> std::result::Result<PluginAnswer, ProviderError> {
        Ok(match question {
            PluginQuestion::CheckConfig { news, .. } => PluginAnswer::Checked { inputs: news, failures: Vec::new() },
            PluginQuestion::DiffConfig { .. } => PluginAnswer::Diffed(DiffAnswer::default()),
            PluginQuestion::Configure { .. } => {
                self.world().configured += 1;
                PluginAnswer::Configured
            }
            PluginQuestion::Invoke { arguments, .. } => {
                PluginAnswer::Returned { result: arguments, failures: Vec::new() }
            }
            PluginQuestion::Extend(_) | PluginQuestion::Construct { .. } | PluginQuestion::Call { .. } => {
                PluginAnswer::Configured
            }
        })
    }

    async fn call(&self, _plugin: ObjectId, call: ProviderCall) -> std::result::Result<Answer, ProviderError> {
        self.answer(call)
    }

    async fn call_back(
        &self,
        _target: &str,
        _token: &str,
        _request: Vec<u8>,
    ) -> std::result::Result<Vec<u8>, ProviderError> {
        Ok(Vec::new())
    }

    fn cancel(&self) {}

    async fn stop(&self, _plugin: ObjectId) {}

    async fn stop_all(&self) {}
}

/// Stops the judge after so many results.
struct Told(usize);

impl Default for Told {
    fn default() -> Self {
        Self(usize::MAX)
    }
}

impl Listener for Told {
    fn tell(&mut self, _result: &PluginLawResult) {
        self.0 -= 1;
    }

    fn stops(&self) -> bool {
        self.0 == 0
    }
}

fn samples(inputs: &str) -> Result<Samples> {
    serde_json::from_str(inputs).map_err(|error| Error::Configuration(error.to_string().into()))
}

fn plugin(boxes: &Arc<Boxes>) -> Result<PluginUnderTest> {
    let setup = PluginSetup { kind: BOX.to_owned(), ..PluginSetup::default() };
    let boxes = Arc::clone(boxes);
    PluginUnderTest::new(setup, Box::new(move || Arc::clone(&boxes) as _))
}

fn judged(boxes: &Arc<Boxes>, inputs: &str, laws: &[&str]) -> Result<Vec<PluginLawResult>> {
    let laws: Vec<String> = laws.iter().map(|it| (*it).to_owned()).collect();
    block_on(judge_plugin(&plugin(boxes)?, BOX, &samples(inputs)?, &laws, &mut Told::default()))
}

const TWO: &str = r#"{ "inputs": [{ "size": 1 }, { "size": 2 }], "secret": [] }"#;

#[test]
fn a_plugin_that_is_right_breaks_no_law_and_leaves_nothing() -> Result<()> {
    let boxes = Arc::<Boxes>::default();
    let results = judged(&boxes, TWO, &[])?;
    let broken: Vec<&str> = results.iter().filter(|it| it.outcome == "broken").map(|it| it.text.as_str()).collect();
    assert_eq!(broken, Vec::<&str>::new());
    let holds: Vec<&str> = results.iter().filter(|it| it.outcome == "holds").map(|it| it.law).collect();
    assert_eq!(holds, ["L1", "L2", "L3", "L4", "L5", "L6", "L8", "L9", "L12", "L14", "L15", "L17"]);
    assert!(boxes.world().boxes.is_empty());
    Ok(())
}

#[test]
fn a_plugin_is_kept_from_run_to_run() -> Result<()> {
    let boxes = Arc::<Boxes>::default();
    judged(&boxes, TWO, &["L1", "L2", "L9"])?;
    let world = boxes.world();
    assert_eq!((world.starts, world.configured), (1, 1));
    Ok(())
}

#[test]
fn each_bug_breaks_its_law() -> Result<()> {
    for bug in ["L1", "L3", "L8"] {
        let boxes = Arc::new(Boxes { bug, ..Boxes::default() });
        let results = judged(&boxes, TWO, &[bug])?;
        assert_eq!(results.iter().map(|it| it.outcome).collect::<Vec<_>>(), ["broken"], "{bug}: {results:?}");
        assert!(results[0].text.contains(&format!("broken by {BOX}")), "{}", results[0].text);
    }
    Ok(())
}

#[test]
fn inputs_that_are_refused_are_told_with_the_first_error() -> Result<()> {
    let results = judged(&Arc::default(), r#"{ "inputs": [{ "size": -1 }] }"#, &["L2"])?;
    assert_eq!(results[0].outcome, "broken");
    assert!(results[0].text.contains("refuses all 1 example inputs"), "{}", results[0].text);
    assert!(results[0].text.contains("too small"), "{}", results[0].text);
    Ok(())
}

#[test]
fn laws_that_a_plugin_cannot_be_tried_on_say_why() -> Result<()> {
    let waived = r#"{ "inputs": [{ "size": 1 }], "waive": { "L2": "why not" } }"#;
    let results = judged(&Arc::default(), waived, &["L2", "L5", "L10", "L13"])?;
    let told: Vec<&str> = results.iter().map(|it| it.text.split([',', ':']).next().unwrap_or_default()).collect();
    let expected = [
        "L2 is waived",
        "L5 needs two `inputs` that differ; there is one",
        "L10 needs `world`",
        "L13 needs an operation key",
    ];
    assert_eq!(told, expected);
    Ok(())
}

#[test]
fn a_judge_that_is_stopped_gives_the_verdicts_so_far_and_leaves_nothing() -> Result<()> {
    let boxes = Arc::<Boxes>::default();
    let results = block_on(judge_plugin(&plugin(&boxes)?, BOX, &samples(TWO)?, &[], &mut Told(2)))?;
    assert_eq!(results.iter().map(|it| it.law).collect::<Vec<_>>(), ["L1", "L2"]);
    assert!(boxes.world().boxes.is_empty());
    Ok(())
}

#[test]
fn a_plugin_that_does_not_come_up_is_no_verdict() -> Result<()> {
    let boxes = Arc::new(Boxes { bug: "start", ..Boxes::default() });
    assert_eq!(block_on(plugin(&boxes)?.prepare()), Err("no such plugin".to_owned()));
    Ok(())
}

#[test]
fn samples_and_types_that_make_no_sense_are_refused() -> Result<()> {
    assert!(samples(r#"{ "inputs": [] }"#)?.check().is_err_and(|text| text.contains("no `inputs`")));
    let unknown = samples(r#"{ "inputs": [{}], "waive": { "L99": "why" } }"#)?;
    assert!(unknown.check().is_err_and(|text| text.contains("`waive` names L99")));
    let silent = samples(r#"{ "inputs": [{}], "waive": { "L2": " " } }"#)?;
    assert!(silent.check().is_err_and(|text| text.contains("gives no reason for L2")));
    assert!(judged(&Arc::default(), TWO, &["L99"]).is_err());
    for kind in ["Box", "pulumi:providers:boxes", "pulumi-python:dynamic:Box"] {
        let setup = PluginSetup { kind: kind.to_owned(), ..PluginSetup::default() };
        assert!(setup.check().is_err_and(|text| text.contains("is no type of a package")), "{kind}");
    }
    Ok(())
}
