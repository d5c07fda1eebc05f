//! The shape of a name: what remains of it once numbers and made-up words are folded.

/// The shape of `name`. Each longest run of at least four hexadecimal digits with a decimal one
/// among them, and each longest run of decimal digits, becomes `#`; a word (longest run of letters
/// and digits) of six that mixes small letters with capitals or digits, as mkstemp makes them,
/// becomes `@`. Words are folded first.
pub fn shape(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some(&first) = rest.first() {
        let word = run(rest, u8::is_ascii_alphanumeric);
        if word == 0 {
            out.push(first);
            rest = &rest[1..];
        } else {
            let (word, after) = rest.split_at(word);
            if is_made_up(word) {
                out.push(b'@');
            } else {
                fold_numbers(word, &mut out);
            }
            rest = after;
        }
    }
    out
}

/// Whether a word looks as mkstemp makes them up.
pub fn is_made_up(word: &[u8]) -> bool {
    word.len() == 6
        && word.iter().any(u8::is_ascii_lowercase)
        && word.iter().any(|byte| !byte.is_ascii_lowercase())
}

fn fold_numbers(mut word: &[u8], out: &mut Vec<u8>) {
    while let Some(&first) = word.first() {
        let hex = run(word, u8::is_ascii_hexdigit);
        let folded = if hex >= 4 && word[..hex].iter().any(u8::is_ascii_digit) {
            hex
        } else {
            run(word, u8::is_ascii_digit)
        };
        if folded > 0 {
            out.push(b'#');
            word = &word[folded..];
        } else {
            // A run of letters that are hexadecimal digits is no number from any place in it.
            let kept = if hex >= 4 { hex } else { 1 };
            out.extend_from_slice(if kept > 1 {
                &word[..kept]
            } else {
                std::slice::from_ref(&first)
            });
            word = &word[kept..];
        }
    }
}

fn run(bytes: &[u8], wanted: fn(&u8) -> bool) -> usize {
    bytes.iter().take_while(|byte| wanted(byte)).count()
}
