//! One create of a request.

use super::{Fault, Value};
use birthmark_contract::create::{at, octal_misread, Asked as Of, FORMS, MEMBERS, VALUE_BYTES};
use birthmark_image::{hour, Create};
use birthmark_learn::encode::fnv1a;
use birthmark_live::{Asked, Place};
use serde::de::{Error, MapAccess};
use serde_json::value::RawValue;
use std::borrow::Cow;

const NAME: usize = at("name");
const MODE: usize = at("mode");
const NUMBERS: [usize; 3] = [MODE, at("uid"), at("gid")];
const CLIENT: usize = at("client");
const TIME: usize = at("time");
const HISTORY: usize = at("history");
const NAME_HISTORY: usize = at("name_history");
const DIRECTORY: usize = at("directory");
const HANDLE: usize = at("directory_handle");
const SYSTEM: usize = at("directory_system");
const INODE: usize = at("directory_inode");
const PATH: usize = at("directory_path");
const IS_DIRECTORY: usize = at("is_directory");

/// A bit for each form of each member.
type Sent = u64;
const _: () = assert!(MEMBERS.len() * FORMS.len() <= Sent::BITS as usize);

/// A create of a request.
#[derive(Debug, Default)]
pub struct File<'a> {
    /// By member; None if it is missing.
    values: [Option<Value<'a>>; MEMBERS.len()],
    /// The form of its name.
    form: usize,
    /// Its mode and the same digits as octal, if it is a decimal number that was probably meant in
    /// octal.
    misread: Option<(u32, u32)>,
}

impl<'de> File<'de> {
    /// A create with the values of its members.
    pub fn of(values: [Option<Value<'de>>; MEMBERS.len()]) -> Self {
        File { values, ..File::default() }
    }

    /// Reads an object; writes its fault, if any, to `fault`.
    pub fn read<A: MapAccess<'de>>(
        asked: Of,
        map: &mut A,
        fault: &mut Option<Fault>,
    ) -> Result<Self, A::Error> {
        let (mut file, mut sent) = (File::default(), 0);
        while let Some(member) = map.next_key::<Key>()? {
            let json = map.next_value::<&RawValue>()?.get();
            if let Err(first) = file.take(asked, &member.0, json, &mut sent) {
                *fault = Some(*first);
                return Err(A::Error::custom(""));
            }
        }
        match file.values[NAME] {
            Some(_) => Ok(file),
            None => {
                *fault = Some(count_of("exactly", NAME));
                Err(A::Error::custom(""))
            }
        }
    }

    fn take(
        &mut self,
        asked: Of,
        member: &str,
        json: &'de str,
        sent: &mut Sent,
    ) -> Result<(), Box<Fault>> {
        let wrong = |fault: Fault| Box::new(fault.of(member).found(json));
        let Some((place, form)) = find(member).filter(|found| MEMBERS[found.0].belongs_to(asked))
        else {
            return Err(wrong(Fault::request("no such member")));
        };
        let bit = 1 << (place * FORMS.len() + form);
        if *sent & bit != 0 {
            return Err(wrong(Fault::request("each member once")));
        }
        *sent |= bit;
        if json.len() > VALUE_BYTES {
            return Err(wrong(Fault::request("a shorter value")));
        }
        if json == "null" && place != IS_DIRECTORY {
            return Ok(());
        }
        let value = Value::read(MEMBERS[place].kind, form, json).map_err(|fault| wrong(*fault))?;
        if let (MODE, Value::Number(mode), false) = (place, &value, json.starts_with('"')) {
            self.misread = octal_misread(*mode).map(|octal| (*mode, octal));
        }
        if self.values[place].replace(value).is_some() {
            let count = if MEMBERS[place].needed { "exactly" } else { "at most" };
            return Err(Box::new(count_of(count, place)));
        }
        if place == NAME {
            self.form = form;
        }
        Ok(())
    }

    /// The value of a member.
    pub fn value(&self, place: usize) -> Option<&Value<'de>> {
        self.values[place].as_ref()
    }

    /// A warning of a mode that was probably meant in octal, if any.
    pub fn warning(&self) -> Option<String> {
        let (mode, octal) = self.misread?;
        Some(format!(
            "mode: the number {mode} is decimal, {mode:04o} in octal; for the mode {octal:04o} send \
             the string \"{octal:04o}\""
        ))
    }

    /// The suffix of its name's form, and the name's JSON.
    pub fn echo(&self) -> (&'static str, &'de str) {
        match self.values[NAME] {
            Some(Value::Name(_, json)) => (FORMS[self.form], json),
            _ => (FORMS[0], "null"),
        }
    }

    fn bytes(&self, place: usize) -> Option<&[u8]> {
        match &self.values[place] {
            Some(Value::Name(name, _)) => Some(&**name),
            Some(Value::Bytes(bytes)) => Some(&**bytes),
            _ => None,
        }
    }

    fn text(&self, place: usize) -> Option<&str> {
        match &self.values[place] {
            Some(Value::Text(text)) => Some(&**text),
            _ => None,
        }
    }

    fn time(&self) -> Option<i64> {
        match self.values[TIME] {
            Some(Value::Time(time)) => Some(time),
            _ => None,
        }
    }

    fn number(&self, place: usize) -> Option<u32> {
        match self.values[place] {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        }
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.values[IS_DIRECTORY] == Some(Value::Flag(true))
    }

    /// The create for an image.
    pub fn create(&self) -> Create<'_> {
        let client = self.text(CLIENT).map(|client| fnv1a(client.as_bytes()));
        let [mode, uid, gid] = NUMBERS.map(|place| self.number(place));
        Create {
            name: self.bytes(NAME),
            history: self.bytes(HISTORY),
            name_history: self.bytes(NAME_HISTORY),
            values: [mode, uid, gid, client],
            hour: self.time().map(hour),
        }
    }

    /// The create for a live history; its directory is the first of handle, inode and path.
    pub fn asked(&self) -> Asked<'_> {
        let [mode, uid, _] = NUMBERS.map(|place| self.number(place));
        Asked {
            name: self.bytes(NAME),
            place: self.place(),
            dir_name: self.bytes(DIRECTORY),
            mode,
            uid,
            client: self.text(CLIENT),
            time: self.time(),
        }
    }

    fn place(&self) -> Place<'_> {
        let inode = match self.values[INODE] {
            Some(Value::Inode(inode)) => {
                self.bytes(SYSTEM).map(|system| Place::Inode(system, inode))
            }
            _ => None,
        };
        let path = || self.bytes(PATH).map(Place::Path);
        let handle = self.bytes(HANDLE).map(Place::Handle);
        handle.or(inode).or_else(path).unwrap_or_default()
    }
}

/// The name of a member, borrowed if it has no escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// The member and form of a name.
pub fn find(name: &str) -> Option<(usize, usize)> {
    if let Some(place) = MEMBERS.iter().position(|member| member.name == name) {
        return Some((place, 0));
    }
    MEMBERS.iter().enumerate().find_map(|(place, member)| {
        let rest = name.strip_prefix(member.name)?;
        let form = member.forms().iter().position(|form| *form == rest)?;
        Some((place, form))
    })
}

/// The fault of a member whose forms are missing or repeated.
fn count_of(count: &str, place: usize) -> Fault {
    let name = MEMBERS[place].name;
    let forms: Vec<_> = FORMS.iter().map(|form| format!("{name}{form}")).collect();
    Fault::request(format!("{count} one of {}", forms.join(", "))).of(name)
}
