//! The stacks that the entries of a fleet declare, in the order of the file.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use maloko_core::message::suggestions;
use maloko_core::state::StackName;
use serde_json::{Map, Value as Json};

use crate::config::{self, ConfigValue};
use crate::document::{Document, Field};
use crate::fault::Result;
use crate::program::{Program, Programs};
use crate::rows::{self, MAX_STACKS, Row, Variables};
use crate::template::Template;

/// The queue of entries that name none.
const DEFAULT_QUEUE: &str = "default";
/// What an entry may say.
const FIELDS: [&str; 8] = ["project", "program", "for", "stack", "labels", "config", "needs", "queue"];
/// The column that the directories of a pattern have.
const DIRECTORY: &str = "directory";

/// A stack as the fleet declares it.
pub(crate) struct DeclaredStack {
    /// `PROJECT/STACK`.
    pub(crate) id: String,
    pub(crate) project: String,
    pub(crate) stack: String,
    pub(crate) program: Arc<Program>,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) config: Map<String, Json>,
    /// What it needs, as it is written, each with the number of its template in the entry.
    pub(crate) needs: Vec<String>,
    pub(crate) queue: String,
    /// Which entry it is of.
    pub(crate) entry: usize,
    /// Where it stands, for messages: `tenants.csv:14`.
    pub(crate) origin: String,
}

/// What the fleet declares.
pub(crate) struct Stacks<'a> {
    pub(crate) all: Vec<DeclaredStack>,
    /// The entries, for messages about their stacks.
    pub(crate) entries: Vec<Field<'a>>,
    /// The programs, by name.
    pub(crate) programs: Vec<Arc<Program>>,
    by_id: HashMap<String, usize>,
}

impl Stacks<'_> {
    /// The number of a stack.
    pub(crate) fn position(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }
}

/// An entry, taken apart once for all of its rows.
struct Entry<'a> {
    number: usize,
    field: Field<'a>,
    project: Option<Text<'a>>,
    program: Text<'a>,
    names: Vec<Text<'a>>,
    labels: Vec<(&'a str, Text<'a>)>,
    config: Vec<(&'a str, Field<'a>, ConfigValue)>,
    needs: Vec<Text<'a>>,
    queue: Option<Text<'a>>,
}

/// A template and where it stands.
struct Text<'a> {
    field: Field<'a>,
    template: Template,
}

impl<'a> Text<'a> {
    fn read(field: Field<'a>) -> Result<Self> {
        let template = Template::parse(field.text()?).map_err(|what| field.fault(what))?;
        Ok(Self { field, template })
    }

    /// Refuses a row that has nothing in a column: a name that is made of it would be another stack's, or nobody's.
    fn refuse_unfilled(&self, row: &Row, more: &[(&str, &str)]) -> Result<()> {
        match self.template.columns().find(|column| value(row, more, column) == Some("")) {
            None => Ok(()),
            Some(column) => Err(self.field.fault(format!(
                "the row {row} has nothing in the column '{column}', of which the stack's name is made; fill it in, or \
                 leave the row out"
            ))),
        }
    }

    fn render(&self, row: &Row, more: &[(&str, &str)]) -> Result<String> {
        let rendered = self.template.render(|column| value(row, more, column));
        rendered.map_err(|column| no_column(&self.field, row, more, column))
    }
}

/// The value of a column; what a row does not have may be known otherwise.
fn value<'r>(row: &'r Row, more: &[(&str, &'r str)], column: &str) -> Option<&'r str> {
    row.get(column).or_else(|| more.iter().find(|(name, _)| *name == column).map(|(_, value)| *value))
}

fn no_column(field: &Field<'_>, row: &Row, more: &[(&str, &str)], column: &str) -> crate::fault::Fault {
    let instead = instead_of(column, row, more);
    let origin = row.to_string();
    let row = if origin.is_empty() { "the entry".to_owned() } else { format!("the row {origin}") };
    field.fault(format!("{row} has no column '{column}'; {instead}"))
}

/// What may stand in place of a column that there is not.
fn instead_of(column: &str, row: &Row, more: &[(&str, &str)]) -> String {
    let columns: Vec<&str> = row.cells().map(|(name, _)| name).collect();
    let known: Vec<&str> = more.iter().map(|(name, _)| *name).collect();
    if let Some(name) = suggestions::nearest(column, columns.iter().chain(&known).copied()) {
        return format!("did you mean '{name}'?");
    }
    if let [one] = columns[..]
        && one.contains([';', '\t', '|'])
    {
        return format!("its one column is '{one}': separate columns by commas");
    }
    let known = known.iter().map(|name| format!("`{{{name}}}`")).collect::<Vec<_>>().join(" and ");
    match (columns.is_empty(), known.is_empty()) {
        (true, true) => "columns come with `for`".to_owned(),
        (true, false) => format!("columns come with `for`; without it there are {known}"),
        (false, true) => format!("the columns are {}", suggestions::listed(columns)),
        (false, false) => format!("the columns are {}, and {known} may be named, too", suggestions::listed(columns)),
    }
}

/// Reads the entries of `stacks` and makes a stack of each of their rows.
pub(crate) fn read<'a>(stacks: &Field<'a>, document: &'a Document, variables: &Variables) -> Result<Stacks<'a>> {
    let entries = stacks.items()?;
    if entries.is_empty() {
        return Err(stacks.fault("there are no stacks; add an entry with a `program` and a `stack`"));
    }
    let mut reading = Reading { programs: Programs::of(document), all: Vec::new(), by_id: HashMap::new() };
    for (number, field) in entries.iter().enumerate() {
        field.knows(&FIELDS)?;
        let rows = rows::read(field.member("for")?.as_ref(), document, variables)?;
        let entry = Entry::read(number, field.clone())?;
        for row in &rows {
            reading.add_row(&entry, row)?;
        }
    }
    let programs = reading.programs.all();
    Ok(Stacks { all: reading.all, entries, programs, by_id: reading.by_id })
}

impl<'a> Entry<'a> {
    fn read(number: usize, field: Field<'a>) -> Result<Self> {
        let texts = |name: &str| match field.member(name)? {
            Some(field) => field.one_or_more()?.into_iter().map(Text::read).collect(),
            None => Ok(Vec::new()),
        };
        field.required("stack", "stack: prod")?;
        Ok(Self {
            number,
            project: field.member("project")?.map(Text::read).transpose()?,
            program: Text::read(field.required("program", "program: ./tenant")?)?,
            names: texts("stack")?,
            labels: match field.member("labels")? {
                Some(labels) => {
                    labels.members()?.map(|(name, label)| Ok((name, Text::read(label)?))).collect::<Result<_>>()?
                }
                None => Vec::new(),
            },
            config: field.member("config")?.as_ref().map_or(Ok(Vec::new()), config::read)?,
            needs: texts("needs")?,
            queue: field.member("queue")?.map(Text::read).transpose()?,
            field,
        })
    }
}

struct Reading<'a> {
    programs: Programs<'a>,
    all: Vec<DeclaredStack>,
    by_id: HashMap<String, usize>,
}

impl Reading<'_> {
    fn add_row(&mut self, entry: &Entry<'_>, row: &Row) -> Result<()> {
        let text = entry.program.render(row, &[])?;
        match self.programs.matching(&text, &entry.program.field)? {
            None => self.add_program(entry, row, &text, None),
            Some(directories) => directories.iter().try_for_each(|directory| {
                let name = directory.rsplit('/').next().unwrap_or(directory);
                self.add_program(entry, row, directory, Some(name))
            }),
        }
    }

    /// The stacks of a row for one program. `directory`: the name of the program's, where it came of a pattern.
    fn add_program(&mut self, entry: &Entry<'_>, row: &Row, text: &str, directory: Option<&str>) -> Result<()> {
        let program = self.programs.find(text, &entry.program.field)?;
        let mut more: Vec<(&str, &str)> = directory.map(|name| (DIRECTORY, name)).into_iter().collect();
        let project = project(entry, row, &more, &program)?;
        more.push(("project", &project));
        for name in &entry.names {
            name.refuse_unfilled(row, &more)?;
            let stack = name.render(row, &more)?;
            let mut known = more.clone();
            known.push(("stack", &stack));
            let declared = declared(entry, row, &known, Arc::clone(&program), directory)?;
            StackName::new(&project, &stack).map_err(|error| name.field.fault(error.to_string()))?;
            let declared =
                DeclaredStack { project: project.clone(), id: format!("{project}/{stack}"), stack, ..declared };
            self.add(declared, name)?;
        }
        Ok(())
    }

    fn add(&mut self, stack: DeclaredStack, name: &Text<'_>) -> Result<()> {
        let number = self.all.len();
        if number == MAX_STACKS {
            return Err(name.field.fault(format!(
                "the fleet has more than {MAX_STACKS} stacks, which is the most; make several fleets of it"
            )));
        }
        if let Some(other) = self.by_id.insert(stack.id.clone(), number) {
            let (id, here, there) = (&stack.id, &stack.origin, &self.all[other].origin);
            return Err(name.field.fault(format!(
                "'{id}' is named twice, by {there} and by {here}; have `stack` name a column in which they differ"
            )));
        }
        self.all.push(stack);
        Ok(())
    }
}

fn project(entry: &Entry<'_>, row: &Row, more: &[(&str, &str)], program: &Program) -> Result<String> {
    match (&entry.project, &program.project) {
        (Some(text), own) => {
            let written = text.render(row, more)?;
            if let Some(own) = own.as_ref().filter(|own| **own != written) {
                return Err(text.field.fault(format!(
                    "the project of {} is '{own}' in its Pulumi.yaml, and not '{written}'; leave `project` out or correct one of them",
                    program.name
                )));
            }
            Ok(written)
        }
        (None, Some(own)) => Ok(own.clone()),
        (None, None) => Err(entry.field.fault(format!(
            "`project` is missing, and {} has no Pulumi.yaml that names one; write one, such as `project: tenant`",
            program.name
        ))),
    }
}

/// Everything of a stack but its names.
fn declared(
    entry: &Entry<'_>,
    row: &Row,
    more: &[(&str, &str)],
    program: Arc<Program>,
    directory: Option<&str>,
) -> Result<DeclaredStack> {
    let mut labels: BTreeMap<String, String> =
        row.cells().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    if let Some(directory) = directory {
        labels.entry(DIRECTORY.to_owned()).or_insert_with(|| directory.to_owned());
    }
    for (name, text) in &entry.labels {
        labels.insert((*name).to_owned(), text.render(row, more)?);
    }
    let mut config = Map::new();
    for (key, field, template) in &entry.config {
        let rendered = template.render(|column| value(row, more, column));
        config.insert((*key).to_owned(), rendered.map_err(|column| no_column(field, row, more, &column))?);
    }
    let needs = entry.needs.iter().map(|need| need.render(row, more)).collect::<Result<_>>()?;
    let queue = match &entry.queue {
        Some(text) => {
            let queue = text.render(row, more)?;
            if queue.is_empty() || !queue.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
                return Err(text
                    .field
                    .fault(format!("'{queue}' can be no queue; a name has letters, digits, '-', '_' and '.'")));
            }
            queue
        }
        None => DEFAULT_QUEUE.to_owned(),
    };
    let place = row.to_string();
    let origin = match &row.origin {
        rows::Origin::Entry => entry.field.origin(),
        rows::Origin::Combination => format!("{} with {place}", entry.field.origin()),
        _ => place,
    };
    let (id, project, stack) = (String::new(), String::new(), String::new());
    Ok(DeclaredStack { id, project, stack, program, labels, config, needs, queue, entry: entry.number, origin })
}

#[cfg(test)]
#[path = "stacks_tests.rs"]
mod tests;
