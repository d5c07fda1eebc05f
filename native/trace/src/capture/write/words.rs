//! XDR values written one after the other (RFC 4506).

/// XDR values, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Words(pub Vec<u8>);

impl Words {
    /// Words.
    pub fn of(words: &[u32]) -> Words {
        Words::default().words(words)
    }

    /// More words.
    pub fn words(mut self, words: &[u32]) -> Words {
        self.put(words);
        self
    }

    /// Bytes behind their number, padded.
    pub fn opaque(mut self, bytes: &[u8]) -> Words {
        self.put_opaque(bytes);
        self
    }

    /// Adds words.
    pub fn put(&mut self, words: &[u32]) {
        self.0.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    }

    /// Adds a number of 64 bits.
    pub fn put_long(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_be_bytes());
    }

    /// Adds bytes behind their number, padded.
    pub fn put_opaque(&mut self, bytes: &[u8]) {
        self.put(&[bytes.len() as u32]);
        self.0.extend_from_slice(bytes);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }
}
