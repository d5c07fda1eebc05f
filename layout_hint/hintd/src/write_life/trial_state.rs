//! The trial's persistent state.

use std::fmt::Display;
use std::fs;
use std::io::{self, ErrorKind::InvalidData};
use std::path::{Path, PathBuf};

use super::trial::Trial;
use birthmark_image::regular;

/// Longest file to read, bytes.
const LONGEST: u64 = 1 << 16;

/// The file with a trial's state, if any, so that the results survive a restart.
pub struct TrialState {
    /// Its file.
    pub path: Option<PathBuf>,
}

impl TrialState {
    /// The stored state; empty if there is no file.
    pub fn read(&self) -> io::Result<Trial> {
        let Some(path) = &self.path else { return Ok(Trial::default()) };
        let named = |why: &dyn Display| format!("{}: {why}", path.display());
        match regular::read(path, LONGEST) {
            Ok(json) => serde_json::from_slice(&json)
                .map_err(|error| io::Error::new(InvalidData, named(&error))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Trial::default()),
            Err(error) => Err(io::Error::new(error.kind(), named(&error))),
        }
    }

    /// Stores it.
    pub fn write(&self, trial: &Trial) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let target = behind_links(path)?;
        let beside = target.with_extension("new");
        fs::write(&beside, serde_json::to_vec(trial)?)?;
        fs::File::open(&beside)?.sync_all()?;
        fs::rename(&beside, target)
    }

    /// Instructions for enabling hints again.
    pub fn way_back(&self) -> String {
        match &self.path {
            Some(path) => format!("remove {} and restart to have them again", path.display()),
            None => "they are on again after a restart: there is no --state".into(),
        }
    }
}

/// The regular file or free name behind a path's links: a rename would replace a link.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => fs::canonicalize(path),
        Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, "expected a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.into()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_found_again_and_what_is_no_state_is_an_error() {
        let folder = std::env::temp_dir().join(format!("hintd-state-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let state = TrialState { path: Some(folder.join("state")) };
        assert_eq!(state.read().unwrap(), Trial::default());
        let trial = Trial { evidence: 12.5, rounds: 3, harm: true };
        state.write(&trial).unwrap();
        assert_eq!(state.read().unwrap(), trial);
        std::os::unix::fs::symlink("state", folder.join("link")).unwrap();
        let linked = TrialState { path: Some(folder.join("link")) };
        linked.write(&Trial { rounds: 4, ..trial }).unwrap();
        assert!(folder.join("link").is_symlink());
        assert_eq!(state.read().unwrap().rounds, 4);
        let device = TrialState { path: Some("/dev/zero".into()) };
        assert!(device.read().unwrap_err().to_string().ends_with("expected a regular file"));
        let none = behind_links(Path::new("/dev/null")).unwrap_err();
        assert_eq!(none.to_string(), "expected a regular file");
        fs::write(folder.join("state"), "{").unwrap();
        assert!(state.read().unwrap_err().to_string().contains("state: "));
        assert_eq!(TrialState { path: None }.read().unwrap(), Trial::default());
        fs::remove_dir_all(folder).unwrap();
    }
}
