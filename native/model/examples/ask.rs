//! Asks a model about names: `cargo run -p birthmark-model --example ask -- MODEL NAME...`.

use birthmark_model::{Create, Model};
use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let model = arguments.next().ok_or("expected MODEL NAME...")?;
    match ask(model.as_ref(), arguments) {
        Err(error) if is_closed(&*error) => Ok(()), // by its reader, as `head`
        asked => asked,
    }
}

fn is_closed(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

fn ask(model: &Path, names: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let model = Model::open(model)?;
    let mut out = io::stdout().lock();
    for name in names {
        let mode = Some(0o600);
        let create = Create {
            name: Some(name.as_bytes()),
            values: [mode, None, None, None], // no uid, gid, client
            ..Create::default()
        };
        writeln!(out, "{name}")?;
        for (predicate, answer) in model.predicates().iter().zip(model.answer(&create)) {
            let word = format!("{:?}", answer.word).to_lowercase();
            let likely = answer.probability.map_or("-".into(), |share| format!("{share:.4}"));
            writeln!(out, "  {} {word} {likely}", predicate.key)?;
        }
    }
    Ok(())
}
