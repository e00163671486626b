use super::*;

#[test]
fn what_a_terminal_would_obey_goes_and_the_rest_stays() {
    for (text, shown) in [
        ("plain, größe\tand\nlines", "plain, größe\tand\nlines"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b(B\x1b[mend", "end"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\u{9b}31mred", "red"),
        ("\x1bP1$r\x1b\\after", "after"),
        ("\x1bcreset", "reset"),
        ("bell\x07, back\x08, null\0, return\r", "bell, back, null, return"),
        ("right\u{202e}tfel\u{202c}", "righttfel"),
        // What has no end hides nothing of what follows.
        ("\x1b]0;no end\nnext", "0;no end\nnext"),
        ("\x1b", ""),
        ("\x1b[", ""),
        // Of joins and variants letters are made.
        ("👩\u{200d}💻 ❤\u{fe0f}", "👩\u{200d}💻 ❤\u{fe0f}"),
    ] {
        assert_eq!(clean(text), shown, "{text:?}");
    }
}

#[test]
fn a_text_for_one_line_has_one() {
    assert_eq!(one_line("a\nb\tc\u{2028}d\r\ne"), "a b c d e");
}

#[test]
fn json_keeps_its_value_and_gives_no_orders() {
    assert_eq!(harmless_json("{\n\"a\": \"\u{9b}31m\u{7f}\u{202e}ö\"}"), "{\n\"a\": \"\\u009b31m\\u007f\\u202eö\"}");
}
