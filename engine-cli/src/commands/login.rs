//! `login`, `logout` and `whoami`: where state is kept that nothing else says, and who works on it.

use std::time::Duration;

use maloko_stores::postgres::has_password;
use serde_json::json;

use super::pretty;
use crate::backend::{self, Origin, Place};
use crate::context::Context;
use crate::failure::{Failure, Result};

const HOME: &str = "file://~";
/// `whoami -v` does not wait for long for a place that does not answer.
const LIMIT: Duration = Duration::from_secs(20);

/// Runs `login`; without an address the home directory is meant. An address that does not work is not recorded.
pub(crate) async fn login(context: &Context, url: Option<&str>) -> Result<()> {
    let url = url.unwrap_or(HOME);
    if has_password(url) {
        return Err(Failure::configuration(
            "the address holds a password, and `login` would write it into a file; leave it out and set PGPASSWORD, or put \
             it into ~/.pgpass (mode 0600)",
        ));
    }
    let place = backend::named(context, Origin::Login, url);
    let unchanged = |failure: Failure| {
        let message = format!("{failure}. The login was not changed").into();
        Failure { message, ..failure }
    };
    let opened = backend::open(context, &place).map_err(unchanged)?;
    backend::make_directory(context, &place).map_err(unchanged)?;
    let stacks = opened.list().await.map_err(|error| unchanged(error.into()))?;
    let lasting = backend::lasting_url(context, &place).map_err(unchanged)?;
    backend::record_login(context, &lasting)?;
    let shown = if lasting == url { opened.url() } else { lasting };
    context.console.line(&format!("Logged in to {} as {} ({shown})", host(context), user(context)));
    context.console.line(&format!(
        "State of projects that do not say where theirs is will be kept there; it has {} now",
        crate::plain::count(stacks.len(), "stack")
    ));
    Ok(())
}

/// Runs `logout`. Where an address is named, a login at another one stays.
pub(crate) fn logout(context: &Context, url: Option<&str>, local: bool) -> Result<()> {
    if let Some(url) = if local { Some(HOME) } else { url } {
        let wanted = backend::lasting_url(context, &backend::named(context, Origin::Login, url))?;
        if backend::logged_in(context)?.is_none_or(|recorded| recorded != wanted) {
            context.console.line(&format!("Not logged in to {url}"));
            return Ok(());
        }
    }
    match backend::forget_login(context)? {
        Some(url) if url.is_empty() => context.console.line("Logged out"),
        Some(url) => context.console.line(&format!("Logged out of {url}")),
        None => context.console.line("Not logged in"),
    }
    Ok(())
}

/// Runs `whoami`.
pub(crate) async fn whoami(context: &Context, verbose: bool, as_json: bool) -> Result<()> {
    let user = user(context);
    if !verbose && !as_json {
        context.console.line(&user);
        return Ok(());
    }
    let project = context.project().ok();
    let place = backend::place(context, project.as_ref())?;
    let opened = backend::open(context, &place)?;
    let url = opened.url();
    if as_json {
        // Pulumi's members; there are no organizations in a store of one's own.
        context.console.line(&pretty(&json!({ "user": user, "organizations": [], "url": url })));
        return Ok(());
    }
    let state = match tokio::time::timeout(LIMIT, opened.list()).await {
        Ok(Ok(stacks)) => crate::plain::count(stacks.len(), "stack"),
        Ok(Err(error)) => format!("cannot be used: {error}"),
        Err(_) => format!("no answer within {} seconds", LIMIT.as_secs()),
    };
    let Place { origin, .. } = place;
    for (name, fact) in [
        ("User", user.as_str()),
        ("Host", host(context)),
        ("Backend URL", &url),
        (
            "Chosen by",
            if origin == Origin::Embedded { "nothing else: state inside the project" } else { origin.name() },
        ),
        ("State", &state),
    ] {
        context.console.line(&format!("{name}: {fact}"));
    }
    Ok(())
}

/// The name of this machine.
fn host(context: &Context) -> &str {
    let host = &context.environment.identity.host;
    if host.is_empty() { "an unnamed machine" } else { host }
}

/// The name under which others see what this user does.
fn user(context: &Context) -> String {
    let name = &context.environment.identity.user;
    if name.is_empty() { "unknown".to_owned() } else { name.clone() }
}
