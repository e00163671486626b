use super::without;
use crate::language::Language::{self, NodeJs, Python};

fn may_have(language: Language, text: &str) -> bool {
    without(text, language, "program").is_none()
}

#[test]
fn whatever_binds_a_name_in_python_makes_it_a_function_that_may_be_there() {
    let bound = [
        "def program():\n    pass\n",
        "async def program(): ...",
        "class program: ...",
        "program = made()",
        "program: Callable[[], None] = made()",
        "one, program = made()",
        "from rooms import program",
        "from rooms import (\n    other,\n    program,\n)",
        "from rooms import (other, program)",
        "import rooms as program",
        "if new:\n    def program(): ...\n",
        "from rooms import *",
        "def __getattr__(name): ...",
        "globals()['program'] = made()",
    ];
    for text in bound {
        assert!(may_have(Python, text), "{text}");
    }
}

#[test]
fn a_name_that_python_nowhere_binds_is_missing() {
    let text = "# the program begins here\ndef programm():\n    return other.program()\n\n\nasync def rooms(): ...\n\ndef _own(): ...\n";
    assert_eq!(without(text, Python, "program"), Some(vec!["programm", "rooms"]));
    assert_eq!(without("", Python, "program"), Some(Vec::new()));
}

#[test]
fn whatever_exports_a_name_in_node_makes_it_a_function_that_may_be_there() {
    let exported = [
        "export function program() {}",
        "export async function* program() {}",
        "export const program = async () => {};",
        "export const other = 1, program = made();",
        "export class program {}",
        "exports.program = made();",
        "module.exports.program = made();",
        "module.exports = { other, program };",
        "Object.assign(exports, { program })",
        "Object.defineProperty(exports, 'program', {});",
        "function program() {}\nexport { program };",
        "export { run as program } from './rooms';",
        "export const { program } = made();",
        "export * from './rooms'; // with its program",
        "!function(e){e.program=made()}(exports)",
    ];
    for text in exported {
        assert!(may_have(NodeJs, text), "{text}");
    }
    assert_eq!(without("export default function program() {}", NodeJs, "default"), None);
}

#[test]
fn a_name_that_node_does_not_export_is_missing() {
    let text =
        "export type program = () => void;\nfunction program() {}\nexport function programm() {}\nexports.rooms = 1;\n";
    assert_eq!(without(text, NodeJs, "program"), Some(vec!["programm", "rooms"]));
    let made = "Object.defineProperty(exports, '__esModule', { value: true });\nexports.programm = programm;\n";
    assert_eq!(without(made, NodeJs, "program"), Some(vec!["programm"]));
}
