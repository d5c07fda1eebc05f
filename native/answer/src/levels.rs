//! Three-way answers, from images of the models' levels (`predictor/answers/certainty.py`).

use arrow_array::RecordBatch;
use birthmark_columns::ColumnError;
use birthmark_contract::history_scope::HistoryScope;
use birthmark_contract::image::SCOPES;
use birthmark_image::{Answers, Create, Creates, Image, Needs};
use birthmark_learn::certainty::{Certainty, ThreeWayAnswer, Word};

/// Looks up the levels of predicates in images, and turns them into three-way answers.
pub struct Levels {
    /// The meaning of levels for each history scope, or one for all.
    certainties: Vec<Certainty>,
    images: Vec<Image>,
    /// For each predicate, the images that have its cuts, and a mask of these cuts.
    cuts: Vec<Vec<(usize, Answers)>>,
    /// Which predicates are about names, as these may have another history scope.
    about_names: Vec<bool>,
}

impl Levels {
    /// Levels from `images`, whose predicates are `PLACE KEY`: whether a score reaches that cut of
    /// KEY.
    ///
    /// `certainties` describe their meaning for each history scope, or one does for all. Without
    /// images there are two levels: no and yes. None if they do not fit.
    pub fn of(certainties: Vec<Certainty>, images: Vec<Image>) -> Option<Levels> {
        let keys = certainties.first()?.keys();
        let alike = certainties.iter().all(|each| each.keys() == keys);
        (alike && [1, SCOPES].contains(&certainties.len())).then_some(())?;
        let mut cuts = vec![Vec::new(); keys.len()];
        for (number, image) in images.iter().enumerate() {
            for (bit, cut) in image.predicates().iter().enumerate() {
                let (_, key) = cut.key.split_once(' ')?;
                let place = keys.iter().position(|known| known == key)?;
                let masks: &mut Vec<(usize, Answers)> = &mut cuts[place];
                if masks.last().is_none_or(|last| last.0 != number) {
                    masks.push((number, Answers::default()));
                }
                masks.last_mut()?.1[bit / 64] |= 1 << (bit % 64);
            }
        }
        let count = |masks: &[(usize, Answers)]| -> usize {
            masks.iter().map(|(_, mask)| ones(mask)).sum()
        };
        let most = |place| certainties.iter().map(|each| each.levels(place)).max();
        let fits = |(place, masks): (usize, &Vec<_>)| most(place) == Some(1 + count(masks));
        let fit = images.is_empty() || cuts.iter().enumerate().all(fits);
        let about_names = keys.iter().map(|key| key.starts_with("name:")).collect();
        fit.then_some(Levels { certainties, images, cuts, about_names })
    }

    /// Writes the three-way answer of each predicate for a create to `to`; returns yes or no.
    ///
    /// `lookup` returns yes or no, too. It is called only if levels do not determine these, or if
    /// thresholds have `moved`. Then a three-way answer is yes exactly where `lookup` is.
    pub fn answer(
        &self,
        create: &Create,
        lookup: impl FnOnce(&Create) -> Answers,
        moved: bool,
        to: &mut Vec<ThreeWayAnswer>,
    ) -> Answers {
        let of_file = self.certainty(create.scope());
        let of_name = self.certainty(create.of_name().scope());
        if self.images.is_empty() {
            let answers = lookup(create);
            let level = |place: usize| (answers[place / 64] >> (place % 64) & 1) as usize;
            of_file.answer((0..self.cuts.len()).map(level), to);
            return answers;
        }
        let by_image: Vec<_> = self.images.iter().map(|image| image.lookup(create)).collect();
        let reached = |(image, mask): &(usize, Answers)| -> usize {
            let words = by_image[*image].iter().zip(mask);
            words.map(|(answers, mask)| (answers & mask).count_ones() as usize).sum()
        };
        let levels: Vec<usize> =
            self.cuts.iter().map(|masks| masks.iter().map(reached).sum()).collect();
        if moved {
            let answers = lookup(create);
            let decide = |place: usize, word| match answers[place / 64] >> (place % 64) & 1 {
                1 => Word::Yes,
                _ if word == Word::Yes => Word::Unsure,
                _ => word,
            };
            let answer = |certainty: &Certainty, to: &mut _| {
                certainty.answer_with(levels.iter().copied(), decide, to);
            };
            self.answer_both([of_file, of_name], to, answer);
            return answers;
        }
        let answer =
            |certainty: &Certainty, to: &mut _| certainty.answer(levels.iter().copied(), to);
        self.answer_both([of_file, of_name], to, answer);
        let (Some(first), Some(other)) = (of_file.reached(), of_name.reached()) else {
            return lookup(create);
        };
        let mut answers = Answers::default();
        for (place, level) in levels.iter().enumerate() {
            let first = if self.about_names[place] { other } else { first }[place];
            answers[place / 64] |= u64::from(*level >= first) << (place % 64);
        }
        answers
    }

    /// Writes the three-way answers of predicates about files and of those about names.
    fn answer_both(
        &self,
        [of_file, of_name]: [&Certainty; 2],
        to: &mut Vec<ThreeWayAnswer>,
        answer: impl Fn(&Certainty, &mut Vec<ThreeWayAnswer>),
    ) {
        answer(of_file, to);
        if std::ptr::eq(of_file, of_name) {
            return;
        }
        let mut other = Vec::with_capacity(to.len());
        answer(of_name, &mut other);
        let all = to.iter_mut().zip(other).zip(&self.about_names);
        all.filter(|(_, names)| **names).for_each(|((to, other), _)| *to = other);
    }

    /// The meaning of levels at a history scope.
    fn certainty(&self, scope: HistoryScope) -> &Certainty {
        &self.certainties[(scope as usize).min(self.certainties.len() - 1)]
    }

    /// Calls `take` with the answers for each row of `creates` (`features.CREATES`), in order.
    ///
    /// # Errors
    ///
    /// If a column that is used is missing or of another type.
    pub fn answer_all(
        &self,
        creates: &RecordBatch,
        lookup: impl Fn(&Create) -> Answers,
        needs: Needs,
        moved: bool,
        mut take: impl FnMut(&[ThreeWayAnswer]),
    ) -> Result<(), ColumnError> {
        let needs = self.images.iter().fold(needs, |needs, image| needs.or(image.needs()));
        let columns = Creates::of(creates, needs)?;
        let mut answers = Vec::new();
        for row in 0..creates.num_rows() {
            self.answer(&columns.create(row), &lookup, moved, &mut answers);
            take(&answers);
        }
        Ok(())
    }

    /// The predicates' keys, in the order of the answers.
    pub fn keys(&self) -> &[String] {
        self.certainties[0].keys()
    }
}

fn ones(mask: &Answers) -> usize {
    mask.iter().map(|word| word.count_ones() as usize).sum()
}
