//! A recorded link: its delivery opportunities, in Mahimahi's format.
//!
//! One number per line, the milliseconds since the start; each line is one opportunity, several may be at one instant.
//! The last one is also the period of the recording (mm-link(1)).

use super::OPPORTUNITY;
use sojourn_params::{ErrorKind, InputError};
use sojourn_units::Rate;
use std::fmt;
use std::sync::Arc;

/// Recorded delivery times of a link. Copies share the stamps.
#[derive(Clone, PartialEq)]
pub struct Recording {
    /// The file's name, as the scenario has it.
    pub file: String,
    stamps: Arc<[u32]>,
}

impl Recording {
    /// Reads the text of `file`; an error has the line.
    pub fn parse(file: &str, text: &[u8]) -> Result<Recording, InputError> {
        let error = |line: usize, problem: &str, expected: String| {
            let problem = format!("{file}, line {line}: {problem}");
            Err(InputError::new(ErrorKind::File, problem, expected))
        };
        let mut stamps = Vec::new();
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let lines = (1..).zip(text.split(|byte| *byte == b'\n'));
        for (number, line) in lines.filter(|_| !text.is_empty()) {
            let stamp = match stamp(line) {
                Ok(stamp) => stamp,
                Err((problem, expected)) => return error(number, &problem, expected),
            };
            if let Some(last) = stamps.last().filter(|last| **last > stamp) {
                let problem = format!("{stamp} after {last}: time runs back");
                return error(number, &problem, format!("{last} or more"));
            }
            if stamps.len() == MOST_LINES {
                return error(number, "is one too many", format!("{MOST_LINES} lines at most"));
            }
            stamps.push(stamp);
        }
        match stamps.last() {
            None => error(1, "holds no delivery", ONE_A_LINE.into()),
            Some(0) => {
                let problem = "the last stamp is 0, so that it would begin again in no time";
                error(stamps.len(), problem, "1 or more".into())
            }
            Some(_) => Ok(Recording { file: file.into(), stamps: stamps.into() }),
        }
    }

    /// The opportunities, ms since the start, in order; the last one is more than 0.
    pub fn stamps(&self) -> &[u32] {
        &self.stamps
    }

    /// Period after which it repeats, ms.
    pub fn period(&self) -> u32 {
        self.stamps.last().copied().unwrap_or(1)
    }

    /// Its mean rate.
    pub fn mean(&self) -> Rate {
        let bits = self.stamps.len() as f64 * f64::from(OPPORTUNITY) * 8.0;
        Rate::from_bits_per_second(bits / (f64::from(self.period()) / 1000.0))
    }
}

/// The number of a line, or the problem and the expected value.
fn stamp(line: &[u8]) -> Result<u32, (String, String)> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let shown = || {
        let text = String::from_utf8_lossy(&line[..line.len().min(LONGEST)]);
        text.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect::<String>()
    };
    if line.is_empty() {
        return Err(("is empty".into(), ONE_A_LINE.into()));
    }
    if !line.iter().all(u8::is_ascii_digit) {
        let problem = format!("\"{}\" is not a whole number", shown());
        return Err((problem, "milliseconds since the start".into()));
    }
    let number = str::from_utf8(line).ok().and_then(|digits| digits.parse().ok());
    number
        .filter(|stamp| *stamp <= LATEST)
        .ok_or_else(|| (format!("{} is too late", shown()), format!("0 to {LATEST}")))
}

/// Short form: recordings have many stamps.
impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recording({}, {} in {} ms)", self.file, self.stamps.len(), self.period())
    }
}

/// The form of a recording.
const ONE_A_LINE: &str = "one number of milliseconds a line";
/// Lines of a recording: 40 MB of stamps.
const MOST_LINES: usize = 10_000_000;
/// The latest stamp, ms: a day.
const LATEST: u32 = 86_400_000;
/// Bytes of a line that are shown.
const LONGEST: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_its_stamps() {
        for text in ["0\n0\n5\n10\n", "0\n0\n5\n10", "0\r\n0\r\n5\r\n10\r\n"] {
            let recording = Recording::parse("x", text.as_bytes()).unwrap();
            assert_eq!((recording.stamps(), recording.period()), (&[0, 0, 5, 10][..], 10));
            assert_eq!(recording.mean().bits_per_second(), 4.0 * 1504.0 * 8.0 / 0.010);
        }
    }

    #[test]
    fn each_error_has_its_line() {
        let long = "1".repeat(5000);
        let many = "1\n".repeat(MOST_LINES + 1);
        for (bytes, expected) in [
            ("", "x, line 1: holds no delivery; expected one number of milliseconds a line"),
            ("\n", "x, line 1: holds no delivery; expected one number of milliseconds a line"),
            ("1\n\n2\n", "x, line 2: is empty; expected one number of milliseconds a line"),
            ("1\n2\n\n", "x, line 3: is empty; expected one number of milliseconds a line"),
            ("3\n2\n", "x, line 2: 2 after 3: time runs back; expected 3 or more"),
            ("1\n2.5\n", "x, line 2: \"2.5\" is not a whole number; expected milliseconds since the start"),
            ("-1\n", "x, line 1: \"-1\" is not a whole number; expected milliseconds since the start"),
            ("1 \n", "x, line 1: \"1 \" is not a whole number; expected milliseconds since the start"),
            (
                "\u{7}\u{fc}",
                "x, line 1: \"?\u{fc}\" is not a whole number; expected milliseconds since the start",
            ),
            (
                "0\n0\n",
                "x, line 2: the last stamp is 0, so that it would begin again in no time; expected 1 or more",
            ),
            ("86400001", "x, line 1: 86400001 is too late; expected 0 to 86400000"),
            (&long, "x, line 1: 11111111111111111111 is too late; expected 0 to 86400000"),
            (&many, "x, line 10000001: is one too many; expected 10000000 lines at most"),
        ] {
            assert_eq!(Recording::parse("x", bytes.as_bytes()).unwrap_err().to_string(), expected);
        }
        assert!(Recording::parse("x", &[0xff, 0]).is_err());
    }
}
