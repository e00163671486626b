//! A value of a document together with the way to it, for those who take it and tell what is wrong with it.

use maloko_core::message::suggestions::instead;

use super::Document;
use super::node::{Entry, Node, Place, Value};
use super::units::{self, Share};
use crate::fault::{Fault, Result};

/// A value, and the way to it: `stacks[1].needs[0]`.
#[derive(Clone)]
pub(crate) struct Field<'a> {
    document: &'a Document,
    node: &'a Node,
    path: String,
}

impl<'a> Field<'a> {
    pub(super) fn root(document: &'a Document, node: &'a Node) -> Self {
        Self { document, node, path: String::new() }
    }

    /// Its value.
    pub(crate) fn node(&self) -> &'a Node {
        self.node
    }

    /// What is wrong with it, and what to do.
    pub(crate) fn fault(&self, what: impl AsRef<str>) -> Fault {
        self.fault_at(self.node.place, what.as_ref())
    }

    fn fault_at(&self, place: Place, what: &str) -> Fault {
        let field = if self.path.is_empty() { String::new() } else { format!("{}: ", self.path) };
        Fault::new(format!("{}: {field}{what}", self.place(place)))
    }

    fn place(&self, place: Place) -> String {
        match &self.document.file {
            None => "the fleet".to_owned(),
            Some(file) if place.line == 0 => file.display().to_string(),
            Some(file) => format!("{}:{}:{}", file.display(), place.line, place.column),
        }
    }

    /// Where it stands, for the messages of others: `fleet.yaml:9`, or the way to it where code has made it.
    pub(crate) fn origin(&self) -> String {
        match &self.document.file {
            Some(file) if self.node.place.line != 0 => {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                format!("{name}:{}", self.node.place.line)
            }
            _ => self.path.clone(),
        }
    }

    fn wrong_type(&self, wanted: &str) -> Fault {
        self.fault(format!("it must be {wanted}, and is {}", self.node.described()))
    }

    fn entries(&self) -> Result<&'a [Entry]> {
        match &self.node.value {
            Value::Mapping(entries) => Ok(entries),
            _ => Err(self.wrong_type("a mapping")),
        }
    }

    fn below(&self, name: &str, node: &'a Node) -> Self {
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Self { document: self.document, node, path }
    }

    /// The members of a mapping.
    pub(crate) fn members(&self) -> Result<impl Iterator<Item = (&'a str, Field<'a>)> + use<'a, '_>> {
        Ok(self.entries()?.iter().map(|entry| (entry.name.as_str(), self.below(&entry.name, &entry.node))))
    }

    /// A member; `None` where it is not there or empty.
    pub(crate) fn member(&self, name: &str) -> Result<Option<Field<'a>>> {
        let found = self.entries()?.iter().find(|entry| entry.name == name);
        Ok(found.filter(|entry| entry.node.value != Value::Nothing).map(|entry| self.below(name, &entry.node)))
    }

    /// A member that has to be there; `such_as` shows one.
    pub(crate) fn required(&self, name: &str, such_as: &str) -> Result<Field<'a>> {
        self.member(name)?.ok_or_else(|| self.fault(format!("`{name}` is missing; write one, such as `{such_as}`")))
    }

    /// Refuses members of other names.
    pub(crate) fn knows(&self, known: &[&str]) -> Result<()> {
        match self.entries()?.iter().find(|entry| !known.contains(&entry.name.as_str())) {
            None => Ok(()),
            Some(entry) => {
                let instead = instead(&entry.name, known.iter().copied(), "the fields here are");
                Err(self.fault_at(entry.place, &format!("there is no field `{}`; {instead}", entry.name)))
            }
        }
    }

    /// The items of a list.
    pub(crate) fn items(&self) -> Result<Vec<Field<'a>>> {
        let Value::List(items) = &self.node.value else { return Err(self.wrong_type("a list")) };
        let item = |(index, node)| Self { document: self.document, node, path: format!("{}[{index}]", self.path) };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// The items of a list, or the value itself where it is a single one.
    pub(crate) fn one_or_more(&self) -> Result<Vec<Field<'a>>> {
        if self.node.scalar().is_some() { Ok(vec![self.clone()]) } else { self.items() }
    }

    /// A text, or what is read as something else and was meant as one (`stack: 1`).
    pub(crate) fn text(&self) -> Result<&'a str> {
        self.node.scalar().ok_or_else(|| self.wrong_type("a text"))
    }

    /// One of several words.
    pub(crate) fn word(&self, known: &[&str]) -> Result<&'a str> {
        let text = self.text()?;
        if known.contains(&text) {
            return Ok(text);
        }
        Err(self.fault(format!("'{text}' is none of {}", known.join(", "))))
    }

    /// A whole number from 1.
    pub(crate) fn number(&self) -> Result<u64> {
        let number = self.node.scalar().and_then(|text| text.parse().ok()).filter(|number| *number > 0);
        number.ok_or_else(|| self.not("a whole number from 1", "200"))
    }

    /// A number above 0.
    pub(crate) fn rate(&self) -> Result<f64> {
        let number = self.node.scalar().and_then(|text| text.parse::<f64>().ok());
        number.filter(|rate| rate.is_finite() && *rate > 0.0).ok_or_else(|| self.not("a number above 0", "2.5"))
    }

    /// The seconds of a duration.
    pub(crate) fn duration(&self) -> Result<f64> {
        let seconds = self.node.scalar().and_then(units::duration);
        seconds.ok_or_else(|| self.not("a duration with its unit", "90s, 5m or 1h30m"))
    }

    /// A number of stacks, or a share of them.
    pub(crate) fn share(&self) -> Result<Share> {
        let share = self.node.scalar().and_then(Share::read);
        share.ok_or_else(|| self.not("a number of stacks from 1 or a share of them", "5 or 5%"))
    }

    fn not(&self, wanted: &str, such_as: &str) -> Fault {
        match self.node.scalar() {
            Some(text) => self.fault(format!("'{text}' is not {wanted}; write one, such as {such_as}")),
            None => self.wrong_type(wanted),
        }
    }
}
