//! Where a registration stops for policy packs: its inputs are final but for what they rewrite, and nothing is compared yet.

use crate::plan::secrecy::copy_secrets;
use crate::value::PropertyMap;

/// How a registration goes on once packs have seen its inputs.
#[derive(Clone, Copy, Debug)]
pub(super) enum AfterReview {
    /// They are compared with the old ones.
    Compare,
    /// It is a component.
    Component,
    /// It is a provider resource of a dynamic package.
    Provider,
    /// It is replaced: these are the inputs of the new object.
    Replace,
}

/// Have packs seen the registration?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ReviewState {
    #[default]
    NotYet,
    /// They had nothing to rewrite.
    AsItWas,
    /// They rewrote the inputs.
    Rewritten,
}

/// What packs are to do with a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// Rewrite its inputs and look at them.
    Whole,
    /// Rewrite them as before, since they were checked anew. It was told of already.
    Again,
}

/// What a policy made of inputs: what was secret stays so, for packs see plain values.
#[must_use]
pub fn rewritten(before: &PropertyMap, mut after: PropertyMap) -> PropertyMap {
    copy_secrets(before, &mut after);
    after
}
