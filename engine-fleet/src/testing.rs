//! Fleets in folders of their own, for tests.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::plan::Plan;
use crate::{Request, plan_run};

/// A folder with a fleet, and two programs: `net` (Python) and `tenant` (Node).
pub(crate) struct Fleet(TempDir);

impl Fleet {
    /// The fleet of a file's text.
    pub(crate) fn new(text: &str) -> Self {
        let fleet = Self(TempDir::new().unwrap());
        fleet
            .with("fleet.yaml", text)
            .with("net/Pulumi.yaml", "name: net\nruntime: python\n")
            .with("tenant/Pulumi.yaml", "name: tenant\nruntime:\n  name: nodejs\n")
            .with("tenants.csv", "tenant,region,ring\nacme,eu,canary\nglobex,us,main\nhooli,us,main\n")
    }

    /// The same with stacks of `entries` (the lines of a list).
    pub(crate) fn of(entries: &str) -> Self {
        Self::new(&format!("name: tenants\nstacks:\n{entries}"))
    }

    pub(crate) fn with(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn directory(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self) -> String {
        self.0.path().join("fleet.yaml").to_str().unwrap().to_owned()
    }

    /// What comes of a request (JSON without its braces), with paths of faults against the folder.
    pub(crate) fn asked(&self, request: &str) -> Result<Plan, String> {
        let plan = Request::read(&format!("{{{request}}}")).and_then(|request| plan_run(&self.file(), &request));
        plan.map_err(|fault| fault.to_string().replace(&format!("{}/", self.0.path().display()), ""))
    }

    pub(crate) fn plan(&self) -> Plan {
        self.asked(r#""verb": "up""#).unwrap()
    }

    pub(crate) fn fault(&self) -> String {
        self.asked(r#""verb": "up""#).unwrap_err()
    }

    /// The stacks, in order.
    pub(crate) fn ids(&self, request: &str) -> Vec<String> {
        self.asked(request).unwrap().stacks.into_iter().map(|stack| stack.id).collect()
    }
}

/// The fault of entries.
pub(crate) fn fault(entries: &str) -> String {
    Fleet::of(entries).fault()
}

/// A text of lines, one for each number.
pub(crate) fn lines(numbers: std::ops::Range<usize>, line: impl Fn(usize) -> String) -> String {
    numbers.fold(String::new(), |text, number| text + &line(number) + "\n")
}
