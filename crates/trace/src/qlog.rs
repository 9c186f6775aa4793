//! Logs of events: qlog as JSON text sequences (draft-ietf-quic-qlog-main-schema; RFC 7464).
//!
//! Each record is a separator, a JSON object and a line feed: first the file's header, then the events in the order of
//! time. Times are milliseconds since the start of the run, with all digits of the nanosecond.

use serde_json::json;
use sojourn_units::Time;

/// Header of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// Subject of the log.
    pub title: &'a str,
    /// Name of the end that logs; it initiates its connections.
    pub vantage_point: &'a str,
    /// URI of the schema of the events.
    pub event_schema: &'a str,
}

/// Appends the header, which begins a file.
pub fn header(out: &mut Vec<u8>, of: &Header<'_>) {
    let header = json!({
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "title": of.title,
        "trace": {
            "common_fields": {
                "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
                "time_format": "relative_to_epoch",
            },
            "event_schemas": [of.event_schema],
            "vantage_point": { "name": of.vantage_point, "type": "client" },
        },
    });
    out.push(SEPARATOR);
    out.extend(header.to_string().into_bytes());
    out.push(b'\n');
}

/// Appends an event with its name and its data, the members of a JSON object.
pub fn event(out: &mut Vec<u8>, at: Time, name: &str, data: &str) {
    let (millis, nanos) = (at.nanos() / 1_000_000, at.nanos() % 1_000_000);
    out.push(SEPARATOR);
    out.extend(
        format!("{{\"time\":{millis}.{nanos:06},\"name\":\"{name}\",\"data\":{{{data}}}}}\n").into_bytes(),
    );
}

/// RFC 7464, section 2.2.
const SEPARATOR: u8 = 0x1e;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_objects_between_separators() {
        let mut out = Vec::new();
        header(&mut out, &Header { title: "\"a\"", vantage_point: "b", event_schema: "urn:c" });
        event(&mut out, Time::from_nanos(1_000_007), "tcp:x", "\"cwnd\":1");
        let text = String::from_utf8(out).unwrap();
        let records: Vec<serde_json::Value> =
            text.split_terminator('\u{1e}').skip(1).map(|one| serde_json::from_str(one).unwrap()).collect();
        assert_eq!(records.len(), 2);
        assert_eq!(records[0]["title"], "\"a\"");
        assert_eq!(records[1], json!({ "time": 1.000007, "name": "tcp:x", "data": { "cwnd": 1 } }));
        // The draft wants both in the first 256 bytes.
        assert!(text[..256].contains("file_schema") && text[..256].contains("serialization_format"));
    }
}
