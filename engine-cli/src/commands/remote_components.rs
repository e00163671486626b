//! Components of native packages in JavaScript and TypeScript: those that are made with the type's text and `remote` as
//! the fifth argument, as in `super("acme:web:Site", name, args, options, true)`.

/// The constructors that take a component's type.
const CONSTRUCTORS: [&str; 2] = ["super(", "ComponentResource("];
/// Where `remote` stands among a constructor's arguments, from 0.
const REMOTE: usize = 4;

/// The packages of the remote components in a program's text, each with its line (from 1).
pub(super) fn find(text: &str) -> Vec<(usize, String)> {
    let calls = CONSTRUCTORS.iter().flat_map(|constructor| text.match_indices(constructor));
    let mut found: Vec<_> = calls
        .filter_map(|(at, constructor)| {
            let arguments = arguments(&text[at + constructor.len()..]);
            let is_remote = arguments.get(REMOTE).is_some_and(|argument| argument.trim() == "true");
            let package = is_remote.then(|| package(arguments.first()?))??;
            Some((text[..at].matches('\n').count() + 1, package))
        })
        .collect();
    found.sort_unstable();
    found
}

/// The package of a type that stands there as a text.
pub(super) fn package(argument: &str) -> Option<String> {
    let kind = quoted(argument)?;
    kind.split_once(':').map(|(package, _)| package.to_owned())
}

/// A text that stands there as it is.
pub(super) fn quoted(argument: &str) -> Option<&str> {
    let argument = argument.trim();
    let quote = argument.chars().next().filter(|first| matches!(first, '"' | '\'' | '`'))?;
    argument.strip_prefix(quote)?.strip_suffix(quote).filter(|text| !text.contains("${"))
}

/// The arguments of a call, from behind its opening parenthesis on, without comments.
pub(super) fn arguments(text: &str) -> Vec<String> {
    let mut arguments = vec![String::new()];
    let mut depth = 0_usize;
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        let mut part = String::from(next);
        match next {
            '"' | '\'' | '`' => take_quoted(next, &mut rest, &mut part),
            '/' if rest.peek() == Some(&'/') => {
                rest.by_ref().find(|next| *next == '\n');
                continue;
            }
            '/' if rest.peek() == Some(&'*') => {
                let mut before = ' ';
                rest.by_ref().skip(1).find(|next| std::mem::replace(&mut before, *next) == '*' && *next == '/');
                continue;
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => break,
            },
            ',' if depth == 0 => {
                arguments.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = arguments.last_mut() {
            last.push_str(&part);
        }
    }
    arguments
}

/// Takes the rest of a text in quotes.
fn take_quoted(quote: char, rest: &mut impl Iterator<Item = char>, part: &mut String) {
    while let Some(next) = rest.next() {
        part.push(next);
        if next == '\\' {
            part.extend(rest.next());
        } else if next == quote {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::find;

    fn packages(text: &str) -> Vec<String> {
        find(text).into_iter().map(|(line, package)| format!("{line} {package}")).collect()
    }

    #[test]
    fn a_component_is_remote_by_its_fifth_argument() {
        let text = "class A extends pulumi.ComponentResource {\n  constructor(name) {\n    super('acme:web:Site', name, \
                    { a: [1, 2], b: f(\"x, y\") }, // the options, too\n {}, true /*remote*/);\n  }\n}\nconst b = new \
                    pulumi.ComponentResource(`parts:index:B`, \"b\", {}, undefined, true, ref());";
        assert_eq!(packages(text), ["3 acme", "7 parts"]);
    }

    #[test]
    fn local_components_and_what_cannot_be_told_are_passed_over() {
        let text = "super('acme:web:Site', name, {}, options);\nsuper('a:b:C', name, {}, options, false);\n\
                    super(TYPE, name, {}, options, true);\nsuper('unfinished', \"";
        assert_eq!(packages(text), [""; 0]);
    }
}
