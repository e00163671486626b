//! The refusal of an import whose object is not as the program says.

use crate::urn::Urn;

use crate::plan::names::first_few;
use crate::plan::refusals::registration::RegistrationError;

/// So many properties are named in the first line.
const NAMED: usize = 3;

impl RegistrationError {
    /// `names`: the inputs that differ; `lines`: what each of them has here and there, where that is known. The first line
    /// is whole, for it is what a summary shows.
    pub(in crate::plan) fn import_mismatch(urn: &Urn, id: &str, names: &[&str], lines: &[&str]) -> Self {
        let mut text = match names {
            [] => format!(
                "the object '{id}' cannot be imported: its provider's 'diff' says that it is not as the program says\n    * \
                 every input is as the program has it; look at what 'diff' compares"
            ),
            names => {
                format!(
                    "the object '{id}' cannot be imported: it is not as the program says in {}",
                    first_few(names, NAMED)
                )
            }
        };
        for line in lines {
            text.push_str("\n    * ");
            text.push_str(line);
        }
        if lines.is_empty() && !names.is_empty() {
            text.push_str("\n    * its provider's 'diff' names ");
            text.push_str(&names.join(", "));
        }
        text.push_str(
            "\nAn import changes nothing, and nothing was changed. Write into the program what the object has, or list what \
             may differ in the option 'ignoreChanges'; change it once it is imported",
        );
        Self::on(urn, text)
    }
}
