//! What a run knows and has done so far: the planner, the ledger, and the counts.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::event::{Op, StepMetadata};
use crate::operation::Operation;
use crate::plan::Planner;
use crate::row::Row;
use crate::state::{Change, Ledger, PendingKind, PendingOperation, RowNumber, Snapshot};
use crate::urn::{Urn, UrnMap, UrnSet};
use crate::value::PropertyMap;

/// The books of one run. Every change of the ledger goes through here, and comes out as changes for the journal.
pub(super) struct Book {
    pub(super) planner: Planner,
    pub(super) ledger: Ledger,
    /// Where the row of a resource of this run stands.
    pub(super) numbers: UrnMap<RowNumber>,
    /// Rows that are in the ledger only, because nothing happened to them that must survive a crash, with the row
    /// whose place they took.
    unjournalled: HashMap<RowNumber, Option<RowNumber>>,
    pub(super) counts: BTreeMap<&'static str, u64>,
    pub(super) maybe_corrupt: bool,
    /// Components, and the stack, whose outputs were not registered yet.
    pub(super) open: UrnMap<StepMetadata>,
    /// Resources that failed or were left out, with continue-on-error.
    pub(super) failed: UrnSet,
    /// Resources that got a step, in a run that keeps to a plan.
    pub(super) planned: UrnSet,
    /// Outputs of the stack as the program gave them.
    pub(super) stack_outputs: Option<PropertyMap>,
    pub(super) root: Option<Urn>,
    /// In an import: the inputs that the program gives its resources.
    pub(super) wanted: UrnMap<PropertyMap>,
}

impl Book {
    pub(super) fn new(operation: &Arc<Operation>, snapshot: &Snapshot) -> Self {
        let new_id = Box::new(|| uuid::Uuid::new_v4().to_string());
        Self {
            planner: Planner::new(Arc::clone(operation), snapshot.rows.clone(), new_id),
            ledger: Ledger::new(snapshot),
            numbers: UrnMap::default(),
            unjournalled: HashMap::new(),
            counts: BTreeMap::new(),
            maybe_corrupt: false,
            open: UrnMap::default(),
            failed: UrnSet::default(),
            planned: UrnSet::default(),
            stack_outputs: None,
            root: None,
            wanted: UrnMap::default(),
        }
    }

    /// Counts a step that was done.
    pub(super) fn count(&mut self, op: Op, urn: &Urn) {
        if op.is_logical() && !urn.is_default_provider() {
            *self.counts.entry(op.name()).or_default() += 1;
        }
    }

    /// Notes that a provider is about to be called; gives the operation's number and the change to journal.
    pub(super) fn begin(&mut self, kind: PendingKind, row: Arc<Row>) -> (u32, Change) {
        let operation = self.ledger.next_operation();
        let change = Change::Begin { operation, pending: PendingOperation { row, kind } };
        self.ledger.apply(change.clone());
        (operation, change)
    }

    /// Notes that the outcome of a call is known.
    pub(super) fn end(&mut self, operation: u32) -> Change {
        let change = Change::End { operation };
        self.ledger.apply(change.clone());
        change
    }

    /// Adds a finished row, perhaps in place of another.
    pub(super) fn put(&mut self, row: Arc<Row>, in_place_of: Option<RowNumber>) -> Change {
        let number = self.ledger.next_number();
        self.numbers.insert(row.urn.clone(), number);
        let change = Change::Put { number, row, in_place_of };
        self.ledger.apply(change.clone());
        change
    }

    /// Adds a row that is as it was, which no journal needs to know.
    pub(super) fn keep(&mut self, row: Arc<Row>, in_place_of: Option<RowNumber>) {
        self.put(row, in_place_of);
        self.unjournalled.insert(self.ledger.next_number() - 1, in_place_of);
    }

    /// Changes a row where it stands.
    pub(super) fn set(&mut self, number: RowNumber, row: Arc<Row>) -> Change {
        let change = match self.unjournalled.remove(&number) {
            Some(in_place_of) => Change::Put { number, row, in_place_of },
            None => Change::Set { number, row },
        };
        self.ledger.apply(change.clone());
        change
    }

    /// Removes a row.
    pub(super) fn remove(&mut self, number: RowNumber) -> Change {
        let change = Change::Remove { number };
        self.ledger.apply(change.clone());
        change
    }

    /// Takes what a refresh found for the row that this run goes on from.
    pub(super) fn renew(&mut self, number: RowNumber, row: Arc<Row>) -> Change {
        self.planner.renew(number, Arc::clone(&row));
        self.set(number, row)
    }

    /// Forgets a row whose object is gone.
    pub(super) fn vanish(&mut self, number: RowNumber) -> Change {
        self.planner.forget(number);
        self.remove(number)
    }

    /// The row of a resource that was registered in this run.
    pub(super) fn row(&self, urn: &Urn) -> Option<(RowNumber, &Arc<Row>)> {
        let number = *self.numbers.get(urn)?;
        self.ledger.get(number).map(|row| (number, row))
    }
}
