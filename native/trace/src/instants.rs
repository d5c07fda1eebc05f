//! Whether a record's time can be its own: judged by the clock, and by the records around it.
//!
//! A time that no clock can have shown yet is wrong, and so is one before 1970. One more than
//! [`STEP`] from the record before is doubted: that record waits for [`FAR`] more (the first of a
//! trace for [`LOOKED_AT`]), which tell whether the trace has a gap there, or a clock was set, so
//! that it is kept. It is odd where at least [`AGREE`] of the records around it agree with each
//! other and not with it:
//!
//! - where most of the next [`LOOKED_AT`], or of the next [`FAR`], jump back to the record before it:
//!   a run of up to half as many records is odd as a whole;
//! - where it begins a trace, and most of the next [`LOOKED_AT`] are together and before it;
//! - where it is alone, being near none, and is not in order between those before and behind; at
//!   either end of a trace it may be up to [`LONG`] from the others.
//!
//! Live traffic must not wait behind each quiet hour. There a record within [`APART`] of the one
//! before is doubted only if it is also more than [`STEP`] ahead of this host's clock.
//!
//! What waits is given back in its order, so that nothing else about a trace changes.

use std::collections::VecDeque;

/// Records further apart than this are doubted, in microseconds: an hour.
pub const STEP: i64 = 3_600_000_000;

/// Records further apart than this are not near each other, in microseconds: a day.
pub const APART: i64 = 86_400_000_000;

/// The longest gap that is believed where a single record begins or ends a trace: 31 days.
pub const LONG: i64 = 31 * APART;

/// How far ahead of this host's clock a monitor's may be, in microseconds.
pub const AHEAD: i64 = APART;

/// How many records tell whether one before them is odd.
pub const LOOKED_AT: usize = 16;

/// How many records tell whether a run of records before them is odd.
pub const FAR: usize = 8 * LOOKED_AT;

/// How many records must agree with each other to speak against one.
pub const AGREE: usize = LOOKED_AT / 2;

/// Why a record is set aside: a word for counting, and what was expected.
pub type Odd = (&'static str, String);

/// What is to be done with a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Take it.
    Plausible,
    /// Give it to [`Instants::hold`], then take what [`Instants::settled`] gives.
    Pending,
    /// Set it aside.
    Odd(Odd),
}

/// Judges the times of a trace's records, in their order; holds records `R` that are doubted.
#[derive(Debug)]
pub struct Instants<R> {
    latest: Option<i64>,
    /// From this time on a record is doubted that is more than [`STEP`] from the one before.
    steps_from: i64,
    last: Option<i64>,
    /// What `plausible` was when the last record came that did not follow the one before it.
    begun: u64,
    held: VecDeque<(i64, R)>,
    /// The records whose times were believed.
    plausible: u64,
    /// The records that the clock showed to be wrong.
    too_late: u64,
}

impl<R> Default for Instants<R> {
    /// Believes every time.
    fn default() -> Instants<R> {
        let held = VecDeque::new();
        Instants {
            latest: None,
            steps_from: i64::MIN,
            last: None,
            begun: 0,
            held,
            plausible: 0,
            too_late: 0,
        }
    }
}

impl<R> Instants<R> {
    /// Judges from now on, by a clock that shows so many microseconds since the epoch.
    pub fn judge_by(&mut self, clock: i64) {
        self.latest = Some(clock.saturating_add(AHEAD));
    }

    /// Judges live traffic from now on, by a clock that shows so many microseconds.
    pub fn judge_live(&mut self, clock: i64) {
        self.judge_by(clock);
        self.steps_from = clock.saturating_add(STEP);
    }

    /// How many records the clock showed to be wrong, and how many had a time that is believed.
    pub fn judged(&self) -> (u64, u64) {
        (self.too_late, self.plausible)
    }

    /// Judges the next record.
    #[inline]
    pub fn judge(&mut self, time: i64) -> Verdict {
        let Some(latest) = self.latest else {
            return Verdict::Plausible;
        };
        if self.held.is_empty() && time <= latest && self.follows(time) {
            self.believe(time);
            return Verdict::Plausible;
        }
        self.doubt(time, latest)
    }

    /// Judges the next row of a table: a call at `time`, and its reply, if it has one.
    #[inline]
    pub fn judge_row(&mut self, time: i64, reply: Option<i64>) -> Verdict {
        let (Some(latest), Some(reply)) = (self.latest, reply) else {
            return self.judge(time);
        };
        if reply < 0 || reply > latest {
            return self.doubt(reply, latest);
        }
        let possible = (0..=latest).contains(&time);
        if possible && !near(time, reply) {
            let (time, reply) = (utc(time), utc(reply));
            let expected = format!("a reply within a day of its call, {time}: not {reply}");
            return Verdict::Odd(("odd-time", expected));
        }
        self.judge(time)
    }

    /// The first record that is held.
    pub fn first_held(&self) -> Option<&R> {
        self.held.front().map(|(_, record)| record)
    }

    /// Keeps a record that is doubted.
    pub fn hold(&mut self, time: i64, record: R) {
        self.held.push_back((time, record));
    }

    /// The next record of which enough is known, or any where the trace has `ended`; and why it is
    /// set aside, if it is.
    pub fn settled(&mut self, ended: bool) -> Option<(R, Option<Odd>)> {
        let time = self.held.front()?.0;
        let follows = self.follows(time);
        // where a trace begins, no more than the next few records tell
        let enough = if self.last.is_some() { FAR } else { LOOKED_AT };
        if !follows && !ended && self.held.len() <= enough {
            return None;
        }
        let odd = if follows { None } else { self.odd(time) };
        if odd.is_none() {
            if !follows {
                self.begun = self.plausible;
            }
            self.believe(time);
        }
        self.held.pop_front().map(|(_, record)| (record, odd))
    }

    #[inline]
    fn believe(&mut self, time: i64) {
        self.last = Some(time);
        self.plausible += 1;
    }

    #[inline]
    fn follows(&self, time: i64) -> bool {
        self.last.is_some_and(|last| {
            let apart = time.abs_diff(last);
            apart <= STEP as u64 || (apart <= APART as u64 && time < self.steps_from)
        })
    }

    fn doubt(&mut self, time: i64, latest: i64) -> Verdict {
        if time < 0 {
            let expected = "a time since 1970, not one before".to_owned();
            return Verdict::Odd(("before-1970", expected));
        }
        if time <= latest {
            return Verdict::Pending;
        }
        self.too_late += 1;
        let (latest, found) = (utc(latest), utc(time));
        let expected = format!("a time until {latest}, a day after this host's clock: not {found}");
        Verdict::Odd(("after-clock", expected))
    }

    /// Why the first record held is odd, by those behind it.
    fn odd(&self, time: i64) -> Option<Odd> {
        let behind: Vec<i64> = self.held.iter().skip(1).take(FAR).map(|(time, _)| *time).collect();
        let mut next = behind[..behind.len().min(LOOKED_AT)].to_vec();
        next.sort_unstable();
        let neighbour = match self.last {
            Some(last) => self.gone_past(time, last, &behind),
            None => begun_ahead(time, &next),
        };
        let neighbour = neighbour.or_else(|| self.alone(time, &next))?;
        let (about, found) = (utc(neighbour), utc(time));
        let expected = format!(
            "a time near that of its neighbours, {about}: not {found}, {} from it",
            apart_in_words(time.abs_diff(neighbour))
        );
        Some(("odd-time", expected))
    }

    /// Where the trace goes on from, if most records behind jump back to the one before.
    fn gone_past(&self, time: i64, last: i64, behind: &[i64]) -> Option<i64> {
        let jump = time.abs_diff(last);
        let reach = if jump > APART as u64 { APART as u64 } else { (jump / 2).min(STEP as u64) };
        let returned = |at: &i64| at.abs_diff(last) <= reach;
        let first = behind.iter().position(returned)?;
        let before = if first == 0 { time } else { behind[first - 1] };
        let most = |window: &[i64]| {
            let on = window.iter().filter(|at| returned(at)).count();
            2 * on > window.len() && on + self.run() >= AGREE
        };
        // a clock that was set back comes to the time before by itself, without a jump
        let jumps = behind[first].abs_diff(before) > jump / 2;
        let next = &behind[..behind.len().min(LOOKED_AT)];
        (jumps && (most(next) || most(behind))).then_some(last)
    }

    /// What a record is far from, if it is near none of those around it, and out of order.
    fn alone(&self, time: i64, behind: &[i64]) -> Option<i64> {
        if behind.iter().any(|at| near(*at, time)) {
            return None;
        }
        let middle = behind.get(behind.len() / 2).copied();
        let agree = |middle| behind.iter().filter(|at| near(**at, middle)).count() >= AGREE;
        match (self.last, middle.filter(|middle| agree(*middle))) {
            (Some(last), Some(middle)) => (time < last || time > middle).then_some(middle),
            (None, Some(middle)) => (time > middle || middle - time > LONG).then_some(middle),
            (Some(last), None) if behind.len() < AGREE && self.run() >= AGREE => {
                (time < last || time - last > LONG).then_some(last)
            }
            _ => None,
        }
    }

    /// How many of the last records agree with each other.
    fn run(&self) -> usize {
        usize::try_from(self.plausible - self.begun).unwrap_or(usize::MAX)
    }
}

/// Where a trace begins, if most of the next records, which are sorted, are together and before
/// the first.
fn begun_ahead(time: i64, next: &[i64]) -> Option<i64> {
    let middle = *next.get(next.len() / 2)?;
    let together = next.iter().filter(|at| at.abs_diff(middle) <= STEP as u64).count();
    let ahead = time > middle && time.abs_diff(middle) > STEP as u64;
    (ahead && together > AGREE).then_some(middle)
}

/// How far times are apart, in whole days or hours.
fn apart_in_words(apart: u64) -> String {
    match apart / APART as u64 {
        0 => format!("{} hours", apart / STEP as u64),
        days => format!("{days} days"),
    }
}

#[inline]
fn near(one: i64, other: i64) -> bool {
    one.abs_diff(other) <= APART as u64
}

/// An instant in the form of RFC 3339, to the second.
fn utc(time: i64) -> String {
    let seconds = time.div_euclid(1_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // by eras of 400 years that begin in March
    let since = days + 719_468;
    let (era, of_era) = (since.div_euclid(146_097), since.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: i64 = 1_800_000_000_000_000; // 2027-01-15
    const NOW: i64 = 1_003_680_000_000_000; // 2001-10-21T16:00:00Z

    /// The times that are believed, those set aside, and the most that were held at once.
    fn judged(times: &[i64]) -> (Vec<i64>, Vec<i64>, usize) {
        let mut instants = Instants::default();
        instants.judge_by(CLOCK);
        let (mut plausible, mut set_aside, mut most) = (Vec::new(), Vec::new(), 0);
        let mut sort = |time, odd: Option<Odd>| match odd {
            None => plausible.push(time),
            Some(_) => set_aside.push(time),
        };
        for &time in times {
            match instants.judge(time) {
                Verdict::Plausible => sort(time, None),
                Verdict::Odd(odd) => sort(time, Some(odd)),
                Verdict::Pending => instants.hold(time, time),
            }
            while let Some((time, odd)) = instants.settled(false) {
                sort(time, odd);
            }
            most = most.max(instants.held.len());
        }
        while let Some((time, odd)) = instants.settled(true) {
            sort(time, odd);
        }
        assert_eq!(instants.plausible as usize, plausible.len());
        assert_eq!(times.len(), plausible.len() + set_aside.len());
        (plausible, set_aside, most)
    }

    fn day(number: i64) -> Vec<i64> {
        (0..40).map(|second| NOW + number * APART + second * 1_000_000).collect()
    }

    fn with(times: &[i64], at: usize, odd: &[i64]) -> Vec<i64> {
        [&times[..at], odd, &times[at..]].concat()
    }

    #[test]
    fn an_odd_time_is_set_aside_wherever_it_stands() {
        for odd in [0, NOW - 40 * APART, NOW + 40 * APART, CLOCK, CLOCK + 2 * AHEAD, i64::MAX] {
            for at in [0, 1, 2, 20, 39, 40] {
                let (plausible, set_aside, most) = judged(&with(&day(0), at, &[odd]));
                assert_eq!((plausible, set_aside), (day(0), vec![odd]), "{odd} at {at}");
                assert!(most <= FAR);
            }
        }
        assert_eq!(judged(&with(&day(0), 3, &[-1, i64::MIN])).1, [-1, i64::MIN]);
    }

    #[test]
    fn several_odd_times_in_a_row_are_set_aside_if_most_that_follow_are_not() {
        let odd = [NOW + 100 * APART, 5, NOW + 200 * APART, NOW + 100 * APART, 5];
        let (plausible, set_aside, _) = judged(&with(&day(0), 20, &odd));
        assert_eq!((plausible, set_aside), (day(0), odd.to_vec()));
    }

    const HOUR: i64 = STEP;

    /// So many records from an hour on, ten a second.
    fn records(hour: i64, count: i64) -> Vec<i64> {
        (0..count).map(|number| NOW + hour * HOUR + number * 100_000).collect()
    }

    #[test]
    fn a_run_of_records_hours_away_is_set_aside_if_those_that_follow_go_on_from_before() {
        let whole = records(0, 2000);
        for hours in [-30, -5, -2, 2, 5, 23, 25, 1000] {
            for count in [1, 2, 7, 20, 60] {
                for at in [40, 1000, 1900] {
                    let run = records(hours, count);
                    let (plausible, set_aside, most) = judged(&with(&whole, at, &run));
                    assert_eq!(
                        (plausible, set_aside),
                        (whole.clone(), run),
                        "{hours} h, {count} at {at}"
                    );
                    assert!(most <= FAR);
                }
            }
        }
        for count in [1, 7] {
            let run = records(5, count);
            assert_eq!(judged(&[&run[..], &whole].concat()), (whole.clone(), run, LOOKED_AT));
        }
    }

    #[test]
    fn a_gap_of_hours_and_a_clock_that_is_set_lose_nothing() {
        for hours in [-30, -5, -2, 2, 5, 23] {
            for count in [1, 7, 20, 300] {
                let times = [records(0, 300), records(hours, count)].concat();
                let alone = count == 1 && hours < 0;
                assert_eq!(judged(&times).1.is_empty(), !alone, "{hours} h, {count}");
            }
        }
        // a clock that was set back by two hours, and shows the time before again
        let slow = |from: i64| (0..400).map(move |minute| NOW + (from + minute) * HOUR / 60);
        let times: Vec<i64> = slow(0).chain(slow(400 - 120)).collect();
        assert_eq!(judged(&times).0, times);
        // a server that is asked every other hour, and captures of some hours in another order
        let times: Vec<i64> = (0..500).map(|number| NOW + number * 2 * HOUR).collect();
        assert_eq!(judged(&times).0, times);
        for count in [3, 7, 100, 300] {
            let times = [4, 0, 8, 6, 2].map(|hour| records(hour, count)).concat();
            assert_eq!(judged(&times).0, times, "{count}");
        }
    }

    #[test]
    fn live_traffic_waits_only_for_what_is_ahead_of_the_clock() {
        let mut instants = Instants::<()>::default();
        instants.judge_live(NOW);
        let quiet = [NOW - 20 * HOUR, NOW - 10 * HOUR, NOW - 15 * HOUR, NOW];
        instants.hold(quiet[0], ());
        assert_eq!(instants.settled(true), Some(((), None)));
        for time in &quiet[1..] {
            assert_eq!(instants.judge(*time), Verdict::Plausible);
        }
        assert_eq!(instants.judge(NOW + 5 * HOUR), Verdict::Pending);
    }

    #[test]
    fn a_gap_loses_nothing() {
        for gap in [2, 3, 14, 31, 400, 4000] {
            let times = [day(0), day(gap)].concat();
            let (plausible, set_aside, _) = judged(&times);
            assert_eq!((plausible, set_aside), (times, vec![]), "{gap} days");
        }
        // a weekend with a single record on either side, or within
        for times in [
            [&day(0)[..], &day(3)[..1]].concat(),
            [&day(0)[..1], &day(3)].concat(),
            [&day(0)[..], &day(3)[..1], &day(6)].concat(),
        ] {
            assert_eq!(judged(&times), (times.clone(), vec![], judged(&times).2));
        }
    }

    #[test]
    fn a_server_that_is_asked_every_other_day_loses_nothing() {
        let times: Vec<i64> = (0..50).map(|number| NOW + number * 2 * APART).collect();
        assert_eq!(judged(&times).0, times);
    }

    #[test]
    fn an_odd_time_in_a_gap_is_set_aside() {
        for odd in [5, NOW - 40 * APART, NOW + 40 * APART, CLOCK] {
            let (plausible, set_aside, _) = judged(&[&day(0)[..], &[odd], &day(20)].concat());
            assert_eq!((plausible, set_aside), ([day(0), day(20)].concat(), vec![odd]), "{odd}");
        }
    }

    #[test]
    fn excerpts_of_many_days_in_any_order_lose_nothing() {
        let (some, few) = (7, 3);
        let days = [0, 20, -3, 400, 380, 0, 12, 5, 90, 400, -3];
        for each in [some, few, 1] {
            let times: Vec<i64> =
                days.iter().flat_map(|number| day(*number)[..each].to_vec()).collect();
            assert_eq!(judged(&times).0, times);
        }
    }

    #[test]
    fn a_clock_that_was_set_back_or_on_is_followed() {
        for days in [-5, 5] {
            let times = [day(0), day(days), day(2 * days)].concat();
            assert_eq!(judged(&times).0, times);
        }
    }

    #[test]
    fn times_without_a_clock_are_accepted() {
        let mut instants = Instants::<()>::default();
        for time in [i64::MAX, i64::MIN, 0] {
            assert_eq!(instants.judge(time), Verdict::Plausible);
        }
    }

    #[test]
    fn instants_are_shown_as_dates() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_868_799_999_999), "2000-02-29T23:59:59Z");
        assert_eq!(utc(253_402_300_799_000_000), "9999-12-31T23:59:59Z");
        assert_eq!(utc(-1), "1969-12-31T23:59:59Z");
        assert!(utc(i64::MAX).starts_with("294247-01-10T"));
        assert!(utc(i64::MIN).starts_with("-"));
    }
}
