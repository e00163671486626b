//! What both testing kits ask: the meaning of an assertion and its words are here, so that they are the same in every language.
//!
//! A [`Question`] and its answer are JSON at the bindings' border. The hosts keep what only they can do: their own matchers,
//! fixtures and exceptions.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::cloud::ledger::{self, Card};
use crate::fault_points::Interruption;
use crate::files;
use crate::laws::{self, InconclusiveExample, Subject};
use crate::lifecycle::{self, Edit};
use crate::plan_assertions::{self, Demand, ExpectedStep, Step};
use crate::recorded::{self, CallOrFile, CallOutcome, LoggedCall};

/// One question of a testing kit.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Question {
    /// A plan as text.
    PlanText { steps: Vec<Step> },
    /// Where a plan is not as expected, as a list of lines.
    PlanDifferences { steps: Vec<Step>, expected: Vec<ExpectedStep> },
    /// Does a plan meet a demand? `{ "holds", "text" }`.
    PlanDemand { steps: Vec<Step>, demand: Demand },
    /// The texts inside the secrets of an exported state.
    SecretTexts { state: Json },
    /// Texts without secrets, as a list. `secrets`: each with what stands in its place. `short`: those hide even where they are
    /// too short to be told from other words.
    Redact {
        secrets: Vec<(String, String)>,
        texts: Vec<String>,
        #[serde(default)]
        short: bool,
    },
    /// How a run can be interrupted: `{ "kinds", "mistake" }`, where the mistake is about those that are given.
    CrashKinds { given: Vec<String> },
    /// The place on disk of one stack of a test, made or found: `{ "directory", "state", "leftover" }`, or `{ "error" }`.
    Ledger { root: PathBuf, card: Card, number: u64, runtime: String },
    /// What runs have left on disk: `[{ "directory", "state", "card", "damaged" }]`, of which one of the last two is `null`.
    Leftovers { root: PathBuf },
    /// A stack on disk that cannot be read, as text.
    LedgerUnreadable { test: String, directory: String, stack: String, error: String },
    /// Writes an exported state to a file without its secrets; `known`: more texts that are secret. `null`, or `{ "error" }`; so
    /// for all that follow about files.
    SaveBaseline { file: PathBuf, deployment: String, secrets: BTreeMap<String, String>, known: Vec<String> },
    /// The deployment of such a file, as text, with the secrets of today. `how`: what writes one.
    Baseline { file: PathBuf, secrets: BTreeMap<String, String>, how: String },
    /// The resources of a former release: `[{ "id", "inputs", "outputs" }]`.
    FormerResources { given: Json, kind: Option<String> },
    /// The inputs of resources of an exported stack, as a list.
    ExportedInputs { file: PathBuf, of_type: Option<String>, names: Option<Vec<String>> },
    /// Writes a call of a provider to a file.
    SaveCall { file: PathBuf, call: LoggedCall },
    /// A call that is to be made again, given or in a file: `{ "call", "arguments" }`, the latter in their order. `how`: what
    /// writes such a file.
    CallToRepeat { logged: CallOrFile, how: String },
    /// What is other than logged of a call that was made again, as text, or `null`.
    CallDifference { call: LoggedCall, outcome: CallOutcome },
    /// The laws, in order: `[{ "name", "title", "inputs", "showsInputs", "shrinks" }]`.
    Laws,
    /// Which examples of a law are tried, where most laws are tried on so many: `{ "drawn", "listed" }`. `drawn` is how many are
    /// drawn; `listed` are those of an author's inputs, each as their numbers, where `count` says how many there are.
    LawExamples {
        law: String,
        usual: usize,
        #[serde(default)]
        count: usize,
    },
    /// The result ([`laws::LawResult`]) where all examples said nothing.
    NothingTried { examples: Vec<InconclusiveExample> },
    /// What a law lacks of a provider, as text, or `null`.
    LawLacks { law: String, subject: Subject },
    /// What lifecycles are drawn from (`lifecycle::drawn_from`); `without`: the rules that are left out, each with the reason.
    Lifecycles {
        #[serde(default)]
        without: BTreeMap<String, Json>,
    },
    /// The properties that an edit takes from what was drawn, as a list.
    Edit { edit: Edit },
    /// Which of the author's examples an edit comes to, by number; `null`: the one that was drawn.
    NearestExample { edit: Edit, examples: Vec<Map<String, Json>> },
}

/// Answers a question (JSON) with JSON.
///
/// # Errors
/// A question that cannot be read: a defect of the kit that asked.
pub fn answer(question: &str) -> Result<String, serde_json::Error> {
    let answer: Json = match serde_json::from_str(question)? {
        Question::PlanText { steps } => json!(plan_assertions::text(&steps)),
        Question::PlanDifferences { steps, expected } => json!(plan_assertions::differences(&steps, &expected)),
        Question::PlanDemand { steps, demand } => {
            let (holds, text) = plan_assertions::judge(&steps, demand);
            json!({ "holds": holds, "text": text })
        }
        Question::SecretTexts { state } => json!(files::secret_texts(&state)),
        Question::Redact { secrets, texts, short } => json!(files::redact(&secrets, texts, short)),
        Question::CrashKinds { given } => {
            let kinds = Interruption::ALL.map(Interruption::name);
            json!({ "kinds": kinds, "mistake": Interruption::mistake(&given) })
        }
        Question::Ledger { root, card, number, runtime } => match ledger::open(&root, &card, number, &runtime) {
            Ok(ledger) => json!(ledger),
            Err(error) => {
                json!({ "error": format!("the stack of a test cannot be kept below {}: {error}", root.display()) })
            }
        },
        Question::Leftovers { root } => json!(ledger::leftovers(&root)),
        Question::LedgerUnreadable { test, directory, stack, error } => {
            json!(ledger::unreadable(&test, &directory, &stack, &error))
        }
        Question::SaveBaseline { file, deployment, secrets, known } => {
            or_error(recorded::save(&file, &deployment, &secrets, known))
        }
        Question::Baseline { file, secrets, how } => or_error(recorded::restored(&file, &secrets, &how)),
        Question::FormerResources { given, kind } => or_error(recorded::former_resources(given, kind.as_deref())),
        Question::ExportedInputs { file, of_type, names } => {
            or_error(recorded::inputs(&file, of_type.as_deref(), names.as_deref()))
        }
        Question::SaveCall { file, call } => or_error(call.save(&file)),
        Question::CallToRepeat { logged, how } => or_error(LoggedCall::to_repeat(logged, &how)),
        Question::CallDifference { call, outcome } => json!(call.difference(&outcome)),
        Question::Laws => json!(laws::LAWS),
        Question::Lifecycles { without } => lifecycle::drawn_from(&without),
        Question::Edit { edit } => json!(edit.taken()),
        Question::NearestExample { edit, examples } => json!(edit.nearest(&examples)),
        Question::LawExamples { law, usual, count } => laws::law(&law)
            .map_or(Json::Null, |law| json!({ "drawn": law.examples(usual), "listed": law.listed(usual, count) })),
        Question::NothingTried { examples } => json!(laws::nothing_tried(examples)),
        Question::LawLacks { law, subject } => json!(laws::law(&law).and_then(|law| law.lacks(&subject))),
    };
    Ok(answer.to_string())
}

/// The answer to a question that can be refused: the kit raises an error with this text.
fn or_error(answer: Result<impl Serialize, String>) -> Json {
    answer.map_or_else(|error| json!({ "error": error }), |answer| json!(answer))
}
