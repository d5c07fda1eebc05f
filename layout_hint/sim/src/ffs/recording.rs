//! Repeating a recording of the real allocator, and comparing the answers.

use super::filesystem::{FileSystem, ROOT};
use super::geometry::Format;
use super::kernel::Random;
use super::lines::{Lines, RecordingError};
use super::request::{self, short, Place, Request, OK};
use super::volume::Optimization;
use super::Error;
use std::fmt::Write;
use std::io::BufRead;

/// A recording's answer without room.
pub(super) const FULL: &str = "ENOSPC";

/// The kernel's random numbers in recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lcg(u32);

impl Default for Lcg {
    fn default() -> Lcg {
        Lcg(12345)
    }
}

impl Random for Lcg {
    fn next_u32(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_103_515_245).wrapping_add(12345) & i32::MAX as u32;
        self.0 >> 8
    }
}

/// The first answer that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The line, from 1.
    pub line: u64,
    /// The request.
    pub request: String,
    /// The real allocator's answer.
    pub recorded: String,
    /// This allocator's answer.
    pub answered: String,
}

/// A recording, and the file system that repeats it.
pub struct Replay<R> {
    lines: Lines<R>,
    filesystem: FileSystem<Lcg>,
    /// Operations that agree.
    pub operations: u64,
    /// States of all groups that agree.
    pub states: u64,
    /// The first answer that differs.
    pub difference: Option<Difference>,
}

impl<R: BufRead> Replay<R> {
    /// Reads the geometry, and makes the file system.
    pub fn new(source: R) -> Result<Replay<R>, RecordingError> {
        let mut lines = Lines::new(source);
        let geometry = match lines.read()? {
            Some(text) => request::geometry(text).map_err(|what| (what, short(text))),
            None => Err(("a recording".into(), "nothing".into())),
        };
        let (geometry, kernel) =
            geometry.map_err(|(expected, found)| lines.unexpected(&expected, &found))?;
        let filesystem = FileSystem::new(geometry, kernel, Lcg::default());
        let filesystem = filesystem.map_err(|error| lines.wrong(error.to_string()))?;
        let mut replay = Replay { lines, filesystem, operations: 0, states: 0, difference: None };
        replay.filesystem.volume.superuser = true;
        replay.root()?;
        Ok(replay)
    }

    /// Repeats a line. Returns whether there may be more to compare: not after a difference.
    pub fn step(&mut self) -> Result<bool, RecordingError> {
        if self.difference.is_some() {
            return Ok(false);
        }
        let Some(line) = self.lines.read()? else { return Ok(false) };
        let parsed = request::parse(line).map_err(|expected| (expected, short(line)));
        let (request, recorded) = match parsed {
            Ok((request, recorded)) => (request, recorded.to_owned()),
            Err((expected, found)) => return Err(self.lines.unexpected(&expected, &found)),
        };
        let ours = match self.answer(request) {
            Ok(ours) => ours,
            Err(Error::NoSpace | Error::NoInodes) => self.full(request, &recorded),
            Err(error) => return Err(self.lines.wrong(error.to_string())),
        };
        if ours == recorded {
            let count =
                if request == Request::Dump { &mut self.states } else { &mut self.operations };
            *count += 1;
            return Ok(true);
        }
        self.differs(request, &recorded, &ours)?;
        Ok(false)
    }

    /// Compares the root directory.
    fn root(&mut self) -> Result<(), RecordingError> {
        let expected = "`root = INODE: BLOCK`";
        let found = self.lines.read()?.map(|line| {
            let answer = line.strip_prefix("root = ").map(|answer| answer.trim().to_owned());
            answer.ok_or_else(|| short(line))
        });
        let recorded = match found {
            Some(Ok(answer)) => answer,
            Some(Err(found)) => return Err(self.lines.unexpected(expected, &found)),
            None => return Err(self.lines.unexpected(expected, "the end")),
        };
        let ours = self.blocks(ROOT);
        if ours != recorded {
            self.differs(Request::Mkdir(ROOT, false), &recorded, &ours)?;
        }
        Ok(())
    }

    fn differs(
        &mut self,
        request: Request,
        recorded: &str,
        ours: &str,
    ) -> Result<(), RecordingError> {
        let geometry = &self.filesystem.volume.geometry;
        if !request::answers(request, recorded, ours, geometry) {
            let form = match request {
                Request::Create(..) => "an inode",
                Request::Mkdir(..) | Request::Write(..) | Request::Cluster(..) => {
                    "`INODE: ADDRESSES`"
                }
                Request::Unlink(..) | Request::Region(_) => "`ok`",
                Request::Dump => "the state of every group and `optN`",
            };
            let expected = format!("{form} in the file system's range as the answer");
            return Err(self.lines.unexpected(&expected, &short(recorded)));
        }
        let (recorded, answered) = from_difference(recorded, ours);
        let request = self.lines.text.split('=').next().unwrap_or("").trim().to_owned();
        self.difference = Some(Difference { line: self.lines.line, request, recorded, answered });
        Ok(())
    }

    /// The answer without room; for a write possibly the part that found room.
    fn full(&self, request: Request, recorded: &str) -> String {
        match request {
            Request::Write(inode, _) if recorded != FULL => self.blocks(inode),
            _ => FULL.into(),
        }
    }

    fn answer(&mut self, request: Request) -> Result<String, Error> {
        let filesystem = &mut self.filesystem;
        match request {
            Request::Mkdir(parent, hot) => {
                let inode = filesystem.mkdir(parent, hot)?;
                Ok(self.blocks(inode))
            }
            Request::Create(parent, hot) => Ok(filesystem.create(parent, hot)?.to_string()),
            Request::Region(place) => Ok(self.set_region(place)),
            Request::Write(inode, size) => {
                filesystem.extend(inode, size)?;
                Ok(self.blocks(inode))
            }
            Request::Cluster(inode, first, blocks) => {
                filesystem.file(inode).ok_or(Error::NoFile(inode))?;
                filesystem.reallocate(inode, first, blocks);
                Ok(self.blocks(inode))
            }
            Request::Unlink(inode, parent) => {
                filesystem.file(parent).ok_or(Error::NoFile(parent))?;
                filesystem.unlink(inode)?;
                Ok(OK.into())
            }
            Request::Dump => Ok(self.state()),
        }
    }

    /// Sets another region; returns why there can be none, if so.
    fn set_region(&mut self, place: Option<Place>) -> String {
        let geometry = &self.filesystem.volume.geometry;
        match place.map(|place| place.region(geometry)).transpose() {
            Ok(region) => self.filesystem.volume.region = region,
            Err(why) => return why,
        }
        OK.into()
    }

    fn blocks(&self, inode: u32) -> String {
        let geometry = &self.filesystem.volume.geometry;
        let file = self.filesystem.file(inode).map(|file| file.shown(geometry));
        format!("{inode}:{}", file.unwrap_or_default())
    }

    fn state(&self) -> String {
        let volume = &self.filesystem.volume;
        let mut state = String::new();
        for (cg, (group, contigdirs)) in volume.groups.iter().zip(&volume.contigdirs).enumerate() {
            let (sums, rotors) = (group.summary, (group.rotor, group.frotor, group.irotor));
            let _ = write!(
                state,
                "{cg}[{} {} {} {} r{} f{} i{} cd{contigdirs}",
                sums.ndir, sums.nbfree, sums.nifree, sums.nffree, rotors.0, rotors.1, rotors.2
            );
            if volume.geometry.format == Format::Ufs2 {
                let _ = write!(state, " n{}", group.made);
            }
            state.push_str("] ");
        }
        let time = volume.optimization == Optimization::Time;
        state + if time { "opt0" } else { "opt1" }
    }
}

/// Two texts from the first differing word on, each as long as fits; a group's state is a word.
fn from_difference(one: &str, other: &str) -> (String, String) {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let begin = match one.get(..same).map(|same| (same.rfind("] "), same.rfind(' '))) {
        Some((Some(group), _)) => group + 2,
        Some((None, Some(word))) if !one.ends_with("opt0") && !one.ends_with("opt1") => word + 1,
        _ => 0,
    };
    let shown = |text: &str| match text.get(begin..) {
        Some(rest) if begin > 0 => format!("… {}", short(rest)),
        _ => short(text),
    };
    (shown(one), shown(other))
}
