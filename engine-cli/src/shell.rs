//! Texts as words of a POSIX shell, for commands that users copy from messages.

use std::borrow::Cow;

/// A text as one word, between quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// May a variable of a shell have this name? Anything else before an equals sign is a command, which the shell would run.
pub(crate) fn is_variable(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && !name.starts_with(|first: char| first.is_ascii_digit()) && name.bytes().all(is_plain)
}

/// A text as one word, between quotes only where a shell would read it as something else.
pub(crate) fn word(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,~".contains(&byte);
    let is_word = !text.is_empty() && !text.starts_with(['~', '=']) && text.bytes().all(is_plain);
    if is_word { Cow::Borrowed(text) } else { Cow::Owned(quoted(text)) }
}

#[cfg(test)]
mod tests {
    use super::{is_variable, word};

    #[test]
    fn only_what_a_shell_would_misread_is_quoted() {
        for plain in ["file://~/state", "s3://bucket/a-b_c", "postgres://ada@host:5432/db", "dev"] {
            assert_eq!(word(plain), plain);
        }
        assert_eq!(word("s3://b?region=x&endpoint=http://h:1"), "'s3://b?region=x&endpoint=http://h:1'");
        assert_eq!(word("it's a file"), r"'it'\''s a file'");
        assert_eq!([word("~ada"), word("")], ["'~ada'", "''"]);
    }

    #[test]
    fn only_what_a_shell_takes_for_a_name_is_a_variable() {
        assert!(["url", "_a1", "URL_2"].into_iter().all(is_variable));
        assert!(!["", "1a", "a-b", "a b", "$(touch x)", "a;b", "a\nb", "größe"].into_iter().any(is_variable));
    }
}
