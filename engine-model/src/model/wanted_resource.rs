//! What a registration wants.

use maloko_core::PropertyMap;

use crate::program::Resource;

use super::Record;

/// A registration that is being worked out.
pub(crate) struct WantedResource<'r> {
    pub(crate) resource: &'r Resource,
    pub(crate) inputs: PropertyMap,
    pub(crate) record: Record,
    pub(crate) old: Option<usize>,
    /// Does it depend on a failure?
    pub(crate) skipped: bool,
}
