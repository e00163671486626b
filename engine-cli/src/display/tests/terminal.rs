//! As much of a terminal as the live view uses: lines, moving up, clearing.

use std::io::{self, Write};

/// Its lines, those that left the screen at the top included.
pub(super) struct Terminal {
    rows: usize,
    columns: usize,
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Terminal {
    pub(super) fn new(rows: usize, columns: usize) -> Self {
        Self { rows, columns, lines: vec![Vec::new()], row: 0, column: 0 }
    }

    /// What stands on it, without colours.
    pub(super) fn text(&self) -> String {
        let lines: Vec<String> =
            self.lines.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned()).collect();
        format!("{}\n", lines.join("\n").trim_end())
    }

    fn put(&mut self, letter: char) {
        if self.column == self.columns {
            self.down();
        }
        let line = &mut self.lines[self.row];
        if line.len() <= self.column {
            line.resize(self.column + 1, ' ');
        }
        line[self.column] = letter;
        self.column += 1;
    }

    fn down(&mut self) {
        self.row += 1;
        self.column = 0;
        if self.row == self.lines.len() {
            self.lines.push(Vec::new());
        }
    }

    fn control(&mut self, parameters: &str, letter: char) {
        let number = parameters.parse::<usize>().unwrap_or(1);
        match letter {
            'A' => {
                let top = self.lines.len().saturating_sub(self.rows);
                self.row = self.row.saturating_sub(number).max(top);
            }
            'K' => self.lines[self.row].truncate(self.column),
            'J' => {
                self.lines[self.row].truncate(self.column);
                self.lines.truncate(self.row + 1);
            }
            'm' | 'h' | 'l' => {}
            other => unreachable!("the live view used the control sequence {parameters}{other}"),
        }
    }
}

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(bytes).unwrap();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\n' => self.down(),
                '\r' => self.column = 0,
                '\x1b' => {
                    assert_eq!(letters.next(), Some('['));
                    let mut parameters = String::new();
                    let end = loop {
                        let letter = letters.next().unwrap();
                        if letter.is_ascii_alphabetic() {
                            break letter;
                        }
                        parameters.push(letter);
                    };
                    self.control(&parameters, end);
                }
                other => self.put(other),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
