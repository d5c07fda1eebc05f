//! Times as RFC 3339 writes them.

const DAYS_TO_1970: i64 = 719_468;
const MICROSECONDS: i64 = 1_000_000;

/// Microseconds since the epoch, UTC, if that is within the years 1 to 9999 there.
///
/// Taken are `2026-11-21T05:44:00`, up to six decimals of a second, and `Z` or `+01:00`.
pub fn read(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let separated = |at: usize, sign| bytes.get(at) == Some(&sign);
    let dated = separated(4, b'-') && separated(7, b'-') && separated(10, b'T');
    if !dated || !separated(13, b':') || !separated(16, b':') {
        return None;
    }
    let part = |begin: usize, end: usize| number(bytes.get(begin..end)?);
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    if year == 0 || day == 0 || day > days_in(year, month)? {
        return None;
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let (fraction, zone) = fraction(bytes.get(19..)?)?;
    let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute - offset(zone)?) * 60;
    let instant = (seconds + second) * MICROSECONDS + fraction;
    let range = days(1, 1, 1)..days(10_000, 1, 1);
    range.contains(&instant.div_euclid(86_400 * MICROSECONDS)).then_some(instant)
}

fn number(digits: &[u8]) -> Option<i64> {
    let add =
        |sum: i64, digit: &u8| digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0'));
    digits.iter().try_fold(0, add)
}

/// The microseconds that a text begins with, and the rest of it.
fn fraction(rest: &[u8]) -> Option<(i64, &[u8])> {
    let Some(decimals) = rest.strip_prefix(b".") else { return Some((0, rest)) };
    let len = decimals.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=6).contains(&len) {
        return None;
    }
    let (digits, zone) = decimals.split_at(len);
    Some((number(digits)? * 10_i64.pow(6 - len as u32), zone))
}

/// The minutes that a zone is before UTC.
fn offset(zone: &[u8]) -> Option<i64> {
    let ([sign @ (b'+' | b'-'), hour @ .., b':', tens, ones], 6) = (zone, zone.len()) else {
        return (zone == b"Z").then_some(0);
    };
    let (hours, minutes) = (number(hour)?, number(&[*tens, *ones])?);
    let sign = if *sign == b'+' { 1 } else { -1 };
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

fn days_in(year: i64, month: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => Some(31),
        4 | 6 | 9 | 11 => Some(30),
        2 => Some(28 + i64::from(leap)),
        _ => None,
    }
}

/// Days since the epoch, by eras of 400 years that begin in March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_TO_1970
}
