//! Patterns of names: `${name}-${hex(7)}`.

use ring::digest::{Context, SHA256};

use crate::urn::Urn;

use super::Seed;
use super::stack_facts::StackFacts;

/// More random characters than this are a mistake.
const MAX_RANDOM: usize = 256;
const HEX: &[u8] = b"0123456789abcdef";
const DIGITS: &[u8] = b"0123456789";
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const ALPHANUMERIC: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// One part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// The resource's name.
    Name,
    Random {
        alphabet: &'static [u8],
        length: usize,
    },
    Uuid,
}

/// A pattern, read; what does not depend on the resource is filled in already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern(Vec<Part>);

impl Pattern {
    /// What is used where the configuration says nothing: the resource's name, a dash, seven hexadecimal digits.
    pub(super) fn default_one() -> Self {
        Self(vec![Part::Name, Part::Text("-".to_owned()), Part::Random { alphabet: HEX, length: 7 }])
    }

    /// The resource's name and nothing else.
    pub(super) fn verbatim() -> Self {
        Self(vec![Part::Name])
    }

    pub(super) fn parse(text: &str, facts: &StackFacts<'_>) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            let (expression, after) =
                after.split_once('}').ok_or_else(|| format!("the pattern '{text}' has a '${{' without its '}}'"))?;
            parts.push(Part::parse(expression, facts)?);
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        if parts.is_empty() {
            return Err("the pattern is empty".to_owned());
        }
        Ok(Self(parts))
    }

    /// Does the pattern hold something random?
    pub(super) fn is_random(&self) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Random { .. } | Part::Uuid))
    }

    /// How often the resource's name stands in the pattern.
    pub(super) fn names(&self) -> usize {
        self.0.iter().filter(|part| **part == Part::Name).count()
    }

    /// A name; equal draws give equal ones, whatever the resource's name is.
    pub(super) fn fill(&self, name: &str, mut draw: Draw) -> String {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Text(literal) => text.push_str(literal),
                Part::Name => text.push_str(name),
                Part::Random { alphabet, length } => {
                    text.extend((0..*length).map(|_| char::from(draw.one_of(alphabet))));
                }
                Part::Uuid => text.push_str(&draw.uuid().to_string()),
            }
        }
        text
    }
}

impl Part {
    fn parse(expression: &str, facts: &StackFacts<'_>) -> Result<Self, String> {
        if let Some(key) = expression.strip_prefix("config.") {
            return facts.config(key).map(Part::Text);
        }
        match expression {
            "name" => return Ok(Part::Name),
            "uuid" => return Ok(Part::Uuid),
            "organization" | "org" => return Ok(Part::Text(facts.organization.to_owned())),
            "project" => return Ok(Part::Text(facts.project.to_owned())),
            "stack" => return Ok(Part::Text(facts.stack.to_owned())),
            _ => {}
        }
        let call = expression.strip_suffix(')').and_then(|call| call.split_once('('));
        let alphabet = match call.map(|(function, _)| function) {
            Some("hex") => HEX,
            Some("alphanum") => ALPHANUMERIC,
            Some("string") => LETTERS,
            Some("num") => DIGITS,
            _ => {
                return Err(format!(
                    "the pattern has '${{{expression}}}'; known are ${{name}}, ${{hex(n)}}, ${{alphanum(n)}}, \
                     ${{string(n)}}, ${{num(n)}}, ${{uuid}}, ${{organization}}, ${{project}}, ${{stack}} and \
                     ${{config.key}}"
                ));
            }
        };
        let length =
            call.and_then(|(_, number)| number.parse().ok()).filter(|length| (1..=MAX_RANDOM).contains(length));
        let length = length
            .ok_or_else(|| format!("the pattern has '${{{expression}}}'; the number must be 1 to {MAX_RANDOM}"))?;
        Ok(Part::Random { alphabet, length })
    }
}

/// Random bytes for one resource: hashes of the seed, the resource and a counter.
#[derive(Clone)]
pub(super) struct Draw {
    key: Context,
    counter: u64,
    block: Vec<u8>,
}

impl Draw {
    pub(super) fn new(seed: &Seed, urn: &Urn) -> Self {
        let mut key = Context::new(&SHA256);
        key.update(seed);
        key.update(urn.as_str().as_bytes());
        // No URN ends in a NUL, so that the counter cannot be taken for a part of it.
        key.update(&[0]);
        Self { key, counter: 0, block: Vec::new() }
    }

    fn byte(&mut self) -> u8 {
        loop {
            if let Some(byte) = self.block.pop() {
                return byte;
            }
            let mut context = self.key.clone();
            context.update(&self.counter.to_be_bytes());
            self.counter += 1;
            self.block = context.finish().as_ref().to_vec();
        }
    }

    /// One of at most 256 characters, each as likely as the others.
    fn one_of(&mut self, alphabet: &[u8]) -> u8 {
        let fair = 256 - 256 % alphabet.len();
        loop {
            let byte = usize::from(self.byte());
            if byte < fair {
                return alphabet[byte % alphabet.len()];
            }
        }
    }

    fn uuid(&mut self) -> uuid::Uuid {
        let bytes = std::array::from_fn(|_| self.byte());
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }
}
