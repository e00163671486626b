//! The engine on a private stack in memory: what both languages' testing kits are made of.
//!
//! A [`TestStack`] keeps its state through the real journal, session, fold and seals, over a store in memory and with a
//! clock of its own. An operation begins with an [`Order`] and ends with a [`Report`]; both are JSON at the bindings'
//! border. In between the binding runs the program against the engine, as it does for the command line.

mod book;
mod calls;
mod clock;
mod edges;
mod host;
mod inline;
mod json;
mod keys;
mod labels;
mod order;
mod plan;
mod report;
mod stack;
mod store;

pub use clock::VirtualClock;
pub use edges::{Blow, Point};
pub use order::{Config, Crash, Deed, Fault, Import, Order, Time, Verb};
pub use report::Report;
pub use stack::{Run, TestStack};
