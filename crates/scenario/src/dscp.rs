//! Differentiated services codepoints.

use sojourn_params::{Errors, InputError, Kind, Quantity, Value};

/// A DSCP, 0 to 63.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dscp(pub u8);

/// The codepoints with names (RFC 2474; RFC 2597; RFC 3246; RFC 5865; RFC 8622).
const NAMED: [(&str, u8); 23] = [
    ("DF", 0),
    ("LE", 1),
    ("CS1", 8),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("CS2", 16),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("CS3", 24),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("CS4", 32),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("CS5", 40),
    ("VOICE-ADMIT", 44),
    ("EF", 46),
    ("CS6", 48),
    ("CS7", 56),
];

impl Quantity for Dscp {
    fn kind() -> Kind {
        Kind::Word(&[
            "DF",
            "LE",
            "CS1",
            "AF11",
            "AF12",
            "AF13",
            "CS2",
            "AF21",
            "AF22",
            "AF23",
            "CS3",
            "AF31",
            "AF32",
            "AF33",
            "CS4",
            "AF41",
            "AF42",
            "AF43",
            "CS5",
            "VOICE-ADMIT",
            "EF",
            "CS6",
            "CS7",
        ])
    }
    fn read(value: &Value) -> Result<Dscp, Errors> {
        let name = String::read(value)?;
        let found = NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name));
        let names = NAMED.iter().map(|(name, _)| *name);
        let unknown = || InputError::unknown_name(&name, "is no codepoint with a name", names);
        Ok(found.map(|(_, number)| Dscp(*number)).ok_or_else(unknown)?)
    }
    fn write(&self) -> Value {
        let name = NAMED.iter().find(|(_, number)| *number == self.0).map_or("DF", |(name, _)| name);
        Value::Text(name.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_lists_the_names() {
        let Kind::Word(words) = Dscp::kind() else { panic!() };
        assert_eq!(words, NAMED.map(|(name, _)| name));
        for name in words {
            let read = Dscp::read(&Value::Text((*name).into())).unwrap();
            assert_eq!(read.write(), Value::Text((*name).into()));
        }
        assert_eq!(Dscp::read(&Value::Text("ef".into())), Ok(Dscp(46)));
        let error = Dscp::read(&Value::Text("EFF".into())).unwrap_err().to_string();
        assert!(error.starts_with("\"EFF\" is no codepoint with a name; did you mean \"EF\"?"), "{error}");
    }
}
