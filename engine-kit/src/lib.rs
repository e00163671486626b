//! The engine on a private stack in memory: what both languages' testing kits are made of.
//!
//! A [`TestStack`] keeps its state through the real journal, session, fold and seals, over a store in memory and with a
//! clock of its own. An operation begins with an [`RunRequest`] and ends with a [`Report`]; both are JSON at the bindings'
//! border. In between the binding runs the program against the engine, as it does for the command line.

mod calls;
mod clock;
mod cloud;
mod exchange;
mod fault_points;
mod files;
mod host;
mod inline;
mod json;
mod judgement;
mod keys;
mod labels;
mod laws;
mod lifecycle;
mod plan;
mod plan_assertions;
#[cfg(test)]
mod plan_tests;
mod plugin_laws;
mod plugin_lifecycle;
mod plugins;
mod recorded;
mod report;
mod run_request;
mod stack;
mod step_log;
mod store;
mod stubs;
mod task;

pub use clock::VirtualClock;
pub use fault_points::{Crash, Interruption, Point};
pub use judgement::answer;
pub use laws::{
    Ability, Arguments, Bag, Break, CancelOutcome, CheckOutcome, DeployedResource, End, Finding, Former, Law,
    LawResult, LawTrial, Leak, MethodError, Operation, PlannedChange, PlannedStep, Program, ProgramResource, Request,
    ReturnedOutputs, RunOutcome, ShownInputs, Subject, Touch, UnkeptResult, VisibleOutput, Words, World,
    law_result_text,
};
pub use lifecycle::{
    ConcurrentUp, DirectCallOutcome, Inputs, LifeCrash, LifeEnd, LifeOperation, LifeOrder, LifePlannedStep,
    LifeRequest, LifeResource, LifeRun, LifeRunOutcome, LifeSubject, LifeTrial, Story,
};
pub use plugin_laws::{
    Listener, PluginLawResult, PluginSetup, PluginTrial, PluginUnderTest, Plugins, Samples, WorldCommands, judge_plugin,
};
pub use plugin_lifecycle::PluginLife;
pub use report::Report;
pub use run_request::{Config, Fault, Import, Injection, OwnPolicyOrder, PolicyOrder, RunRequest, Time, Verb};
pub use stack::{Run, TestStack};
pub use step_log::{PageRecorder, RecordForPage};
pub use stubs::{COMPUTED_ID, Stub, problems_of_examples};
pub use task::{StackTask, TaskEnd, TaskRequest};
