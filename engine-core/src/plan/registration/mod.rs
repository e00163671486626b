//! One registration on its way from the program's request to the steps that fulfil it (docs/rules 2.6, 3). It begins in
//! `begin.rs`, and `advance.rs` takes it from each answer to the next question.

mod advance;
mod begin;
mod cascade;
mod found_object;
mod import;
mod naming;
mod policy_view;
pub(super) mod progress;
pub(super) mod question;
mod replacement;
pub(super) mod review;
mod settle;
