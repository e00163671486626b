//! A lifecycle as a test that an author can keep.

use serde::Deserialize;

use super::step::Step;

/// How the host's language writes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "language", rename_all = "snake_case")]
pub enum Story {
    /// A function for pytest.
    Python {
        /// The names that it needs, each with its module.
        imports: Vec<(String, String)>,
        /// What the lifecycle is made with.
        arguments: Vec<String>,
    },
    /// A test for vitest or jest.
    Typescript {
        /// What stands for the provider; empty: its name.
        #[serde(default)]
        provider: String,
    },
}

impl Story {
    /// A step.
    pub(super) fn step(&self, step: &Step) -> String {
        let arguments = step.arguments().join(", ");
        match self {
            Self::Python { .. } => {
                // A keyword of the language cannot be a method.
                let rule = if step.rule() == "import" { "import_" } else { step.rule() };
                format!("life.{rule}({arguments})")
            }
            Self::Typescript { .. } if arguments.is_empty() => format!("[\"{}\"]", step.rule()),
            Self::Typescript { .. } => format!("[\"{}\", {arguments}]", step.rule()),
        }
    }

    /// The test.
    pub(super) fn program(&self, name: &str, steps: &[Step], ended: bool) -> String {
        let steps = steps.iter().map(|step| self.step(step));
        let lines: Vec<String> = match self {
            Self::Python { imports, arguments } => {
                let imports = imports.iter().map(|(module, name)| format!("    from {module} import {name}"));
                ["def test_again():".to_owned(), "    from maloko.testing import Lifecycle".to_owned()]
                    .into_iter()
                    .chain(imports)
                    .chain([format!("    life = Lifecycle({})", arguments.join(", "))])
                    .chain(steps.map(|step| format!("    {step}")))
                    .chain(ended.then(|| "    life.end()".to_owned()))
                    .collect()
            }
            Self::Typescript { provider } => {
                let provider = if provider.is_empty() { name } else { provider };
                [format!("test(\"lifecycle of {name}\", () => runLifecycle({provider}, options, [")]
                    .into_iter()
                    .chain(steps.map(|step| format!("    {step},")))
                    .chain(["]));".to_owned()])
                    .collect()
            }
        };
        lines.join("\n")
    }
}
