//! Texts for people, as they stand in the files of types.

use super::names::snake;

/// A text as a comment of its own, or nothing. `indent`: in front of each line.
pub(super) fn comment(text: &str, indent: &str) -> String {
    let text = with_names(text);
    let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    if lines.iter().all(|line| line.is_empty()) {
        return String::new();
    }
    let mut made = format!("{indent}\"\"\"\n");
    for line in lines {
        if !line.is_empty() {
            made.push_str(indent);
            made.push_str(&line.replace('\\', "\\\\").replace("\"\"\"", "\\\"\\\"\\\""));
        }
        made.push('\n');
    }
    made + indent + "\"\"\"\n"
}

/// The description of a resource or of a function: of its examples, those for Python stay.
pub(super) fn described(text: &str, deprecation: &str, indent: &str) -> String {
    let kept = for_python(text);
    let deprecated = if deprecation.is_empty() { String::new() } else { format!("Deprecated: {deprecation}\n\n") };
    comment(&format!("{deprecated}{kept}"), indent)
}

/// Blocks of code in other languages are left out, and so are the marks of examples.
fn for_python(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut fence: Option<(usize, bool)> = None;
    for line in text.lines() {
        let bare = line.trim_start();
        let ticks = bare.bytes().take_while(|byte| *byte == b'`').count();
        match fence {
            Some((length, is_kept)) => {
                if is_kept {
                    kept.push(line);
                }
                if ticks >= length && bare[ticks..].trim().is_empty() {
                    fence = None;
                }
            }
            None if ticks >= 3 => {
                let language = bare[ticks..].trim();
                let is_kept = matches!(language, "" | "python" | "sh");
                fence = Some((ticks, is_kept));
                if is_kept {
                    kept.push(line);
                }
            }
            None if is_mark(bare) => {}
            None => kept.push(line),
        }
    }
    without_gaps(&kept)
}

fn is_mark(line: &str) -> bool {
    let is_example = line.starts_with("{{%") && line.trim_end().ends_with("%}}") && line.contains("example");
    is_example || line.starts_with("<!--Start PulumiCodeChooser") || line.starts_with("<!--End PulumiCodeChooser")
}

/// One empty line where several were left.
fn without_gaps(lines: &[&str]) -> String {
    let mut made = String::new();
    for line in lines {
        if line.trim().is_empty() && (made.is_empty() || made.ends_with("\n\n")) {
            continue;
        }
        made.push_str(line);
        made.push('\n');
    }
    made
}

/// `{{% ref #/resources/random:index:Pet/properties/someName %}}` is called as Python has it.
fn with_names(text: &str) -> String {
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{% ref ") {
        let Some((path, behind)) = after.split_once("%}}") else { break };
        made.push_str(before);
        let last = path.trim().rsplit(['/', ':']).next().unwrap_or_default();
        let is_member = ["/properties/", "/inputProperties/", "/functions/"].iter().any(|part| path.contains(part));
        made.push_str(&if is_member { snake(last) } else { last.to_owned() });
        rest = behind;
    }
    made + rest
}

#[cfg(test)]
mod tests {
    use super::{comment, described};

    #[test]
    fn examples_in_other_languages_are_left_out() {
        let text = "A pet.\n\n{{% examples %}}\n## Example\n{{% example %}}\n```typescript\nlet a;\n```\n\n```python\na = 1\n```\n{{% /example %}}\n{{% /examples %}}\n\nMore.\n";
        assert_eq!(described(text, "", ""), "\"\"\"\nA pet.\n\n## Example\n\n```python\na = 1\n```\n\nMore.\n\"\"\"\n");
    }

    #[test]
    fn no_text_ends_its_own_comment() {
        assert_eq!(comment("a \"\"\" b \\", "  "), "  \"\"\"\n  a \\\"\\\"\\\" b \\\\\n  \"\"\"\n");
        assert_eq!(comment("  \n", "  "), "");
    }

    #[test]
    fn references_are_called_as_python_has_them() {
        let text =
            "See {{% ref #/resources/a:index:Pet/properties/someName %}} of {{% ref #/resources/a:index:Pet %}}.";
        assert_eq!(comment(text, ""), "\"\"\"\nSee some_name of Pet.\n\"\"\"\n");
    }
}
