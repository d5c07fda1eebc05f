use super::*;
use crate::schema::EntryColumn;
use arrow_array::cast::AsArray;

fn row(batches: &mut Batches, time: u64, fields: &Fields) -> u64 {
    let host = 0;
    for (column, value) in [
        (Column::Time, time),
        (Column::Server, host),
        (Column::ServerPort, 2049),
        (Column::Client, host),
        (Column::ClientPort, 700),
        (Column::Transport, 0),
        (Column::Version, 3),
        (Column::Xid, time),
        (Column::Op, 1),
        (Column::Retransmits, 0),
        (Column::DuplicateReplies, 0),
        (Column::Short, 0),
    ] {
        batches.number(column, value);
    }
    batches.fields(fields);
    batches.end_row()
}

fn hosts() -> Interner {
    let mut hosts = Interner::default();
    hosts.intern("30");
    hosts
}

#[test]
fn columns_are_padded_only_where_set() {
    let mut batches = Batches::default();
    let mut fields = Fields::default();
    row(&mut batches, 1, &fields);
    fields.number(Column::Size, 7);
    fields.text(Column::Name, b"a");
    fields.text(Column::Name, b"later");
    row(&mut batches, 2, &fields);
    fields.clear();
    row(&mut batches, 3, &fields);
    batches.close();
    let batch = batches.take(&hosts(), true).unwrap().unwrap();
    let size = batch.column_by_name("size").unwrap().as_primitive::<UInt64Type>();
    assert_eq!(size.iter().collect::<Vec<_>>(), [None, Some(7), None]);
    let name = batch.column_by_name("name").unwrap().as_binary::<i32>();
    assert_eq!(name.iter().collect::<Vec<_>>(), [None, Some(b"later".as_slice()), None]);
    assert_eq!(batch.column_by_name("mode").unwrap().null_count(), 3);
}

#[test]
fn entries_stay_with_their_rows() {
    let mut batches = Batches::default();
    let mut fields = Fields::default();
    for name in [b"x".as_slice(), b"yy"] {
        fields.entry();
        fields.entry_text(EntryColumn::Name, name);
    }
    row(&mut batches, 1, &fields);
    fields.clear();
    row(&mut batches, 2, &fields);
    fields.listing();
    row(&mut batches, 3, &fields);
    batches.close();
    let batch = batches.take(&hosts(), true).unwrap().unwrap();
    let entries = batch.column_by_name("entries").unwrap().as_list::<i32>();
    assert_eq!(entries.value_length(0), 2);
    assert!(entries.is_null(1));
    assert!(entries.is_valid(2) && entries.value_length(2) == 0);
    let names = entries.value(0).as_struct().column(0).as_binary::<i32>().clone();
    assert_eq!(names.value(1), b"yy");
}

#[test]
fn a_late_retransmission_reaches_the_batch_held_back() {
    let mut batches = Batches::default();
    let fields = Fields::default();
    let first = row(&mut batches, 1, &fields);
    batches.close();
    let second = row(&mut batches, 2, &fields);
    assert!(batches.take(&hosts(), false).is_none());
    assert!(batches.add(Column::Retransmits, first));
    assert!(batches.add(Column::Retransmits, second));
    let batch = batches.take(&hosts(), true).unwrap().unwrap();
    let counts = batch.column_by_name("retransmits").unwrap().as_primitive::<UInt32Type>();
    assert_eq!(counts.value(0), 1);
    assert!(!batches.add(Column::Retransmits, first));
}

#[test]
fn few_rows_that_are_handed_on_take_the_memory_of_few() {
    let mut batches = Batches::default();
    row(&mut batches, 1, &Fields::default());
    let few = batches.take_partial(&hosts(), 1).unwrap().unwrap();
    assert_eq!(few.num_rows(), 1);
    assert!(few.get_array_memory_size() < 100 * COLUMNS.len() * 8);
}

/// For how many rows there is place in the open batch, in columns of 64 bits that have a value.
fn places(batches: &Batches) -> Vec<usize> {
    let place = |column: &Builder| match &column.values {
        Values::U64(values) => Some(values.len()).filter(|len| *len > 0),
        _ => None,
    };
    batches.open.columns.iter().filter_map(place).collect()
}

#[test]
fn behind_a_piece_there_is_place_for_about_as_many_rows_and_more_may_come() {
    let (mut batches, fields) = (Batches::default(), Fields::default());
    row(&mut batches, 0, &fields);
    assert!(places(&batches).iter().all(|place| *place == BATCH_ROWS));
    let mut before = 0..1;
    for rows in [1000, 300, 5, 3] {
        let piece = batches.take_partial(&hosts(), 0).unwrap().unwrap();
        let times = piece.column_by_name("time").unwrap();
        let times = times.as_primitive::<TimestampMicrosecondType>().values();
        assert_eq!(times.to_vec(), before.clone().map(|row| row as i64).collect::<Vec<_>>());
        let (first, least) = (before.end, before.count().max(64));
        row(&mut batches, first, &fields);
        let places = places(&batches);
        assert!(!places.is_empty());
        assert!(places.iter().all(|place| (least..=2 * least).contains(place)), "{places:?}");
        for at in 1..rows {
            row(&mut batches, first + at, &fields);
        }
        before = first..first + rows;
    }
}

#[test]
fn a_batch_of_listings_ends_at_its_share_of_bytes() {
    let mut batches = Batches::default();
    batches.limit(Budget::new(1000 * 1024));
    let mut listing = Fields::default();
    for _ in 0..20 {
        listing.entry();
        listing.entry_text(EntryColumn::Name, &[b'n'; 255]);
    }
    let rows = (0..100).take_while(|_| {
        row(&mut batches, 1, &listing);
        !batches.is_full()
    });
    let most = Budget::new(1000 * 1024).share(Part::Batch);
    assert_eq!(rows.count() + 1, most.div_ceil(20 * (255 + ENTRY)));
}

#[test]
fn rows_that_were_handed_on_settle_early_when_they_take_more_than_their_share() {
    let mut batches = Batches::default();
    batches.limit(Budget::new(4_000_000));
    for number in 0..100 {
        let mut fields = Fields::default();
        fields.text(Column::Name, &[b'n'; 8192]);
        row(&mut batches, number, &fields);
        batches.take_partial(&hosts(), 0).unwrap();
    }
    let settled = batches.settled(i64::MIN).unwrap();
    assert!(!settled.is_empty() && settled.len() < 100, "{}", settled.len());
    assert!((1..=settled.len() as u64).contains(&batches.evicted()));
    assert!(batches.handed.memory <= Budget::new(4_000_000).share(Part::Rows));
}
