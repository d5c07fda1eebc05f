//! Attributes of the objects in a reply, in the order in which nfsdump prints them.

use crate::schema::{Column, EntryColumn};

/// The object that attributes belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The file of the operation: `new_fh` where there is one, else `fh`.
    Object,
    /// The directory of `name`.
    Directory,
    /// The directory of `name2`, in rename.
    SecondDirectory,
}

impl Subject {
    /// The object whose attributes may follow.
    pub fn next(self) -> Option<Subject> {
        match self {
            Subject::Object => Some(Subject::Directory),
            Subject::Directory => Some(Subject::SecondDirectory),
            Subject::SecondDirectory => None,
        }
    }
}

macro_rules! attributes {
    ($($name:ident $key:literal $object:ident $directory:ident $second:ident,)+) => {
        /// One attribute (RFC 1813 section 2.5, fattr3 and wcc_attr; RFC 1094 section 2.3.5).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs)] // the RFCs say what each one is
        pub enum Attribute { $($name,)+ }

        const ALL: &[Attribute] = &[$(Attribute::$name,)+];
        const KEYS: &[&[u8]] = &[$($key,)+];
        const COLUMNS: &[[Column; 3]] =
            &[$([Column::$object, Column::$directory, Column::$second],)+];

        impl Attribute {
            /// Whether this is its key in nfsdump.
            #[inline]
            pub fn is(self, key: &[u8]) -> bool {
                match self {
                    $(Attribute::$name => key == $key,)+
                }
            }

            /// The attribute with this key in nfsdump.
            pub fn of(key: &[u8]) -> Option<Attribute> {
                match key {
                    $($key => Some(Attribute::$name),)+
                    _ => None,
                }
            }
        }
    };
}

attributes! {
    PreSize b"pre-size" PreSize DirPreSize Dir2PreSize,
    PreMtime b"pre-mtime" PreMtime DirPreMtime Dir2PreMtime,
    PreCtime b"pre-ctime" PreCtime DirPreCtime Dir2PreCtime,
    Ftype b"ftype" Ftype DirFtype Dir2Ftype,
    Mode b"mode" Mode DirMode Dir2Mode,
    Nlink b"nlink" Nlink DirNlink Dir2Nlink,
    Owner b"uid" Owner DirOwner Dir2Owner,
    Group b"gid" Group DirGroup Dir2Group,
    Size b"size" Size DirSize Dir2Size,
    Used b"used" Used DirUsed Dir2Used,
    RdevMajor b"rdev" RdevMajor DirRdevMajor Dir2RdevMajor,
    RdevMinor b"rdev2" RdevMinor DirRdevMinor Dir2RdevMinor,
    Fsid b"fsid" Fsid DirFsid Dir2Fsid,
    Fileid b"fileid" Fileid DirFileid Dir2Fileid,
    Atime b"atime" Atime DirAtime Dir2Atime,
    Mtime b"mtime" Mtime DirMtime Dir2Mtime,
    Ctime b"ctime" Ctime DirCtime Dir2Ctime,
    Blksize b"blksize" Blksize DirBlksize Dir2Blksize,
    Blocks b"blocks" Blocks DirBlocks Dir2Blocks,
}

impl Attribute {
    /// All of them, in the orders in which nfsdump prints those of version 2 and of version 3.
    pub const PRINTED: [Attribute; 19] = {
        use Attribute::*;
        [
            PreSize, PreMtime, PreCtime, Ftype, Mode, Nlink, Owner, Group, Size, Used, Blksize,
            RdevMajor, RdevMinor, Blocks, Fsid, Fileid, Atime, Mtime, Ctime,
        ]
    };

    /// The next one in the order of version 3.
    #[inline]
    pub fn next(self) -> Option<Attribute> {
        ALL.get(self as usize + 1).copied()
    }

    /// Its key in nfsdump.
    #[inline]
    pub fn key(self) -> &'static [u8] {
        KEYS[self as usize]
    }
}

/// The column of an attribute of a subject.
#[inline]
pub fn column(subject: Subject, attribute: Attribute) -> Column {
    COLUMNS[attribute as usize][subject as usize]
}

/// The columns of `fattr3` of a directory's entry, in its order.
pub const ENTRY: [EntryColumn; 14] = {
    use EntryColumn::*;
    [
        Ftype, Mode, Nlink, Owner, Group, Size, Used, RdevMajor, RdevMinor, Fsid, Fileid, Atime,
        Mtime, Ctime,
    ]
};

/// The attributes of a directory's entry, with their columns.
pub fn entry() -> impl Iterator<Item = (Attribute, EntryColumn)> {
    ALL[Attribute::Ftype as usize..].iter().copied().zip(ENTRY)
}

/// The column of a directory's entry that corresponds to an object's.
#[inline]
pub fn of_entry(column: Column) -> Option<EntryColumn> {
    // those of the object, too, follow each other in the order of `fattr3`
    ENTRY.get((column as usize).checked_sub(Column::Ftype as usize)?).copied()
}

/// The columns of `fattr3` of a subject, in its order.
pub fn attributes(subject: Subject) -> impl Iterator<Item = Column> {
    columns(subject, Attribute::Ftype, ENTRY.len())
}

/// The columns of `wcc_attr` of a subject, in its order.
pub fn before(subject: Subject) -> impl Iterator<Item = Column> {
    columns(subject, Attribute::PreSize, 3)
}

/// The columns of `count` attributes of a subject, from one of them on.
fn columns(subject: Subject, from: Attribute, count: usize) -> impl Iterator<Item = Column> {
    let columns = COLUMNS[from as usize..].iter().take(count);
    columns.map(move |columns| columns[subject as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_an_entry_hold_what_those_of_the_object_do() {
        use crate::schema::{COLUMNS, ENTRY_COLUMNS};
        let name = |column: EntryColumn| ENTRY_COLUMNS[column as usize].name;
        for (column, declared) in Column::ALL.iter().zip(COLUMNS) {
            let text = declared.name;
            let own = attributes(Subject::Object).any(|of| of == *column).then_some(text);
            assert_eq!(of_entry(*column).map(name), own, "{text}");
        }
    }
}
