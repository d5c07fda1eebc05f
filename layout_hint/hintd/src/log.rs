//! Lines on standard error for syslog and journals, which add the time.

use std::cell::RefCell;
use std::fmt::Display;
use std::io::{stderr, Write};

/// Writes a line. Nobody may read it, which is no reason to stop.
pub fn line(text: impl Display) {
    let _ = writeln!(stderr(), "birthmark-hintd: {}", visible(&text.to_string()));
}

/// A line's text with control characters escaped, as some of it comes from the service.
fn visible(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\'' | '\\' => c.to_string(),
        _ => c.escape_debug().to_string(),
    };
    text.chars().map(escaped).collect()
}

/// A recurring failure, logged when it begins, changes and ends.
pub struct Trouble {
    with: String,
    last: RefCell<Option<String>>,
}

impl Trouble {
    /// A failure `with` something.
    pub fn new(with: impl Display) -> Self {
        Trouble { with: with.to_string(), last: RefCell::new(None) }
    }

    /// Records a failure.
    pub fn is(&self, error: impl Display) {
        let error = error.to_string();
        let mut last = self.last.borrow_mut();
        if last.as_deref() != Some(error.as_str()) {
            line(format_args!("{}: {error}", self.with));
            *last = Some(error);
        }
    }

    /// Records a success.
    pub fn is_over(&self) {
        if self.last.borrow_mut().take().is_some() {
            line(format_args!("{}: well again", self.with));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn only_control_sequences_of_terminals_are_escaped() {
        assert_eq!(visible("a\x1b[31m\n\u{9b}\u{202e}"), r"a\u{1b}[31m\n\u{9b}\u{202e}");
        assert_eq!(visible(r#"größer: "C:\x""#), r#"größer: "C:\x""#);
    }
}
