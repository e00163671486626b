//! The packages that a program uses, as its language's host tells them.

use std::collections::BTreeMap;
use std::fmt::Write;

use maloko_core::plugin::{PackageParameter, PackageRequest};
use maloko_core::wire::language::{PackageDependency, PackageSpec, RequiredPackagesResponse};
use semver::Version;

/// The kinds of plugins that there are. Only those of resources are asked for by a run.
const KINDS: [&str; 6] = ["resource", "language", "analyzer", "converter", "tool", "bundle"];

/// The packages of an answer. The error says what of it cannot be used.
pub(super) fn packages(answer: RequiredPackagesResponse) -> Result<Vec<PackageRequest>, String> {
    let mut packages = Vec::new();
    for package in answer.packages {
        if !KINDS.contains(&package.kind.as_str()) {
            return Err(format!("unrecognized plugin kind '{}' of '{}'", package.kind, package.name));
        }
        if package.kind == "resource" {
            packages.push(of_dependency(package)?);
        }
    }
    for spec in answer.specs {
        packages.push(of_spec(&spec)?);
    }
    Ok(packages)
}

fn of_dependency(package: PackageDependency) -> Result<PackageRequest, String> {
    let PackageDependency { name, version, server, checksums, parameterization, .. } = package;
    let version = parsed(&name, &version)?;
    let (download_url, checksums) = (server.trim_end_matches('/').to_owned(), hex(&checksums));
    Ok(match parameterization {
        None => PackageRequest { name, version, download_url, checksums, ..PackageRequest::default() },
        Some(made) => PackageRequest {
            version: parsed(&made.name, &made.version)?,
            name: made.name,
            download_url,
            checksums,
            parameter: Some(PackageParameter { plugin: name, version, value: made.value }),
            ..PackageRequest::default()
        },
    })
}

/// A package by the name of its plugin. What is in a folder, at an address or made of parameters has a name that only its
/// plugin knows.
fn of_spec(spec: &PackageSpec) -> Result<PackageRequest, String> {
    let (name, version) = spec.source.split_once('@').unwrap_or((&spec.source, &spec.version));
    let is_name =
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
    if !is_name {
        return Err(format!(
            "the package '{}' is named by its folder or address, which maloko does not resolve\nName its plugin under \
             `plugins.providers` of Pulumi.yaml, and the package by its name",
            spec.source
        ));
    }
    if !spec.parameters.is_empty() {
        return Err(format!(
            "the package '{}' is made of parameters ({}), which maloko does not resolve\nMake its SDK with \
             `pulumi package add`, which keeps what they stand for",
            spec.source,
            spec.parameters.join(" ")
        ));
    }
    Ok(PackageRequest {
        name: name.to_owned(),
        version: parsed(name, version)?,
        download_url: spec.server.trim_end_matches('/').to_owned(),
        checksums: hex(&spec.checksums),
        ..PackageRequest::default()
    })
}

/// A version without the `v` before it; empty for none.
fn parsed(name: &str, version: &str) -> Result<String, String> {
    let version = version.strip_prefix('v').unwrap_or(version);
    if version.is_empty() || Version::parse(version).is_ok() {
        return Ok(version.to_owned());
    }
    // Two numbers, or one, are taken as well.
    let numbers: Vec<&str> = version.split('.').collect();
    let padded = format!("{version}{}", ".0".repeat(3_usize.saturating_sub(numbers.len())));
    match Version::parse(&padded) {
        Ok(_) => Ok(padded),
        Err(_) => Err(format!("'{version}' is no version of the package '{name}'; write it like 4.21.4")),
    }
}

fn hex(checksums: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, String> {
    let digits = |digest: &Vec<u8>| {
        digest.iter().fold(String::new(), |mut text, byte| {
            // Writing to a text never fails.
            let _ = write!(text, "{byte:02x}");
            text
        })
    };
    checksums.iter().map(|(platform, digest)| (platform.clone(), digits(digest))).collect()
}

#[cfg(test)]
#[path = "required_tests.rs"]
mod tests;
