//! Packages of resources and functions whose type stands in a JavaScript or TypeScript program itself: in a class of its own, as in
//! `class Pet extends pulumi.CustomResource { constructor(...) { super("random:index/randomPet:RandomPet", ...) } }`.

use super::remote_components::{arguments, quoted};

/// What a provider resource takes first: its package alone.
const PROVIDER: &str = "ProviderResource";
/// What takes a type first.
const TYPED: [&str; 3] = ["CustomResource", "invoke", "invokeOutput"];
/// Packages that no plugin serves.
const OWN: [&str; 3] = ["pulumi", "pulumi-nodejs", "pulumi-python"];

/// The packages, each with its line (from 1).
pub(super) fn find(text: &str) -> Vec<(usize, String)> {
    let calls = text.match_indices('(');
    calls
        .filter_map(|(at, _)| {
            let before = &text[..at];
            let maker = match last_word(before) {
                "super" => {
                    let base = before.rsplit_once("extends ")?.1.trim_start();
                    last_word(base.split(|letter: char| !is_part(letter) && letter != '.').next()?)
                }
                word => word,
            };
            if maker != PROVIDER && !TYPED.contains(&maker) {
                return None;
            }
            let arguments = arguments(&text[at + 1..]);
            let kind = quoted(arguments.first()?)?;
            let package = if maker == PROVIDER { kind } else { package_of_type(kind)? };
            let line = before.matches('\n').count() + 1;
            (!OWN.contains(&package) && !package.is_empty()).then(|| (line, package.to_owned()))
        })
        .collect()
}

fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

fn last_word(text: &str) -> &str {
    let start = text.char_indices().rev().find(|(_, letter)| !is_part(*letter));
    start.map_or(text, |(at, letter)| &text[at + letter.len_utf8()..])
}

/// The package of a type `package:module:Name`.
fn package_of_type(kind: &str) -> Option<&str> {
    let mut parts = kind.split(':');
    let package = parts.next().filter(|package| package.starts_with(|letter: char| letter.is_ascii_alphabetic()))?;
    (parts.clone().count() == 2 && parts.all(|part| !part.is_empty())).then_some(package)
}

#[cfg(test)]
mod tests {
    use super::find;

    fn packages(text: &str) -> Vec<String> {
        find(text).into_iter().map(|(line, package)| format!("{line} {package}")).collect()
    }

    #[test]
    fn a_class_of_the_program_names_its_package() {
        let text = "class Pet extends pulumi.CustomResource {\n  constructor(name, opts) {\n    super(\n'random:index/x:X', \
                    name, {}, opts);\n  }\n}\nclass Own extends ProviderResource { constructor(n) { super(\"cloud\", n); } }\n\
                    new pulumi.CustomResource(\"tls:index:Key\", \"k\");\npulumi.runtime.invoke('aws:a:b', {});";
        assert_eq!(packages(text), ["3 random", "7 cloud", "8 tls", "9 aws"]);
    }

    #[test]
    fn what_is_no_resource_of_a_package_is_passed_over() {
        let text = "class A extends pulumi.ComponentResource { constructor() { super('my:index:A', 'a'); } }\n\
                    class B extends pulumi.dynamic.Resource { constructor() { super(provider, 'a'); } }\ninvoke('a');\n\
                    invoke(token);\nnew CustomResource(`${p}:a:B`);\ninvoke('pulumi:pulumi:getResource');\nsuper('x:y:Z');";
        assert_eq!(packages(text), [""; 0]);
    }
}
