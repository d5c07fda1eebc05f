use super::{check_uncompressed, read};
use crate::{Answerer, Fault, Kind, Model, Tallies, Tally, Value};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt8Type};
use arrow_array::{
    ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray, TimestampNanosecondArray,
};
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_ipc::{
    root_as_message, Buffer as Record, Field, FieldArgs, Message, MessageArgs, MessageHeader,
    MetadataVersion, Null, NullArgs, Schema, SchemaArgs, Type,
};
use base64::prelude::{Engine, BASE64_STANDARD as BASE64};
use birthmark_contract::history_scope::HistoryScope;
use birthmark_image::Image;
use flatbuffers::{FlatBufferBuilder, WIPOffset};
use std::fs;
use std::sync::Arc;

/// An answerer from the image of a forest that is a seed of the fuzzers.
fn answerer() -> Answerer {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/image/forest");
    let mut bytes = fs::read(path).unwrap();
    bytes.truncate(u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize);
    let [model, kind, point] = ["m", "best", "bounded"].map(str::to_owned);
    let knows_history = [true; HistoryScope::ALL.len()];
    let model = Model { model, kind, point, knows_history };
    let (answers, scopes) = (&Tally::default(), &Tally::default());
    let tallies = Tallies { answers, scopes };
    Answerer::new(Image::read(&bytes).unwrap(), &model, tallies, true, None).unwrap()
}

fn stream(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

/// Three creates, with values of each kind.
fn creates() -> Vec<u8> {
    let clients = StringArray::from(vec![Some("10.0.0.7"), None, Some("é")]);
    let times = TimestampNanosecondArray::from(vec![Some(1_000), None, Some(-1_000)]);
    stream(vec![
        ("name", Arc::new(BinaryArray::from(vec![&b"x.lock"[..], b"page1.html", b"\xe9"]))),
        ("mode", Arc::new(Int64Array::from(vec![Some(0o600), None, Some(0o644)]))),
        ("client", Arc::new(clients)),
        ("time", Arc::new(times.with_timezone("UTC"))),
        ("history", Arc::new(BinaryArray::from(vec![None, Some(&[9; 176][..]), None]))),
    ])
}

fn names(bytes: &[u8]) -> Result<Vec<Value<'static>>, Fault> {
    let mut names = Vec::new();
    read(&Buffer::from(bytes), |file| match file.value(0) {
        Some(Value::Name(name, _)) => names.push(Value::Name(name.to_vec().into(), "")),
        other => panic!("{other:?}"),
    })?;
    Ok(names)
}

#[test]
fn a_stream_is_answered_as_a_list_in_json_is() {
    let history = BASE64.encode([9; 176]);
    let listed = format!(
        r#"[{{"name": "x.lock", "mode": "0600", "client": "10.0.0.7", "time": "1970-01-01T00:00:00.000001Z"}},
            {{"name": "page1.html", "history": "{history}"}},
            {{"name_base64": "6Q==", "mode": "0644", "client": "é", "time": "1969-12-31T23:59:59.999999Z"}}]"#
    );
    let answerer = answerer();
    let json = answerer.json(listed.as_bytes(), false).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.content).unwrap();
    let answer = answerer.arrow(&Buffer::from(creates().as_slice()), true, false).unwrap();
    let mut reader = StreamReader::try_new(answer.content.as_slice(), None).unwrap();
    let table = reader.next().unwrap().unwrap();
    assert_eq!((answer.files, table.num_rows()), (3, 3));
    assert_eq!(table.schema().metadata()["model"], "m");
    for (row, found) in json["predictions"].as_array().unwrap().iter().enumerate() {
        let word = |column: &str| {
            let words = table[column].as_dictionary::<UInt8Type>();
            words.values().as_string::<i32>().value(words.keys().value(row).into()).to_owned()
        };
        assert_eq!(word("told"), found["told"].as_str().unwrap());
        for (key, answer) in found["answers"].as_object().unwrap() {
            assert_eq!(word(&format!("{key} answer")), answer.as_str().unwrap());
            let is_yes = table[key.as_str()].as_boolean().value(row);
            assert_eq!(is_yes, found["predicates"][key] == "yes");
            let likely = &table[format!("{key} probability").as_str()];
            let likely =
                likely.is_valid(row).then(|| likely.as_primitive::<Float64Type>().value(row));
            assert_eq!(likely, found["probabilities"][key].as_f64());
        }
    }
}

#[test]
fn without_three_way_answers_there_is_a_column_for_each_predicate() {
    let answerer = answerer();
    let answer = answerer.arrow(&Buffer::from(creates().as_slice()), false, false).unwrap();
    let reader = StreamReader::try_new(answer.content.as_slice(), None).unwrap();
    let keys: Vec<_> = answerer.image().predicates().iter().map(|own| own.key.clone()).collect();
    let names: Vec<_> = reader.schema().fields().iter().map(|own| own.name().clone()).collect();
    assert_eq!(names, keys);
}

#[test]
fn a_stream_that_is_cut_off_is_refused_unless_it_ends_with_a_message() {
    let whole = creates();
    let end = whole.len() - 8; // the end of the stream is marked with 8 bytes
    for length in (0..whole.len()).filter(|length| ![end, end + 4].contains(length)) {
        match names(&whole[..length]) {
            Ok(names) => assert!(names.is_empty(), "{length} bytes"),
            Err(fault) => assert_eq!(fault.kind, Kind::Arrow, "{length} bytes"),
        }
    }
    assert_eq!(names(&whole[..end]), names(&whole));
}

/// A linear congruential generator (Knuth, MMIX).
fn next(random: &mut u64) -> usize {
    *random =
        random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*random >> 33) as usize
}

#[test]
fn a_damaged_stream_is_read_or_refused() {
    let (whole, random) = (creates(), &mut 1);
    for _ in 0..20_000 {
        let mut bytes = whole.clone();
        for _ in 0..1 + next(random) % 3 {
            let at = next(random) % bytes.len();
            let extreme = [0, 1, 0x7f, 0x80, 0xff, next(random) as u8][next(random) % 6];
            bytes[at] = extreme;
        }
        let stream = Buffer::from(bytes.as_slice());
        let is_uncompressed = check_uncompressed(&stream).is_ok();
        assert!(names(&bytes).is_err() || is_uncompressed);
    }
}

/// A stream of one message.
fn message(
    header: impl FnOnce(&mut FlatBufferBuilder<'static>) -> WIPOffset<Schema<'static>>,
) -> Vec<u8> {
    let mut builder = FlatBufferBuilder::new();
    let header = Some(header(&mut builder).as_union_value());
    let args = MessageArgs {
        version: MetadataVersion::V5,
        header_type: MessageHeader::Schema,
        header,
        ..MessageArgs::default()
    };
    let message = Message::create(&mut builder, &args);
    builder.finish(message, None);
    let metadata = builder.finished_data();
    [&(metadata.len() as u32).to_le_bytes(), metadata].concat()
}

#[test]
fn a_schema_that_repeats_one_field_is_refused_before_it_is_copied() {
    let repeating = |times: usize| {
        message(|builder| {
            let name = Some(builder.create_string(&"x".repeat(1000)));
            let null = Null::create(builder, &NullArgs {}).as_union_value();
            let type_type = Type::Null;
            let args = FieldArgs { name, type_type, type_: Some(null), ..FieldArgs::default() };
            let field = Field::create(builder, &args);
            let fields = Some(builder.create_vector(&vec![field; times]));
            Schema::create(builder, &SchemaArgs { fields, ..SchemaArgs::default() })
        })
    };
    assert!(names(&repeating(1)).unwrap_err().expected.starts_with("expected the columns"));
    assert!(names(&repeating(1000)).unwrap_err().expected.ends_with("Apparent size too large."));
}

#[test]
fn buffers_beyond_a_body_or_larger_than_it_together_are_refused() {
    let whole = creates();
    let start = 8 + u32::from_le_bytes(whole[4..8].try_into().unwrap()) as usize;
    let size = u32::from_le_bytes(whole[start + 4..start + 8].try_into().unwrap()) as usize;
    let metadata = &whole[start + 8..][..size];
    let message = root_as_message(metadata).unwrap();
    let buffer = message.header_as_record_batch().unwrap().buffers().unwrap().get(2);
    let at = metadata.windows(16).position(|bytes| bytes == buffer.0).unwrap() + start + 8;
    let length = message.bodyLength();
    for (offset, length) in [(0, length), (length, 8), (8, i64::MAX), (i64::MIN, 8), (8, -1)] {
        let mut bytes = whole.clone();
        bytes[at..at + 16].copy_from_slice(&Record::new(offset, length).0);
        assert!(names(&bytes).unwrap_err().expected.ends_with("cut off"), "{offset} {length}");
    }
}
