use super::port_in;

#[test]
fn a_port_may_stand_between_white_space_and_sequences_for_a_terminal() {
    for line in ["50051\n", "  50051 \r\n", "50051", "\u{1b}[?1h\u{1b}=50051\n", "\u{1b}[6n50051\n"] {
        assert_eq!(port_in(line.as_bytes()), Ok(50051), "{line:?}");
    }
}

#[test]
fn what_is_no_port_is_shown() {
    for (line, shown) in
        [("hello\n", "'hello'"), ("0\n", "'0'"), ("70000", "'70000'"), ("1 2\n", "'1 2'"), ("\n", "''")]
    {
        let error = port_in(line.as_bytes()).expect_err(line);
        assert!(error.ends_with(shown), "{error}");
    }
    let error = port_in(&[b'x'; 10_000]).expect_err("too long");
    assert!(error.len() < 400, "{error}");
}
