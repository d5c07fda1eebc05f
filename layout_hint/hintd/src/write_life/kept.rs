//! What a trial has found, kept through restarts.

use std::fmt::Display;
use std::fs;
use std::io::{self, ErrorKind::InvalidData};
use std::path::PathBuf;

use super::trial::Trial;

/// Where a trial is kept, if anywhere, so that a restart does not forget what was found.
pub struct Kept {
    /// Its file.
    pub path: Option<PathBuf>,
}

impl Kept {
    /// What is there: nothing was found yet where there is no file.
    pub fn read(&self) -> io::Result<Trial> {
        let Some(path) = &self.path else { return Ok(Trial::default()) };
        let named = |why: &dyn Display| format!("{}: {why}", path.display());
        match fs::read(path) {
            Ok(json) => serde_json::from_slice(&json)
                .map_err(|error| io::Error::new(InvalidData, named(&error))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Trial::default()),
            Err(error) => Err(io::Error::new(error.kind(), named(&error))),
        }
    }

    /// Keeps it.
    pub fn write(&self, trial: &Trial) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let beside = path.with_extension("new");
        fs::write(&beside, serde_json::to_vec(trial)?)?;
        fs::File::open(&beside)?.sync_all()?;
        fs::rename(&beside, path)
    }

    /// What somebody is told who may want hints again.
    pub fn way_back(&self) -> String {
        match &self.path {
            Some(path) => format!("remove {} and start anew to have them again", path.display()),
            None => "they are on again after a restart: there is no --state".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_found_again_and_what_is_no_state_is_an_error() {
        let folder = std::env::temp_dir().join(format!("hintd-kept-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let kept = Kept { path: Some(folder.join("state")) };
        assert_eq!(kept.read().unwrap(), Trial::default());
        let trial = Trial { evidence: 12.5, rounds: 3, harm: true };
        kept.write(&trial).unwrap();
        assert_eq!(kept.read().unwrap(), trial);
        fs::write(folder.join("state"), "{").unwrap();
        assert!(kept.read().unwrap_err().to_string().contains("state: "));
        assert_eq!(Kept { path: None }.read().unwrap(), Trial::default());
        fs::remove_dir_all(folder).unwrap();
    }
}
