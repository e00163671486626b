//! Making the state as the world is.

pub(super) mod read_objects;
