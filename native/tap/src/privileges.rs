//! What a process gives up once it has what it needed it for.

use rustix::io;
use rustix::thread::{
    clear_ambient_capability_set, set_capabilities, set_no_new_privs, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid, CapabilitySet, CapabilitySets, Gid, Uid,
};

/// A user, and the user's group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    uid: u32,
    gid: u32,
}

impl User {
    /// The user of a name, in the text of a passwd(5) file.
    pub fn named(name: &str, passwd: &str) -> Option<User> {
        let mut lines = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let line = lines.find(|fields| fields.first() == Some(&name))?;
        Some(User { uid: line.get(2)?.parse().ok()?, gid: line.get(3)?.parse().ok()? })
    }
}

/// Becomes that user, if one is given, and gives up all capabilities, for good. The process must
/// have no other threads: these would keep theirs.
pub fn give_up(user: Option<User>) -> io::Result<()> {
    set_no_new_privs(true)?;
    clear_ambient_capability_set()?;
    if let Some(User { uid, gid }) = user {
        let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
        set_thread_groups(&[gid])?;
        set_thread_res_gid(gid, gid, gid)?;
        set_thread_res_uid(uid, uid, uid)?;
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_name() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nbirthmark:x:998:997::/:/bin/false\n";
        assert_eq!(User::named("birthmark", passwd), Some(User { uid: 998, gid: 997 }));
        assert_eq!(User::named("birth", passwd), None);
        assert_eq!(User::named("birth", "birth:x:no:1"), None);
    }
}
