//! Sorts lines by time, within bounded memory.

/// The most bytes of lines pending.
const WAITING: usize = 64 << 20;

struct Line {
    time: i64,
    start: usize,
    end: usize,
}

/// Holds lines until earlier ones have come.
#[derive(Default)]
pub struct Sorter {
    text: Vec<u8>,
    lines: Vec<Line>,
}

impl Sorter {
    /// The buffer for the next line, its end of line included.
    pub fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Ends the line that was written since the last call.
    #[inline]
    pub fn end_line(&mut self, time: i64) {
        let start = self.lines.last().map_or(0, |line| line.end);
        self.lines.push(Line { time, start, end: self.text.len() });
    }

    /// The earlier half of the pending lines, in order, once there are many.
    pub fn due(&mut self) -> Vec<u8> {
        if self.text.len() < WAITING {
            return Vec::new();
        }
        self.take(self.lines.len() / 2)
    }

    /// All pending lines, in order.
    pub fn rest(&mut self) -> Vec<u8> {
        self.take(self.lines.len())
    }

    /// The earliest lines; lines of equal times in the order of arrival.
    fn take(&mut self, count: usize) -> Vec<u8> {
        let (text, mut lines) = (std::mem::take(&mut self.text), std::mem::take(&mut self.lines));
        lines.sort_by_key(|line| line.time);
        let bytes = |lines: &[Line]| -> Vec<u8> {
            let mut out = Vec::with_capacity(lines.iter().map(|line| line.end - line.start).sum());
            for line in lines {
                out.extend_from_slice(&text[line.start..line.end]);
            }
            out
        };
        let (now, later) = lines.split_at(count);
        self.text = bytes(later);
        let mut at = 0;
        for line in later {
            let start = at;
            at += line.end - line.start;
            self.lines.push(Line { time: line.time, start, end: at });
        }
        bytes(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(sorter: &mut Sorter, time: i64, text: &[u8]) {
        sorter.text().extend_from_slice(text);
        sorter.end_line(time);
    }

    #[test]
    fn lines_come_in_the_order_of_their_times() {
        let mut sorter = Sorter::default();
        for (time, text) in [(3, b"c\n"), (1, b"a\n"), (3, b"d\n"), (2, b"b\n")] {
            line(&mut sorter, time, text);
        }
        assert!(sorter.due().is_empty());
        assert_eq!(sorter.rest(), b"a\nb\nc\nd\n");
        assert!(sorter.rest().is_empty());
    }

    #[test]
    fn memory_is_bounded_by_letting_the_earlier_half_go() {
        let mut sorter = Sorter::default();
        let long = vec![b'x'; WAITING / 4];
        for time in [4, 3, 2] {
            line(&mut sorter, time, &long);
            assert!(sorter.due().is_empty());
        }
        line(&mut sorter, 1, b"first\n");
        line(&mut sorter, 5, &long);
        let due = sorter.due();
        assert!(due.starts_with(b"first\nxxx") && due.len() == 6 + long.len());
        line(&mut sorter, 2, b"late\n");
        assert!(sorter.rest().starts_with(b"late\nxxx"));
    }
}
