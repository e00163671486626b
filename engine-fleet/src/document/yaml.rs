//! YAML as values that know their places.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, Tag};

use super::node::{Entry, Node, Place, Value};

/// Nobody nests values deeper.
const MAX_DEPTH: usize = 64;
/// Aliases may repeat what is there; a few of them can make a file of a page come to more than a machine has.
const MAX_VALUES: usize = 2_000_000;

/// What is wrong with a text, and where.
pub(crate) struct BadYaml {
    pub(crate) place: Place,
    pub(crate) what: String,
}

fn place(marker: Marker) -> Place {
    Place { line: marker.line(), column: marker.col() + 1 }
}

/// A list or mapping that is still open.
enum Open {
    List(Vec<Node>),
    /// With the key whose value comes next.
    Mapping(Vec<Entry>, Option<(String, Place)>),
}

struct Container {
    open: Open,
    place: Place,
    anchor: usize,
}

#[derive(Default)]
struct Reading {
    containers: Vec<Container>,
    anchors: HashMap<usize, (Node, usize)>,
    values: usize,
    root: Option<Node>,
}

/// Reads a text; an empty one is [`Value::Nothing`].
pub(crate) fn read(text: &str) -> Result<Node, BadYaml> {
    let mut reading = Reading::default();
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|error| BadYaml { place: place(*error.marker()), what: error.info().to_owned() })?;
        if matches!(event, Event::DocumentStart(_)) {
            documents += 1;
        }
        if documents > 1 {
            return Err(at(&span, "a second document begins here, and a file has one"));
        }
        reading.take(event, &span)?;
    }
    Ok(reading.root.unwrap_or(Node { place: Place { line: 1, column: 1 }, value: Value::Nothing }))
}

fn at(span: &Span, what: impl Into<String>) -> BadYaml {
    BadYaml { place: place(span.start), what: what.into() }
}

impl Reading {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), BadYaml> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref()).map_err(|what| at(span, what))?;
                self.put(Node { place: place(span.start), value }, anchor, 1, span)
            }
            Event::SequenceStart(anchor, _) => self.open(Open::List(Vec::new()), anchor, span),
            Event::MappingStart(anchor, _) => self.open(Open::Mapping(Vec::new(), None), anchor, span),
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(Container { open, place, anchor }) = self.containers.pop() else { return Ok(()) };
                let value = match open {
                    Open::List(items) => Value::List(items),
                    Open::Mapping(entries, _) => Value::Mapping(entries),
                };
                self.put(Node { place, value }, anchor, 0, span)
            }
            Event::Alias(anchor) => {
                let found = self.anchors.get(&anchor).cloned();
                let (node, size) = found.ok_or_else(|| at(span, "this alias stands inside of what it names"))?;
                self.put(Node { place: place(span.start), ..node }, 0, size, span)
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => {
                Ok(())
            }
        }
    }

    fn open(&mut self, open: Open, anchor: usize, span: &Span) -> Result<(), BadYaml> {
        if self.containers.len() >= MAX_DEPTH {
            return Err(at(span, format!("values are nested more than {MAX_DEPTH} deep")));
        }
        if let Some(Container { open: Open::Mapping(_, None), .. }) = self.containers.last() {
            return Err(at(span, "the name of a field must be a text"));
        }
        self.containers.push(Container { open, place: place(span.start), anchor });
        Ok(())
    }

    /// A value is whole: it goes where it belongs. `size`: how many values it adds to those that there are.
    fn put(&mut self, node: Node, anchor: usize, size: usize, span: &Span) -> Result<(), BadYaml> {
        self.values += size;
        if self.values > MAX_VALUES {
            return Err(at(span, format!("the aliases come to more than {MAX_VALUES} values")));
        }
        if anchor != 0 {
            let size = count(&node);
            self.anchors.insert(anchor, (node.clone(), size));
        }
        match self.containers.last_mut().map(|container| &mut container.open) {
            None => self.root = Some(node),
            Some(Open::List(items)) => items.push(node),
            Some(Open::Mapping(entries, key @ None)) => {
                let name = node.scalar().ok_or_else(|| at(span, "the name of a field must be a text"))?.to_owned();
                if entries.iter().any(|entry| entry.name == name) {
                    return Err(at(span, format!("'{name}' stands twice in this mapping")));
                }
                *key = Some((name, node.place));
            }
            Some(Open::Mapping(entries, key)) => {
                if let Some((name, place)) = key.take() {
                    entries.push(Entry { name, place, node });
                }
            }
        }
        Ok(())
    }
}

fn count(node: &Node) -> usize {
    match &node.value {
        Value::List(items) => items.iter().map(count).sum::<usize>() + 1,
        Value::Mapping(entries) => entries.iter().map(|entry| count(&entry.node) + 1).sum::<usize>() + 1,
        _ => 1,
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    match tag {
        Some(tag) if !tag.is_yaml_core_schema() => {
            return Err(format!("the tag '{tag}' says nothing here; take it away"));
        }
        Some(tag) if tag.suffix == "str" => return Ok(Value::Text(text.to_owned())),
        _ => {}
    }
    if style != ScalarStyle::Plain {
        return Ok(Value::Text(text.to_owned()));
    }
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Nothing,
        "true" | "True" | "TRUE" => Value::Truth(true),
        "false" | "False" | "FALSE" => Value::Truth(false),
        _ if is_number(text) => Value::Number(text.to_owned()),
        _ => Value::Text(text.to_owned()),
    })
}

/// Numbers of YAML's core schema, without those that are none (`.nan`, `.inf`).
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let of_base = |prefix: &str, base: u32| {
        text.strip_prefix(prefix).is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_digit(base)))
    };
    let begins = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let is_decimal = begins && unsigned.contains(|c: char| c.is_ascii_digit()) && unsigned.parse::<f64>().is_ok();
    is_decimal || of_base("0x", 16) || of_base("0o", 8)
}
