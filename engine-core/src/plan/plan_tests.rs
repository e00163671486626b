//! Decisions on registrations.
