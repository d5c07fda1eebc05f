//! How sure models are of a file, from images of their levels (`predictor/answers/certainty.py`).

use arrow_array::RecordBatch;
use birthmark_image::{Answers, Create, Creates, Image, Needs};
use birthmark_learn::certainty::{Certainty, Said};
use birthmark_trace::columns::ColumnError;

/// What asks images for the levels of predicates, and says what these mean.
pub struct Levels {
    certainty: Certainty,
    images: Vec<Image>,
    /// Of each predicate the images that have its cuts, and which answers of theirs these are.
    cuts: Vec<Vec<(usize, Answers)>>,
}

impl Levels {
    /// What `images` say, whose predicates are `PLACE KEY`: whether a score reaches that cut of KEY.
    ///
    /// Without images the levels are two: whether the answer is a yes. None if they do not fit.
    pub fn of(certainty: Certainty, images: Vec<Image>) -> Option<Levels> {
        let mut cuts = vec![Vec::new(); certainty.keys().len()];
        for (number, image) in images.iter().enumerate() {
            for (bit, cut) in image.predicates().iter().enumerate() {
                let (_, key) = cut.key.split_once(' ')?;
                let place = certainty.keys().iter().position(|own| own == key)?;
                let own: &mut Vec<(usize, Answers)> = &mut cuts[place];
                if own.last().is_none_or(|last| last.0 != number) {
                    own.push((number, Answers::default()));
                }
                own.last_mut()?.1[bit / 64] |= 1 << (bit % 64);
            }
        }
        let count =
            |own: &[(usize, Answers)]| -> usize { own.iter().map(|(_, mask)| ones(mask)).sum() };
        let fits = |(place, own): (usize, &Vec<_>)| certainty.levels(place) == 1 + count(own);
        let fit = images.is_empty() || cuts.iter().enumerate().all(fits);
        fit.then_some(Levels { certainty, images, cuts })
    }

    /// Writes to `said` what is said of each predicate of a create, whose `answers` are known.
    pub fn say(&self, create: &Create, answers: &Answers, said: &mut Vec<Said>) {
        if self.images.is_empty() {
            let level = |place: usize| (answers[place / 64] >> (place % 64) & 1) as usize;
            self.certainty.say((0..self.cuts.len()).map(level), said);
            return;
        }
        let found: Vec<_> = self.images.iter().map(|image| image.lookup(create)).collect();
        let reached = |(image, mask): &(usize, Answers)| -> usize {
            let words = found[*image].iter().zip(mask);
            words.map(|(answers, mask)| (answers & mask).count_ones() as usize).sum()
        };
        self.certainty.say(self.cuts.iter().map(|own| own.iter().map(reached).sum()), said);
    }

    /// Calls `take` with what is said of each row of `creates` (`features.CREATES`), in order.
    ///
    /// # Errors
    ///
    /// If a column that is used is missing or of another type.
    pub fn say_all(
        &self,
        creates: &RecordBatch,
        answers: impl Fn(&Create) -> Answers,
        needs: Needs,
        mut take: impl FnMut(&[Said]),
    ) -> Result<(), ColumnError> {
        let needs = self.images.iter().fold(needs, |needs, image| needs.or(image.needs()));
        let columns = Creates::of(creates, needs)?;
        let mut said = Vec::new();
        for row in 0..creates.num_rows() {
            let create = columns.create(row);
            self.say(&create, &answers(&create), &mut said);
            take(&said);
        }
        Ok(())
    }

    /// The predicates' keys, in the order of what is said.
    pub fn keys(&self) -> &[String] {
        self.certainty.keys()
    }
}

fn ones(mask: &Answers) -> usize {
    mask.iter().map(|word| word.count_ones() as usize).sum()
}
