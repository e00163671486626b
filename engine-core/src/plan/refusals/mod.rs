//! Why a registration, an import or a package is refused, in words.

pub(in crate::plan) mod import;
pub(in crate::plan) mod package;
pub(in crate::plan) mod registration;
