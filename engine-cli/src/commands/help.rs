//! `help`: the flags of a command, or a document about a topic. The documents are part of the program, so that messages can
//! point to them wherever it is installed.

use std::ffi::OsString;

use crate::arguments::{grammar, parse};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::topics::TOPICS;

/// Runs `help`: without words it is `--help`; with those of a command, that command's; else a topic.
pub(crate) fn run(context: &Context, words: &[String]) -> Result<()> {
    if let [word] = words
        && let Some(text) = topic(word)
    {
        context.console.print(&text);
        return Ok(());
    }
    let mut command = &grammar();
    for word in words {
        let found = command
            .get_subcommands()
            .find(|below| below.get_name() == word || below.get_all_aliases().any(|alias| alias == word));
        command = found.ok_or_else(|| unknown(words))?;
    }
    let arguments: Vec<OsString> = words.iter().map(OsString::from).chain(["--help".into()]).collect();
    if let Err(help) = parse(&arguments) {
        context.console.print(&help.render().to_string());
    }
    Ok(())
}

fn unknown(words: &[String]) -> Failure {
    let names: Vec<&str> = TOPICS.iter().map(|(name, ..)| *name).collect();
    Failure::configuration(format!(
        "there is neither a command nor a topic '{}'; `maloko --help` lists the commands, and the topics are {}",
        words.join(" "),
        names.join(", ")
    ))
}

/// The text of a topic, with links that mean something outside of the repository.
fn topic(name: &str) -> Option<String> {
    let name = name.strip_suffix(".md").unwrap_or(name);
    TOPICS.iter().find(|(known, ..)| *known == name).map(|(.., text)| with_plain_links(text))
}

/// `[words](other.md#part)` becomes the words, with the command that shows the other topic; other links lose what leads
/// into the repository.
fn with_plain_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        let (before, link) = rest.split_at(start);
        plain.push_str(before);
        match parts_of(link) {
            Some((words, target, after)) => {
                plain.push_str(words);
                // The documents are in folders, the topics are not.
                let file = target.split('#').next().and_then(|path| path.rsplit('/').next());
                let other = file
                    .and_then(|file| file.strip_suffix(".md"))
                    .filter(|other| TOPICS.iter().any(|(known, ..)| known == other));
                if let Some(other) = other {
                    plain.extend([" (`maloko help ", other, "`)"]);
                } else if target.contains("://") {
                    plain.extend([" (", target, ")"]);
                }
                rest = after;
            }
            None => {
                plain.push('[');
                rest = &link[1..];
            }
        }
    }
    plain + rest
}

/// The words of a link, where it leads, and what follows it.
fn parts_of(link: &str) -> Option<(&str, &str, &str)> {
    let (words, rest) = link[1..].split_once("](")?;
    let (target, after) = rest.split_once(')')?;
    let is_link = !words.contains(['[', ']']) && !target.contains(char::is_whitespace);
    is_link.then_some((words, target, after))
}

#[cfg(test)]
mod tests {
    use super::{TOPICS, topic, with_plain_links};
    use crate::topics::list;

    #[test]
    fn every_topic_is_a_whole_document() {
        for (name, about, text) in TOPICS {
            assert!(text.starts_with("# ") && text.lines().count() > 30, "{name}");
            assert!(!about.is_empty() && list().contains(name), "{name}");
        }
    }

    #[test]
    fn links_lead_to_topics_and_to_the_web_and_nowhere_else() {
        assert_eq!(
            with_plain_links(
                "See [state](../reference/state.md#seals), [a site](https://a.example/b) and [code](../README.md). a[0] (b)"
            ),
            "See state (`maloko help state`), a site (https://a.example/b) and code. a[0] (b)"
        );
        for (name, ..) in TOPICS {
            let text = topic(name).unwrap_or_default();
            assert!(!text.contains(".md)") && !text.contains(".md#"), "{name} leads into the repository");
        }
    }
}
