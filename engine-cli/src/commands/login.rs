//! `login` and `logout`.

use crate::backend::{forget_login, record_login};
use crate::context::Context;
use crate::failure::Result;

const HOME: &str = "file://~";

/// Runs `login`; without an address the home directory is meant.
pub(crate) fn login(context: &Context, url: Option<&str>) -> Result<()> {
    let url = url.unwrap_or(HOME);
    record_login(context, url)?;
    context.console.line(&format!("State of projects that do not say where theirs is will be kept in {url}"));
    Ok(())
}

/// Runs `logout`.
pub(crate) fn logout(context: &Context) -> Result<()> {
    let text = if forget_login(context)? { "Logged out" } else { "Not logged in" };
    context.console.line(text);
    Ok(())
}
