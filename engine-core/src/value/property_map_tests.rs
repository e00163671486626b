use super::*;

fn map(members: &[(&str, f64)]) -> PropertyMap {
    members.iter().map(|(key, number)| ((*key).to_owned(), Value::Number(*number))).collect()
}

#[test]
fn names_are_sorted_however_they_come_and_the_last_value_of_a_name_counts() {
    let expected = map(&[("a", 3.0), ("b", 1.0)]);
    assert_eq!(map(&[("b", 1.0), ("a", 2.0), ("a", 3.0)]), expected);
    let mut grown = map(&[("b", 0.0)]);
    grown.extend(map(&[("b", 1.0), ("a", 3.0)]));
    assert_eq!(grown, expected);
    let mut one_by_one = PropertyMap::new();
    for (key, number) in [("b", 1.0), ("a", 2.0), ("a", 3.0)] {
        one_by_one.insert(key.to_owned(), Value::Number(number));
    }
    assert_eq!(one_by_one, expected);
    assert_eq!(expected.into_keys().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn it_is_shown_as_a_map() {
    assert_eq!(format!("{:?}", map(&[("a", 1.0)])), r#"{"a": Number(1.0)}"#);
}

#[test]
fn a_value_takes_no_more_than_four_words() {
    // A run keeps several maps of them for each of 100,000 resources.
    assert!(size_of::<Value>() <= 4 * size_of::<usize>(), "{}", size_of::<Value>());
}
