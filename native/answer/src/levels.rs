//! How sure models are of a file, from images of their levels (`predictor/answers/certainty.py`).

use arrow_array::RecordBatch;
use birthmark_contract::image::TOLD;
use birthmark_contract::told::Told;
use birthmark_image::{Answers, Create, Creates, Image, Needs};
use birthmark_learn::certainty::{Certainty, Said, Word};
use birthmark_trace::columns::ColumnError;

/// What asks images for the levels of predicates, and says what these mean.
pub struct Levels {
    /// What levels mean, for all that may be told of a create; one if it is always the same.
    certainties: Vec<Certainty>,
    images: Vec<Image>,
    /// Of each predicate the images that have its cuts, and which answers of theirs these are.
    cuts: Vec<Vec<(usize, Answers)>>,
    /// Which predicates are about names, of which a create may be told something else.
    about_names: Vec<bool>,
}

impl Levels {
    /// What `images` say, whose predicates are `PLACE KEY`: whether a score reaches that cut of KEY.
    ///
    /// `certainties` say what that means, in the order of what is told of a create; or one does.
    /// Without images the levels are two: whether the answer is a yes. None if they do not fit.
    pub fn of(certainties: Vec<Certainty>, images: Vec<Image>) -> Option<Levels> {
        let keys = certainties.first()?.keys();
        let alike = certainties.iter().all(|each| each.keys() == keys);
        (alike && [1, TOLD].contains(&certainties.len())).then_some(())?;
        let mut cuts = vec![Vec::new(); keys.len()];
        for (number, image) in images.iter().enumerate() {
            for (bit, cut) in image.predicates().iter().enumerate() {
                let (_, key) = cut.key.split_once(' ')?;
                let place = keys.iter().position(|own| own == key)?;
                let own: &mut Vec<(usize, Answers)> = &mut cuts[place];
                if own.last().is_none_or(|last| last.0 != number) {
                    own.push((number, Answers::default()));
                }
                own.last_mut()?.1[bit / 64] |= 1 << (bit % 64);
            }
        }
        let count =
            |own: &[(usize, Answers)]| -> usize { own.iter().map(|(_, mask)| ones(mask)).sum() };
        let most = |place| certainties.iter().map(|each| each.levels(place)).max();
        let fits = |(place, own): (usize, &Vec<_>)| most(place) == Some(1 + count(own));
        let fit = images.is_empty() || cuts.iter().enumerate().all(fits);
        let about_names = keys.iter().map(|key| key.starts_with("name:")).collect();
        fit.then_some(Levels { certainties, images, cuts, about_names })
    }

    /// Writes to `said` what is said of each predicate of a create, and returns the answers.
    ///
    /// `ask` knows these, too: it is asked only where the levels do not tell, or where thresholds
    /// have `moved`. Then a yes is said where it is one now.
    pub fn say(
        &self,
        create: &Create,
        ask: impl FnOnce(&Create) -> Answers,
        moved: bool,
        said: &mut Vec<Said>,
    ) -> Answers {
        let of_file = self.certainty(create.told());
        let of_name = self.certainty(create.of_name().told());
        if self.images.is_empty() {
            let answers = ask(create);
            let level = |place: usize| (answers[place / 64] >> (place % 64) & 1) as usize;
            of_file.say((0..self.cuts.len()).map(level), said);
            return answers;
        }
        let found: Vec<_> = self.images.iter().map(|image| image.lookup(create)).collect();
        let reached = |(image, mask): &(usize, Answers)| -> usize {
            let words = found[*image].iter().zip(mask);
            words.map(|(answers, mask)| (answers & mask).count_ones() as usize).sum()
        };
        let levels: Vec<usize> =
            self.cuts.iter().map(|own| own.iter().map(reached).sum()).collect();
        if moved {
            let answers = ask(create);
            let decide = |place: usize, word| match answers[place / 64] >> (place % 64) & 1 {
                1 => Word::Yes,
                _ if word == Word::Yes => Word::Unsure,
                _ => word,
            };
            let say = |each: &Certainty, said: &mut _| {
                each.say_as(levels.iter().copied(), decide, said);
            };
            self.say_both([of_file, of_name], said, say);
            return answers;
        }
        let say = |each: &Certainty, said: &mut _| each.say(levels.iter().copied(), said);
        self.say_both([of_file, of_name], said, say);
        let (Some(first), Some(other)) = (of_file.reached(), of_name.reached()) else {
            return ask(create);
        };
        let mut answers = Answers::default();
        for (place, level) in levels.iter().enumerate() {
            let first = if self.about_names[place] { other } else { first }[place];
            answers[place / 64] |= u64::from(*level >= first) << (place % 64);
        }
        answers
    }

    /// Lets `say` write what is said of predicates, of those about files and those about names.
    fn say_both(
        &self,
        [of_file, of_name]: [&Certainty; 2],
        said: &mut Vec<Said>,
        say: impl Fn(&Certainty, &mut Vec<Said>),
    ) {
        say(of_file, said);
        if std::ptr::eq(of_file, of_name) {
            return;
        }
        let mut other = Vec::with_capacity(said.len());
        say(of_name, &mut other);
        let own = said.iter_mut().zip(other).zip(&self.about_names);
        own.filter(|(_, names)| **names).for_each(|((said, other), _)| *said = other);
    }

    /// What levels mean where so much is told.
    fn certainty(&self, told: Told) -> &Certainty {
        &self.certainties[(told as usize).min(self.certainties.len() - 1)]
    }

    /// Calls `take` with what is said of each row of `creates` (`features.CREATES`), in order.
    ///
    /// # Errors
    ///
    /// If a column that is used is missing or of another type.
    pub fn say_all(
        &self,
        creates: &RecordBatch,
        ask: impl Fn(&Create) -> Answers,
        needs: Needs,
        moved: bool,
        mut take: impl FnMut(&[Said]),
    ) -> Result<(), ColumnError> {
        let needs = self.images.iter().fold(needs, |needs, image| needs.or(image.needs()));
        let columns = Creates::of(creates, needs)?;
        let mut said = Vec::new();
        for row in 0..creates.num_rows() {
            self.say(&columns.create(row), &ask, moved, &mut said);
            take(&said);
        }
        Ok(())
    }

    /// The predicates' keys, in the order of what is said.
    pub fn keys(&self) -> &[String] {
        self.certainties[0].keys()
    }
}

fn ones(mask: &Answers) -> usize {
    mask.iter().map(|word| word.count_ones() as usize).sum()
}
