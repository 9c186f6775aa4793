//! Selection of a sender's congestion control.

use super::{CongestionControl, Curve, Entry, Feedback, KERNEL, Recovery};
use crate::catalogue::{CC_CATALOGUE, CCS};
use crate::profile::Profile;
use sojourn_params::{Described, Errors, Given, InputError, Kind, Quantity, Spec, Table, Value};
use std::fmt;
use std::sync::Arc;

/// Congestion control of the catalogue with its parameters, one of kernels, or a custom one.
///
/// [`Display`](fmt::Display) prints its label; that of a listed one parses back to the same.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// One of the catalogue.
    Listed(Listed),
    /// One that only kernels have, by its name, without parameters.
    Kernel(&'static str),
    /// One that is not in the catalogue.
    Custom(Custom),
}

/// Congestion control of the catalogue with its parameters, which are valid. Two are equal if all their parameters are,
/// given or not.
#[derive(Clone)]
pub struct Listed {
    entry: &'static Entry,
    given: Given,
}

/// Congestion control from outside this crate. Equality is that of the builders.
#[derive(Clone)]
pub struct Custom {
    /// Name.
    pub name: String,
    /// Recovery from further losses in a window.
    pub recovery: Recovery,
    /// Feedback on ECN marks that it needs from the receiver.
    pub feedback: Feedback,
    /// Builds it for a profile and segments of so many bytes of payload.
    pub build: Arc<BuildCustom>,
}

/// Builder of a custom control.
pub type BuildCustom = dyn Fn(&Profile, u32) -> Box<dyn CongestionControl> + Send + Sync;

impl Choice {
    /// Parses `"cubic"` or `"cubic:hystart=false"`.
    pub fn parse(spec: &str) -> Result<Choice, Errors> {
        Choice::read(&Value::Text(spec.into()))
    }

    /// Reads the parameters of the control called `name`.
    pub fn new(name: &str, params: &[(String, Value)]) -> Result<Choice, Errors> {
        Choice::at(CC_CATALOGUE.place(name)?, params)
    }

    /// The one at a place of the catalogue: curves of ours, then the kernel's.
    fn at(place: usize, params: &[(String, Value)]) -> Result<Choice, Errors> {
        match CCS.get(place) {
            Some(entry) => Ok(Choice::Listed(Listed { entry, given: (entry.read)(params)? })),
            None => Table::of(params, &[]).end(Some(Choice::Kernel(KERNEL[place - CCS.len()].stem))),
        }
    }

    /// Error of one that only kernels have, for plants that simulate TCP.
    pub fn refuse_kernel(&self) -> Result<(), InputError> {
        let Choice::Kernel(name) = self else { return Ok(()) };
        let expected = CCS.iter().map(|entry| entry.page.stem);
        let expected = format!("one of {}", expected.collect::<Vec<_>>().join(", "));
        Err(InputError::conflict(name, "runs live only (sojourn lab FILE)", expected))
    }

    /// Stem in the catalogue, name of the kernel's, or name of the custom control.
    pub fn name(&self) -> &str {
        match self {
            Choice::Listed(Listed { entry, .. }) => entry.page.stem,
            Choice::Kernel(name) => name,
            Choice::Custom(custom) => &custom.name,
        }
    }

    /// Given parameters, in the order of the catalogue.
    pub fn values(&self) -> Vec<(&'static str, Value)> {
        match self {
            Choice::Listed(Listed { given, .. }) => given.values().collect(),
            Choice::Kernel(_) | Choice::Custom(_) => Vec::new(),
        }
    }

    /// Its parameters, if they are of this type.
    pub fn params<T: Described + 'static>(&self) -> Option<&T> {
        match self {
            Choice::Listed(Listed { given, .. }) => given.params.of().ok(),
            Choice::Kernel(_) | Choice::Custom(_) => None,
        }
    }

    /// The same in its shortest form: only parameters that differ from their defaults are given.
    pub fn shortest(&self) -> Choice {
        match self {
            Choice::Listed(Listed { entry, given }) => {
                Choice::Listed(Listed { entry, given: given.shortest() })
            }
            Choice::Kernel(_) | Choice::Custom(_) => self.clone(),
        }
    }

    /// Recovery that it is paired with, or that `sack` requests.
    pub fn recovery(&self, sack: Option<bool>) -> Recovery {
        let paired = match self {
            Choice::Listed(Listed { entry, .. }) => entry.recovery,
            Choice::Kernel(_) => Recovery::Sack,
            Choice::Custom(custom) => custom.recovery,
        };
        match sack {
            Some(true) => Recovery::Sack,
            Some(false) if paired == Recovery::Sack => Recovery::NewReno,
            _ => paired,
        }
    }

    /// True if it keeps more of its window after an ECN echo than after a loss: Alternative Backoff with ECN (RFC 8511).
    pub fn has_abe(&self) -> bool {
        match self {
            Choice::Listed(Listed { entry, given }) => (entry.abe)(given.params.as_ref()),
            Choice::Kernel(_) | Choice::Custom(_) => false,
        }
    }

    /// Feedback on ECN marks that it needs from the receiver.
    pub fn feedback(&self) -> Feedback {
        match self {
            Choice::Listed(Listed { entry, .. }) => entry.feedback,
            Choice::Kernel(_) => Feedback::Classic,
            Choice::Custom(custom) => custom.feedback,
        }
    }

    /// True where it needs feedback on each segment, and so ECN.
    pub fn needs_marks(&self) -> bool {
        self.feedback() == Feedback::PerSegment
    }

    /// Builds the curve for a profile and segments of `mss` bytes of payload. Panics for one that only kernels have.
    pub fn build(&self, profile: &Profile, mss: u32) -> Curve {
        match self {
            Choice::Listed(Listed { entry, given }) => (entry.build)(given.params.as_ref(), profile, mss)
                .expect("parameters that the entry has read"),
            Choice::Kernel(name) => panic!("{name} runs live only"),
            Choice::Custom(custom) => Curve::Custom((custom.build)(profile, mss)),
        }
    }
}

/// The control of that name with its defaults. Panics if the catalogue has none of that name.
impl From<&str> for Choice {
    fn from(name: &str) -> Choice {
        Choice::new(name, &[]).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Quantity for Choice {
    fn kind() -> Kind {
        Kind::Entry(&CC_CATALOGUE)
    }
    fn read(value: &Value) -> Result<Choice, Errors> {
        let chosen = CC_CATALOGUE.choose(value)?;
        let place = chosen.place;
        chosen.read(|params| Choice::at(place, params))
    }
    fn write(&self) -> Value {
        Value::Text(self.to_string())
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Listed(listed) => listed.fmt(f),
            Choice::Kernel(name) => f.write_str(name),
            Choice::Custom(custom) => f.write_str(&custom.name),
        }
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = self.given.values().map(|(key, value)| (key.into(), value)).collect();
        Spec { name: self.entry.page.stem.into(), params }.fmt(f)
    }
}

impl PartialEq for Listed {
    fn eq(&self, other: &Listed) -> bool {
        self.entry.page.stem == other.entry.page.stem && self.given.params.equals(other.given.params.as_ref())
    }
}

impl fmt::Debug for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Listed({self})")
    }
}

impl PartialEq for Custom {
    fn eq(&self, other: &Custom) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.build, &other.build)
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Custom({})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_canonical_and_reads_back() {
        let choice = Choice::parse(" dctcp: alpha=1,g=0.25").unwrap();
        assert_eq!(choice.to_string(), "dctcp:g=0.25,alpha=1");
        assert_eq!(Choice::parse(&choice.to_string()), Ok(choice));
        assert_eq!(Choice::parse("cubic"), Ok(Choice::from("cubic")));
    }

    #[test]
    fn invalid_specs_are_rejected_in_a_line() {
        for (spec, expected) in [
            (
                "cubik",
                "\"cubik\" is not a congestion control; did you mean \"cubic\"? (expected reno, newreno",
            ),
            (
                "cubic:histart=false",
                "histart: unknown key; did you mean \"hystart\"? (expected hystart, abe)",
            ),
            ("dctcp:abe=true", "abe: unknown key (expected g, alpha)"),
            ("dctcp:g=0", "g: 0 is out of range; expected more than 0, at most 1"),
            ("scalable:b=1", "b: 1 is out of range; expected more than 0, less than 1"),
            ("reno:abe=0.8", "abe: 0.8 is neither true nor false; expected true or false"),
            ("reno:abe=true,abe=false", "abe: is given twice; expected once"),
            ("reno:abe", "\"abe\" is not KEY=VALUE"),
        ] {
            let error = Choice::parse(spec).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{spec}: {error}");
        }
    }

    #[test]
    fn those_of_kernels_are_names_without_parameters() {
        for page in KERNEL {
            let choice = Choice::from(page.stem);
            assert_eq!(choice, Choice::Kernel(page.stem));
            assert_eq!(Choice::parse(&choice.to_string()), Ok(choice));
        }
        let error = Choice::parse("bbr:gain=2").unwrap_err().to_string();
        assert_eq!(error, "gain: unknown key (expected no parameters)");
        assert_eq!(Choice::from("cubic").refuse_kernel(), Ok(()));
        let error = Choice::from("bbr").refuse_kernel().unwrap_err().to_string();
        let expected = "expected one of reno, newreno, cubic, dctcp, scalable";
        assert_eq!(error, format!("bbr runs live only (sojourn lab FILE); {expected}"));
    }

    #[test]
    fn every_error_of_the_parameters_is_reported() {
        let errors = Choice::parse("dctcp:g=7,abe=true,alpha=x").unwrap_err();
        let keys: Vec<String> = errors.into_iter().map(|error| error.key.to_string()).collect();
        assert_eq!(keys, ["g", "abe", "alpha"]);
    }

    #[test]
    fn a_table_reads_as_its_spec() {
        let table = |entries: &[(&str, Value)]| {
            let entries = entries.iter().map(|(key, value)| ((*key).into(), value.clone())).collect();
            Choice::read(&Value::Table(entries)).map_err(|errors| errors.to_string())
        };
        let named = |name: &str| ("name", Value::Text(name.into()));
        let dctcp = table(&[("g", Value::Number(0.5)), named("dctcp")]);
        assert_eq!(dctcp.as_ref().map(Quantity::write), Ok(Value::Text("dctcp:g=0.5".into())));
        assert_eq!(dctcp, Ok(Choice::parse("dctcp:g=0.5").unwrap()));
        for (entries, expected) in [
            (
                vec![],
                "name: is missing; expected the name of a congestion control, as in { name = \"cubic\" }",
            ),
            (vec![("name", Value::Whole(7))], "name: 7 is not text"),
            (vec![named("cubik")], "name: \"cubik\" is not a congestion control; did you mean \"cubic\"?"),
            (
                vec![named("dctcp"), ("g", Value::Number(0.0))],
                "g: 0.0 is out of range; expected more than 0, at most 1",
            ),
        ] {
            let error = table(&entries).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        let error = Choice::read(&Value::Flag(true)).unwrap_err().to_string();
        assert_eq!(error, "true is not a congestion control; write it like \"cubic:hystart=false\"");
    }

    #[test]
    fn the_sack_setting_overrides_the_paired_recovery() {
        let recovery = |name: &str, sack| Choice::from(name).recovery(sack);
        assert_eq!(recovery("reno", None), Recovery::Reno);
        assert_eq!(recovery("reno", Some(true)), Recovery::Sack);
        assert_eq!(recovery("cubic", None), Recovery::Sack);
        assert_eq!(recovery("cubic", Some(false)), Recovery::NewReno);
    }

    #[test]
    fn abe_is_a_parameter_of_the_curves_of_losses() {
        let has_abe = |spec: &str| Choice::parse(spec).unwrap().has_abe();
        assert!(["reno:abe=true", "newreno:abe=true", "cubic:abe=true"].into_iter().all(has_abe));
        assert!(!["reno", "newreno", "cubic", "dctcp", "scalable"].into_iter().any(has_abe));
    }

    #[test]
    fn only_dctcp_has_feedback_per_segment() {
        for entry in CCS {
            let choice = Choice::from(entry.page.stem);
            assert_eq!(choice.feedback() == Feedback::PerSegment, entry.page.stem == "dctcp");
        }
    }
}
