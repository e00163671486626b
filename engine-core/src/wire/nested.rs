//! `google.protobuf.Struct` and its parts, as deep as a state can hold them.
//!
//! They are written by hand because generated code counts messages: an object in an object is three of them, so that it refuses
//! the 34th level. This counts the objects and lists themselves, and stops before the stack of any thread is in danger.

use std::collections::BTreeMap;

use prost::DecodeError;
use prost::bytes::{Buf, BufMut};
use prost::encoding::wire_type::WireType;
use prost::encoding::{DecodeContext, btree_map, check_wire_type, decode_key, merge_loop, message, skip_field, string};

use crate::value::MAX_DEPTH;

/// What to do about a value that is too deep.
pub(crate) const MAKE_FLATTER: &str = "make it flatter, or pass it as a text (JSON)";

/// `google.protobuf.Struct`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Struct {
    /// Members by name.
    pub fields: BTreeMap<String, WireValue>,
}

/// `google.protobuf.Value`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WireValue {
    /// What a `WireValue` holds.
    pub kind: Option<Kind>,
}

/// What a `WireValue` holds.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Kind {
    /// A null.
    #[prost(enumeration = "NullValue", tag = "1")]
    Null(i32),
    /// A number.
    #[prost(double, tag = "2")]
    Number(f64),
    /// A text.
    #[prost(string, tag = "3")]
    String(String),
    /// A truth value.
    #[prost(bool, tag = "4")]
    Bool(bool),
    /// An object.
    #[prost(message, tag = "5")]
    Struct(Struct),
    /// A list.
    #[prost(message, tag = "6")]
    List(ListValue),
}

/// `google.protobuf.ListValue`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListValue {
    /// The items.
    pub values: Vec<WireValue>,
}

/// `google.protobuf.NullValue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum NullValue {
    /// The only one.
    Null = 0,
}

/// What stands before a field: its tag, and how it is written.
type Key = (u32, WireType);

/// The tags of the kinds that hold values.
const OBJECT: u32 = 5;
const LIST: u32 = 6;

/// Reads one field of a message that stands in so many objects and lists.
trait ReadField {
    fn read_field<B: Buf>(&mut self, key: Key, buf: &mut B, depth: usize) -> Result<(), DecodeError>;
}

fn read<M: ReadField, B: Buf>(
    wire_type: WireType,
    message: &mut M,
    buf: &mut B,
    depth: usize,
) -> Result<(), DecodeError> {
    check_wire_type(WireType::LengthDelimited, wire_type)?;
    merge_loop(message, buf, DecodeContext::default(), |message, buf, _| {
        let key = decode_key(buf)?;
        message.read_field(key, buf, depth)
    })
}

impl ReadField for Struct {
    fn read_field<B: Buf>(&mut self, (tag, wire_type): Key, buf: &mut B, depth: usize) -> Result<(), DecodeError> {
        if tag != 1 {
            return skip_field(wire_type, tag, buf, DecodeContext::default());
        }
        let mut member = Member::default();
        match read(wire_type, &mut member, buf, depth) {
            Ok(()) => {
                self.fields.insert(member.key, member.value);
                Ok(())
            }
            Err(error) if depth == 0 && error == deep_value() => {
                Err(too_deep_at(&format!("{PROPERTY}{}'", member.key)))
            }
            Err(error) => Err(error),
        }
    }
}

/// A member of an object: on the wire it is a message, too.
#[derive(Default)]
struct Member {
    key: String,
    value: WireValue,
}

impl ReadField for Member {
    fn read_field<B: Buf>(&mut self, (tag, wire_type): Key, buf: &mut B, depth: usize) -> Result<(), DecodeError> {
        match tag {
            1 => string::merge(wire_type, &mut self.key, buf, DecodeContext::default()),
            2 => read(wire_type, &mut self.value, buf, depth),
            _ => skip_field(wire_type, tag, buf, DecodeContext::default()),
        }
    }
}

impl ReadField for WireValue {
    fn read_field<B: Buf>(&mut self, (tag, wire_type): Key, buf: &mut B, depth: usize) -> Result<(), DecodeError> {
        match tag {
            OBJECT | LIST if depth == MAX_DEPTH => Err(deep_value()),
            // A part that comes twice is one.
            OBJECT => {
                let mut object = match self.kind.take() {
                    Some(Kind::Struct(object)) => object,
                    _ => Struct::default(),
                };
                read(wire_type, &mut object, buf, depth + 1)?;
                self.kind = Some(Kind::Struct(object));
                Ok(())
            }
            LIST => {
                let mut list = match self.kind.take() {
                    Some(Kind::List(list)) => list,
                    _ => ListValue::default(),
                };
                read(wire_type, &mut list, buf, depth + 1)?;
                self.kind = Some(Kind::List(list));
                Ok(())
            }
            1..OBJECT => Kind::merge(&mut self.kind, tag, wire_type, buf, DecodeContext::default()),
            _ => skip_field(wire_type, tag, buf, DecodeContext::default()),
        }
    }
}

impl ReadField for ListValue {
    fn read_field<B: Buf>(&mut self, (tag, wire_type): Key, buf: &mut B, depth: usize) -> Result<(), DecodeError> {
        if tag != 1 {
            return skip_field(wire_type, tag, buf, DecodeContext::default());
        }
        let mut item = WireValue::default();
        read(wire_type, &mut item, buf, depth)?;
        self.values.push(item);
        Ok(())
    }
}

impl prost::Message for Struct {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        btree_map::encode(
            string::encode,
            string::encoded_len,
            message::encode,
            message::encoded_len,
            1,
            &self.fields,
            buf,
        );
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        _: DecodeContext,
    ) -> Result<(), DecodeError> {
        self.read_field((tag, wire_type), buf, 0)
    }

    fn encoded_len(&self) -> usize {
        btree_map::encoded_len(string::encoded_len, message::encoded_len, 1, &self.fields)
    }

    fn clear(&mut self) {
        self.fields.clear();
    }
}

impl prost::Message for WireValue {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        if let Some(kind) = &self.kind {
            kind.encode(buf);
        }
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        _: DecodeContext,
    ) -> Result<(), DecodeError> {
        self.read_field((tag, wire_type), buf, 0)
    }

    fn encoded_len(&self) -> usize {
        self.kind.as_ref().map_or(0, Kind::encoded_len)
    }

    fn clear(&mut self) {
        self.kind = None;
    }
}

impl prost::Message for ListValue {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        message::encode_repeated(1, &self.values, buf);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        _: DecodeContext,
    ) -> Result<(), DecodeError> {
        self.read_field((tag, wire_type), buf, 0)
    }

    fn encoded_len(&self) -> usize {
        message::encoded_len_repeated(1, &self.values)
    }

    fn clear(&mut self) {
        self.values.clear();
    }
}

const PROPERTY: &str = "property '";
const VALUE: &str = "a value";

fn deep_value() -> DecodeError {
    too_deep_at(VALUE)
}

fn too_deep_at(place: &str) -> DecodeError {
    #[expect(deprecated, reason = "there is no other way to say what is wrong")]
    DecodeError::new(format!("{place} {}", nested_too_deeply()))
}

fn nested_too_deeply() -> String {
    format!("is nested too deeply: values may hold {MAX_DEPTH} levels of objects and lists")
}

/// Why a message cannot be decoded, and what to do.
#[must_use]
pub fn why_unreadable(error: &DecodeError) -> String {
    too_deep(error).map_or_else(|| error.to_string(), |place| format!("{place}; {MAKE_FLATTER}"))
}

/// The place that is nested too deeply, and how deep it may be, when that is why a message cannot be decoded.
#[must_use]
pub fn too_deep(error: &DecodeError) -> Option<String> {
    let text = error.to_string();
    let found = text.ends_with(&nested_too_deeply()).then(|| text.find(PROPERTY).or_else(|| text.find(VALUE)))?;
    found.and_then(|start| text.get(start..)).map(str::to_owned)
}
