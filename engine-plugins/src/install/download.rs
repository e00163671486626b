//! Downloads an archive: from the first source that has it, with several attempts, and compares its checksum.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use backon::{BlockingRetryable, ExponentialBuilder};
use ring::digest::{Context, SHA256};
use semver::Version;

use super::error::{InstallError, Remedy};
use super::http::Http;
use super::limits::Limits;
use super::progress::Progress;
use super::sources::Source;
use super::wanted::WantedPlugin;

/// The pause after the first attempt. Each one after it is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(80);
/// How often a source is asked.
const ATTEMPTS: usize = 5;

/// What downloads need.
pub(crate) struct Downloads<'a> {
    pub(crate) sources: &'a [Source],
    pub(crate) http: &'a Http,
    pub(crate) limits: &'a Limits,
    pub(crate) progress: &'a dyn Progress,
    /// Waits between attempts.
    pub(crate) pause: fn(Duration),
}

impl Downloads<'_> {
    /// The archive, in a file of this folder that has no name and goes with its last use.
    pub(crate) fn archive(
        &self,
        wanted: &WantedPlugin,
        version: &Version,
        folder: &Path,
    ) -> Result<File, InstallError> {
        self.ask_each(|source| {
            self.progress.begins(&format!("{} {version}", wanted.name));
            let mut file = tempfile::tempfile_in(folder)
                .map_err(|error| InstallError::io(format!("no file can be made in {}", folder.display()), &error))?;
            let body = source.open(wanted, version, self.http)?;
            let checksum = copied(body.reader, body.length, &mut file, self.limits, self.progress)?;
            match &wanted.checksum {
                Some(wanted_checksum) if !wanted_checksum.eq_ignore_ascii_case(&checksum) => {
                    Err(wrong_checksum(wanted, version, wanted_checksum, &checksum))
                }
                _ => rewound(file),
            }
        })
    }

    /// The newest version.
    pub(crate) fn latest(&self) -> Result<Version, InstallError> {
        self.ask_each(|source| source.latest(self.http))
    }

    fn ask_each<T>(&self, ask: impl Fn(&Source) -> Result<T, InstallError>) -> Result<T, InstallError> {
        let mut first = None;
        let mut others = Vec::new();
        for source in self.sources {
            let pauses = ExponentialBuilder::new().with_min_delay(FIRST_PAUSE).with_max_times(ATTEMPTS - 1);
            let asked = (|| {
                if self.progress.is_cancelled() {
                    return Err(InstallError::last("the installation was cancelled"));
                }
                ask(source)
            })
            .retry(pauses)
            .sleep(self.pause)
            .when(|error| error.remedy() == Remedy::Again)
            .call();
            match asked {
                Err(error) if error.remedy() == Remedy::None => return Err(error),
                Err(error) if first.is_none() => first = Some(error.to_string()),
                Err(_) => others.push(source.host()),
                found => return found,
            }
        }
        let first = first.unwrap_or_else(|| "it has no place to be downloaded from".to_owned());
        Err(InstallError::last(if others.is_empty() {
            first
        } else {
            format!("{first}; asked in vain, too: {}", others.join(", "))
        }))
    }
}

/// Copies an archive and gives its checksum, of every byte.
pub(crate) fn copied(
    mut from: impl Read,
    length: Option<u64>,
    to: &mut File,
    limits: &Limits,
    progress: &dyn Progress,
) -> Result<String, InstallError> {
    let too_large = || {
        let most = limits.archive;
        InstallError::last(format!("the archive has more than {most} bytes; this is no plugin"))
    };
    if length.is_some_and(|length| length > limits.archive) {
        return Err(too_large());
    }
    let mut hash = Context::new(&SHA256);
    let mut buffer = vec![0; 1 << 16];
    let mut done = 0;
    loop {
        if progress.is_cancelled() {
            return Err(InstallError::last("the installation was cancelled"));
        }
        let cut = |error: &dyn std::fmt::Display| {
            InstallError::again(format!("the download broke off after {done} bytes: {error}"))
        };
        let read = from.read(&mut buffer).map_err(|error| cut(&error))?;
        if read == 0 {
            if length.is_some_and(|length| length != done) {
                return Err(cut(&"the server ended it"));
            }
            return Ok(digits(hash.finish().as_ref()));
        }
        hash.update(&buffer[..read]);
        to.write_all(&buffer[..read]).map_err(|error| InstallError::io("the archive cannot be written", &error))?;
        done += read as u64;
        if done > limits.archive {
            return Err(too_large());
        }
        progress.downloaded(done, length);
    }
}

/// The checksum of a file, which is at its beginning before and after.
pub(crate) fn checksum_of(file: &mut File) -> std::io::Result<String> {
    let mut hash = Context::new(&SHA256);
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(digits(hash.finish().as_ref()))
}

pub(crate) fn wrong_checksum(wanted: &WantedPlugin, version: &Version, expected: &str, found: &str) -> InstallError {
    InstallError::last(format!(
        "the archive of {} {version} has the checksum {found}, but {expected} is expected; it is not installed. Ask the \
         package's authors which one is right",
        wanted.name
    ))
}

fn rewound(mut file: File) -> Result<File, InstallError> {
    match file.seek(SeekFrom::Start(0)) {
        Ok(_) => Ok(file),
        Err(error) => Err(InstallError::io("the archive cannot be read again", &error)),
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn digits(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        use std::fmt::Write;
        // A text can always be written to.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
