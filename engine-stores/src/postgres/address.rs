//! Addresses of databases: `postgres://user@host:port/database?sslmode=...&schema=...`, completed from libpq's environment
//! variables and password file.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use maloko_core::error::{Error, Result};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::passfile;
use crate::World;
use crate::lease::{DEFAULT_PATIENCE, PATIENCE_IS, patience};

const DEFAULT_SCHEMA: &str = "maloko";
/// The longest name that PostgreSQL does not cut.
const MAX_NAME: usize = 63;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long what was sent may stay unacknowledged before the connection counts as lost.
const UNANSWERED: Duration = Duration::from_secs(20);

/// How much of TLS is asked for, with libpq's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tls {
    /// None.
    Disable,
    /// If the server has it.
    Prefer,
    /// Encrypted, with whomever (with a root certificate: like `VerifyCa`).
    Require,
    /// The server's certificate comes from a trusted authority.
    VerifyCa,
    /// And it is for the host that is meant.
    VerifyFull,
}

/// Where a database is and how it is reached.
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) tls: Tls,
    /// A file of certificates of authorities; `None`: those of the system.
    pub(super) root_certificates: Option<PathBuf>,
    /// The schema that holds the tables.
    pub(super) schema: String,
    /// How long a holder of a lease may give no sign of life before another one takes its place.
    pub(super) patience: Duration,
    /// As users write it, without the password.
    pub(super) shown: String,
}

impl Address {
    pub(super) fn parse(url: &str, world: &World) -> Result<Self> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let base = with_port(base, world);
        let mut own = Own::default();
        let mut rest = Vec::new();
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            if !own.take(name, &unescaped(value))? {
                rest.push(parameter);
            }
        }
        let plain = if rest.is_empty() { base } else { format!("{base}?{}", rest.join("&")) };
        let mut config: Config = plain.parse().map_err(|error: tokio_postgres::Error| {
            let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            Error::Configuration(format!(
                "the address of the database cannot be read: {cause}; write postgres://USER@HOST:PORT/DATABASE, followed \
                 by ?NAME=VALUE&... if needed"
            ).into())
        })?;
        complete(&mut config, world)?;
        let tls = match own.tls.or_else(|| world.variable("PGSSLMODE")) {
            Some(name) => tls_of(&name)?,
            None => Tls::Prefer,
        };
        config.ssl_mode(match tls {
            Tls::Disable => SslMode::Disable,
            Tls::Prefer => SslMode::Prefer,
            _ => SslMode::Require,
        });
        let root_certificates = own.root_certificates.or_else(|| world.variable("PGSSLROOTCERT"));
        let root_certificates = root_certificates.filter(|place| place != "system").map(PathBuf::from);
        let schema = own.schema.unwrap_or_else(|| DEFAULT_SCHEMA.to_owned());
        let shown = shown(&config, &schema);
        let patience = own.patience.unwrap_or(DEFAULT_PATIENCE);
        Ok(Self { config, tls, root_certificates, schema, patience, shown })
    }
}

/// The parameters that are ours, and those for which libpq knows more than the library.
#[derive(Default)]
struct Own {
    schema: Option<String>,
    patience: Option<Duration>,
    tls: Option<String>,
    root_certificates: Option<String>,
}

impl Own {
    /// Is it one of them?
    fn take(&mut self, name: &str, value: &str) -> Result<bool> {
        match name {
            "schema" => self.schema = Some(checked_schema(value)?),
            "lease" => {
                self.patience = Some(patience(value).ok_or_else(|| {
                    let why = format!("the address of the database has lease={value}; it is {PATIENCE_IS}");
                    Error::Configuration(why.into())
                })?);
            }
            "sslmode" => self.tls = Some(value.to_owned()),
            "sslrootcert" => self.root_certificates = Some(value.to_owned()),
            "sslcert" | "sslkey" => {
                return Err(Error::Configuration(format!(
                    "the address of the database has {name}; certificates of clients are not supported: use a password \
                     (PGPASSWORD or ~/.pgpass)"
                ).into()));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The address with the port of the environment behind a host that has none: the library would put its own there.
fn with_port(base: &str, world: &World) -> String {
    let (scheme, rest) = base.split_once("://").unwrap_or(("postgres", base));
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // A colon in brackets belongs to a number of version 6.
    let has_port = host.rsplit_once(':').is_some_and(|(_, after)| !after.contains(']'));
    match world.variable("PGPORT") {
        Some(port) if !host.is_empty() && !has_port && !host.contains(',') => {
            format!("{scheme}://{authority}:{port}{path}")
        }
        _ => base.to_owned(),
    }
}

fn checked_schema(name: &str) -> Result<String> {
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let rest = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if first && rest && name.len() <= MAX_NAME && !name.starts_with("pg_") {
        return Ok(name.to_owned());
    }
    Err(Error::Configuration(format!(
        "the address of the database has schema={name}; a schema's name is made of small letters, digits and '_', begins \
         with no digit and not with pg_, and has at most {MAX_NAME} characters"
    ).into()))
}

fn tls_of(name: &str) -> Result<Tls> {
    Ok(match name {
        "disable" => Tls::Disable,
        "allow" | "prefer" => Tls::Prefer,
        "require" => Tls::Require,
        "verify-ca" => Tls::VerifyCa,
        "verify-full" => Tls::VerifyFull,
        other => {
            return Err(Error::Configuration(
                format!("sslmode={other} is not known; it is disable, prefer, require, verify-ca or verify-full")
                    .into(),
            ));
        }
    })
}

/// Takes what the address leaves open from the environment, as libpq does.
fn complete(config: &mut Config, world: &World) -> Result<()> {
    let bad = |name: &str, value: &str, what: &str| {
        Error::Configuration(format!("the environment variable {name} is '{value}', which is not {what}").into())
    };
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        match world.variable("PGHOST") {
            Some(hosts) => hosts.split(',').for_each(|host| {
                config.host(host);
            }),
            None => {
                config.host("localhost");
            }
        }
        if let Some(address) = world.variable("PGHOSTADDR") {
            config.hostaddr(address.parse().map_err(|_| bad("PGHOSTADDR", &address, "the number of a host"))?);
        }
    }
    if config.get_ports().is_empty()
        && let Some(port) = world.variable("PGPORT")
    {
        config.port(port.parse().map_err(|_| bad("PGPORT", &port, "a port"))?);
    }
    if config.get_user().is_none() {
        let user = ["PGUSER", "USER", "LOGNAME", "USERNAME"].iter().find_map(|name| world.variable(name));
        config.user(user.ok_or_else(|| {
            Error::Configuration(
                "the address of the database names no user; write postgres://USER@HOST/DATABASE or set PGUSER".into(),
            )
        })?);
    }
    let user = config.get_user().unwrap_or_default().to_owned();
    if config.get_dbname().is_none() {
        config.dbname(world.variable("PGDATABASE").unwrap_or(user));
    }
    if config.get_password().is_none() {
        match world.variable("PGPASSWORD") {
            Some(password) => {
                config.password(password);
            }
            None => {
                if let Some(password) = passfile::find(config, world)? {
                    config.password(password);
                }
            }
        }
    }
    if config.get_connect_timeout().is_none() {
        let seconds = world.variable("PGCONNECT_TIMEOUT");
        let limit = match seconds {
            Some(text) => {
                let seconds = text.parse().map_err(|_| bad("PGCONNECT_TIMEOUT", &text, "a number of seconds"))?;
                // libpq waits at least two seconds, and for ever when it is 0; nothing waits for ever here.
                if seconds == 0 { CONNECT_TIMEOUT } else { Duration::from_secs(std::cmp::max(2, seconds)) }
            }
            None => CONNECT_TIMEOUT,
        };
        config.connect_timeout(limit);
    }
    if config.get_options().is_none()
        && let Some(options) = world.variable("PGOPTIONS")
    {
        config.options(options);
    }
    if config.get_application_name().is_none() {
        config.application_name(world.variable("PGAPPNAME").unwrap_or_else(|| "maloko".to_owned()));
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(UNANSWERED);
    }
    config.keepalives_idle(Duration::from_secs(10)).keepalives_interval(Duration::from_secs(5)).keepalives_retries(2);
    Ok(())
}

fn shown(config: &Config, schema: &str) -> String {
    let mut text = format!("postgres://{}@", config.get_user().unwrap_or_default());
    let mut sockets = Vec::new();
    let mut hosts = Vec::new();
    let ports = config.get_ports();
    for (number, host) in config.get_hosts().iter().enumerate() {
        match host {
            Host::Tcp(name) => {
                let port = ports.get(number).or(ports.first()).copied().unwrap_or(5432);
                hosts.push(format!("{name}:{port}"));
            }
            Host::Unix(path) => sockets.push(path.display().to_string()),
        }
    }
    if hosts.is_empty() && sockets.is_empty() {
        hosts.extend(config.get_hostaddrs().iter().map(ToString::to_string));
    }
    // Writing to a text cannot fail.
    let _ = write!(text, "{}/{}", hosts.join(","), config.get_dbname().unwrap_or_default());
    let mut separator = '?';
    if !sockets.is_empty() {
        let _ = write!(text, "{separator}host={}", sockets.join(","));
        separator = '&';
    }
    if schema != DEFAULT_SCHEMA {
        let _ = write!(text, "{separator}schema={schema}");
    }
    text
}

/// A parameter's value without its percent signs; what is no escape stays as it is.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match (first, code) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Is it the address of a database, with a password in it? Such an address is not written into files.
#[must_use]
pub fn has_password(url: &str) -> bool {
    matches!(without_password(url), Cow::Owned(_))
}

/// An address without the password of a database, as it may be shown; borrowed when there is none in it.
#[must_use]
pub fn without_password(url: &str) -> Cow<'_, str> {
    let Some((scheme @ ("postgres" | "postgresql"), rest)) = url.split_once("://") else { return Cow::Borrowed(url) };
    let (base, query) = rest.split_once('?').map_or((rest, None), |(base, query)| (base, Some(query)));
    // A password may hold what has to be escaped in one, such as '/', and what comes behind may hold an '@'.
    let slash = base.find('@').and_then(|at| Some(at + base.get(at..)?.find('/')?)).unwrap_or(base.len());
    let (authority, path) = base.split_at(slash);
    let user = authority.rsplit_once('@').and_then(|(credentials, host)| Some((credentials.split_once(':')?.0, host)));
    let is_password = |parameter: &&str| parameter.starts_with("password=");
    let in_query = query.is_some_and(|query| query.split('&').any(|parameter| is_password(&parameter)));
    if user.is_none() && !in_query {
        return Cow::Borrowed(url);
    }
    let authority = user.map_or_else(|| authority.to_owned(), |(user, host)| format!("{user}@{host}"));
    let kept: Vec<&str> = query.unwrap_or_default().split('&').filter(|parameter| !is_password(parameter)).collect();
    let mark = if kept.concat().is_empty() { "" } else { "?" };
    Cow::Owned(format!("{scheme}://{authority}{path}{mark}{}", kept.join("&")))
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
