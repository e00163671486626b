//! A version as Python's packages write it (PEP 440).

/// `1.2.3-alpha.4` becomes `1.2.3a4`; what has no place in such a version goes behind `+`. `None`: it is no version.
pub(super) fn python_version(version: &str) -> Option<String> {
    let (version, build) = version.split_once('+').map_or((version, None), |(version, build)| (version, Some(build)));
    let (release, pre) = version.split_once('-').map_or((version, None), |(release, pre)| (release, Some(pre)));
    let numbers: Vec<&str> = release.split('.').collect();
    if numbers.len() != 3 || !numbers.iter().all(|number| is_number(number)) {
        return None;
    }
    let mut parts = joined(pre.unwrap_or_default());
    let mut made = release.to_owned();
    for (known, dot) in [(PRE, ""), (&[("dev", "dev")][..], "."), (&[("post", "post")][..], ".")] {
        if let Some(found) = parts.first().and_then(|part| marked(part, known)) {
            made.push_str(dot);
            made.push_str(&found);
            parts.remove(0);
        }
    }
    parts.extend(build.into_iter().flat_map(|build| build.split('.').map(str::to_owned)));
    let valid = |part: &String| part.chars().all(|read| read.is_ascii_alphanumeric() || read == '-');
    if !parts.iter().all(valid) {
        return None;
    }
    let local: Vec<String> = parts.iter().map(|part| part.replace('-', ".")).collect();
    Some(if local.is_empty() { made } else { format!("{made}+{}", local.join(".")) })
}

const PRE: &[(&str, &str)] = &[("alpha", "a"), ("beta", "b"), ("rc", "rc"), ("a", "a"), ("b", "b")];

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `alpha.4` is one part: `alpha4`.
fn joined(pre: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in pre.split('.').filter(|part| !part.is_empty()) {
        match parts.last_mut() {
            Some(last) if is_number(part) && ["alpha", "beta", "rc", "dev", "post"].contains(&last.as_str()) => {
                last.push_str(part);
            }
            _ => parts.push(part.to_owned()),
        }
    }
    parts
}

fn marked(part: &str, known: &[(&str, &str)]) -> Option<String> {
    known.iter().find_map(|(word, short)| {
        part.strip_prefix(word).filter(|number| is_number(number)).map(|number| format!("{short}{number}"))
    })
}

#[cfg(test)]
mod tests {
    use super::python_version;

    #[test]
    fn versions_are_written_as_python_has_them() {
        for (version, wanted) in [
            ("1.2.3", "1.2.3"),
            ("1.2.3-alpha.4", "1.2.3a4"),
            ("1.2.3-beta4", "1.2.3b4"),
            ("1.2.3-rc.1", "1.2.3rc1"),
            ("1.2.3-dev.5", "1.2.3.dev5"),
            ("1.2.3-alpha.1700000000+abc1234", "1.2.3a1700000000+abc1234"),
            ("1.2.3-nightly", "1.2.3+nightly"),
            ("1.2.3+some-build", "1.2.3+some.build"),
        ] {
            assert_eq!(python_version(version).as_deref(), Some(wanted), "{version}");
        }
    }

    #[test]
    fn what_is_no_version_is_none() {
        for version in ["", "1", "1.2", "latest", "1.2.x", "1.2.3+a\"b"] {
            assert_eq!(python_version(version), None, "{version}");
        }
    }
}
