//! Texts with columns of a row in them: `{tenant}-{region}`.

/// A text; `{{` and `}}` stand for single braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Column(String),
}

impl Template {
    /// Takes a text apart. The error says what is wrong and what to do.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (mut parts, mut plain) = (Vec::new(), String::new());
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            plain.push_str(before);
            if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
                plain.push_str(&from[..1]);
                rest = after;
                continue;
            }
            let Some(inside) = from.strip_prefix('{') else {
                return Err("a `}` closes nothing; write `}}` for a brace itself".to_owned());
            };
            let Some((column, after)) = inside.split_once('}') else {
                return Err("a `{` is never closed; write `{{` for a brace itself".to_owned());
            };
            if column.is_empty() || column.contains(['{', '"', ':', '\n']) {
                return Err(format!("`{{{column}}}` names no column; write `{{{{` and `}}}}` for braces themselves"));
            }
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(Part::Column(column.to_owned()));
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self { parts })
    }

    /// The columns that it takes.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Column(column) => Some(column.as_str()),
        })
    }

    /// The text with the columns' values; the error is the first column that there is not.
    pub(crate) fn render<'a>(&self, value: impl Fn(&str) -> Option<&'a str>) -> Result<String, &str> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Column(column) => text.push_str(value(column).ok_or(column.as_str())?),
            }
        }
        Ok(text)
    }
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
