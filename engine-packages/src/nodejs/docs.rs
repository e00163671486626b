//! Texts of a schema as comments of typing files.

use std::fmt::Write as _;

/// How much of a text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it, without examples of other languages.
    Whole,
    /// The first paragraph: the rest stands where the same thing is given.
    First,
}

/// A comment, each line of it after the indent; empty where there is nothing to say.
pub(super) fn comment(text: &str, deprecation: &str, extent: Extent, indent: &str) -> String {
    let mut shown = examples_of_typescript(text);
    if extent == Extent::First {
        shown = shown.trim().split("\n\n").next().unwrap_or_default().to_owned();
    }
    let mut lines: Vec<String> = shown.trim().lines().map(|line| line.trim_end().to_owned()).collect();
    if !deprecation.is_empty() {
        let mut parts = deprecation.trim().lines();
        lines.push(format!("@deprecated {}", parts.next().unwrap_or_default()));
        lines.extend(parts.map(str::to_owned));
    }
    let safe: Vec<String> = lines.iter().map(|line| references(line).replace("*/", "*&#47;")).collect();
    match safe.as_slice() {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let mut made = format!("{indent}/**\n");
            for line in lines {
                let space = if line.is_empty() { "" } else { " " };
                let _ = writeln!(made, "{indent} *{space}{line}");
            }
            let _ = writeln!(made, "{indent} */");
            made
        }
    }
}

/// Leaves out code of other languages, and the marks around examples.
fn examples_of_typescript(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut pending = String::new();
    let mut fence: Option<(String, bool)> = None;
    let (mut within_example, mut has_code, mut was_blank) = (false, false, true);
    for line in text.lines() {
        let start = line.trim_start();
        if let Some((end, is_kept)) = &fence {
            let ends = start.trim_end() == end;
            if *is_kept {
                let target = if within_example { &mut pending } else { &mut made };
                push(target, line, &mut was_blank);
            }
            if ends {
                fence = None;
            }
            continue;
        }
        match start.trim_end() {
            "{{% examples %}}" | "{{% /examples %}}" => continue,
            mark if mark.starts_with("<!--") && mark.contains("PulumiCodeChooser") => continue,
            "{{% example %}}" => {
                (within_example, has_code) = (true, false);
                pending.clear();
                continue;
            }
            "{{% /example %}}" => {
                if has_code {
                    made.push_str(&pending);
                }
                within_example = false;
                continue;
            }
            _ => {}
        }
        let target = if within_example { &mut pending } else { &mut made };
        let ticks = start.len() - start.trim_start_matches('`').len();
        if ticks >= 3 {
            let language = start[ticks..].trim();
            let is_kept = matches!(language, "" | "typescript" | "ts" | "sh" | "bash");
            has_code |= is_kept;
            fence = Some(("`".repeat(ticks), is_kept));
            if is_kept {
                push(target, line, &mut was_blank);
            }
            continue;
        }
        push(target, line, &mut was_blank);
    }
    made
}

/// Code that is left out leaves blank lines behind: one is enough.
fn push(target: &mut String, line: &str, was_blank: &mut bool) {
    let is_blank = line.trim().is_empty();
    if !(is_blank && *was_blank) {
        target.push_str(line);
        target.push('\n');
    }
    *was_blank = is_blank;
}

/// `{{% ref #/types/probe:index:Part/properties/size %}}` reads `Part.size`.
fn references(line: &str) -> String {
    let mut made = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("{{% ref ") {
        let Some((reference, behind)) = after.split_once("%}}") else { break };
        let path = reference.trim().rsplit(':').next().unwrap_or_default();
        let names: Vec<&str> = path
            .split('/')
            .filter(|part| !matches!(*part, "properties" | "inputProperties" | "inputs" | "outputs"))
            .collect();
        made.push_str(before);
        made.push('`');
        made.push_str(&names.join("."));
        made.push('`');
        rest = behind;
    }
    made + rest
}
