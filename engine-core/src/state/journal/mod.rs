//! The journal's format: one line per record, readable by people, checked by machines.
//!
//! ```text
//! <checksum> {"maloko":"journal","version":2,"engine":"0.1.0","stack":"organization/shop/dev","epoch":4,"base":"<sha256>",...,"code":"..."}
//! <checksum> {"sequence":1,"durable":0,"changes":[{"begin":{"operation":0,"kind":"creating","key":"...","since":"...","row":{...}}}],"code":"..."}
//! <checksum> {"sequence":2,"durable":1,"changes":[{"end":0},{"put":{"number":7,"row":{...}}}],"code":"..."}
//! <checksum> {"sequence":3,"durable":2,"fold":"<sha256 of the checkpoint that takes the journal's place>","code":"..."}
//! ```
//!
//! A checksum is the CRC-32C, in eight hex digits, of the checksum of the line before and the line's JSON; so lines can
//! be neither changed nor moved nor left out. `durable` is the number of the last record that was known to be on disk
//! when this one was written: what was not may be torn by a crash and is dropped, what was must be whole.
//!
//! A checksum is no protection from one who means to change a journal. The code is: it authenticates the line and the
//! code of the line before, under the stack's key ([`verify`](reading::verify)). Only the end of a journal can be cut off unseen, since a
//! crash may do so, too.

pub(super) mod changes;
pub(super) mod header;
pub(super) mod lines;
pub(super) mod reading;
pub(super) mod recovery;
pub(super) mod unfinished;

#[cfg(test)]
mod journal_tests;
