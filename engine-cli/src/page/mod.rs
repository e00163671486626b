//! The page: one file that shows a stack, or what a run did to it, in a browser.
//!
//! A [`Recorder`] watches a run. What it noted becomes a [`data::PageData`], which `html` puts into the front end that is
//! built from `page/`. A fleet's run has a page by the same front end. Nothing that is known as a secret gets as far as the data.

mod comparison;
mod critical_path;
pub(crate) mod data;
mod fleet;
mod html;
mod kept;
mod live;
mod markdown;
mod more;
mod past;
mod recorder;
mod resources;
mod run_data;
mod run_page;
mod shown;
mod slowest;
mod stack;
mod text;

pub(crate) use comparison::compare;
pub(crate) use data::PageData;
pub use fleet::page_of_fleet;
pub(crate) use html::render;
pub use kept::{page_of_record, record_for_page};
pub(crate) use live::LivePage;
pub(crate) use markdown::summary as markdown;
pub(crate) use past::{Past, entry, run_of};
pub(crate) use recorder::{Beginning, Recorder};
pub(crate) use run_page::{RunPage, write};
pub(crate) use shown::Shower;
pub(crate) use stack::of_stack;
pub(crate) use text::text;

#[cfg(test)]
mod tests;
