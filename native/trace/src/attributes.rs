//! Attributes of the objects that a reply speaks of, in the order in which nfsdump prints them.

use crate::schema::Column;

/// Whose attributes they are.
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
    /// The one whose attributes may follow.
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
            /// The attribute that nfsdump calls so.
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
    pub const PRINTED: [Attribute; 19] = [
        Attribute::PreSize,
        Attribute::PreMtime,
        Attribute::PreCtime,
        Attribute::Ftype,
        Attribute::Mode,
        Attribute::Nlink,
        Attribute::Owner,
        Attribute::Group,
        Attribute::Size,
        Attribute::Used,
        Attribute::Blksize,
        Attribute::RdevMajor,
        Attribute::RdevMinor,
        Attribute::Blocks,
        Attribute::Fsid,
        Attribute::Fileid,
        Attribute::Atime,
        Attribute::Mtime,
        Attribute::Ctime,
    ];

    /// The one after it in the order of version 3.
    #[inline]
    pub fn next(self) -> Option<Attribute> {
        ALL.get(self as usize + 1).copied()
    }

    /// What nfsdump calls it.
    #[inline]
    pub fn key(self) -> &'static [u8] {
        KEYS[self as usize]
    }
}

/// The column in which an attribute of a subject is kept.
#[inline]
pub fn column(subject: Subject, attribute: Attribute) -> Column {
    COLUMNS[attribute as usize][subject as usize]
}

/// The columns in which a subject's attributes are kept, from one of them on.
pub fn columns(subject: Subject, from: Attribute) -> impl Iterator<Item = Column> {
    COLUMNS[from as usize..].iter().map(move |columns| columns[subject as usize])
}
