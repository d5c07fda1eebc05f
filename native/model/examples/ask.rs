//! Asks a model about names: `cargo run -p birthmark-model --example ask -- MODEL NAME...`.

use birthmark_model::{Create, Model};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let model = Model::open(arguments.next().ok_or("expected MODEL NAME...")?)?;
    for name in arguments {
        let mode = Some(0o600);
        let create = Create {
            name: Some(name.as_bytes()),
            values: [mode, None, None, None], // no uid, gid, client
            ..Create::default()
        };
        println!("{name}");
        for (predicate, said) in model.predicates().iter().zip(model.say(&create)) {
            let word = format!("{:?}", said.word).to_lowercase();
            let likely = said.probability.map_or("-".into(), |share| format!("{share:.4}"));
            println!("  {} {word} {likely}", predicate.key);
        }
    }
    Ok(())
}
