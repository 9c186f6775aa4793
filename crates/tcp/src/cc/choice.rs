//! Selection of a sender's congestion control.

use super::{CongestionControl, Curve, Entry, Feedback, Recovery};
use crate::catalogue::{self, CCS};
use crate::profile::Profile;
use sojourn_params::{InputError, Spec, Value};
use sojourn_units::did_you_mean;
use std::fmt;
use std::sync::Arc;

/// Congestion control of the catalogue with its given parameters, or a custom one.
///
/// [`Display`](fmt::Display) prints its label; that of a listed one parses back to the same.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// One of the catalogue; validated where it is built.
    Listed(Spec),
    /// One that is not in the catalogue.
    Custom(Custom),
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
    /// Parses and validates `"cubic"` or `"cubic:hystart=false"`.
    pub fn parse(spec: &str) -> Result<Choice, InputError> {
        let Spec { name, params } = Spec::parse(spec)?;
        entry(&name).map_err(|error| InputError { key: String::new(), ..error })?;
        Choice::new(&name, params)
    }

    /// Creates the control called `name` with parameters; refuses unknown names and invalid parameters.
    pub fn new(name: &str, params: Vec<(String, Value)>) -> Result<Choice, InputError> {
        let entry = entry(name)?;
        let choice = Choice::Listed(Spec { name: name.into(), params }.in_order(&(entry.page.fields)())?);
        choice.build(&Profile::default(), 1460)?;
        Ok(choice)
    }

    /// Stem in the catalogue, or name of the custom control.
    pub fn name(&self) -> &str {
        match self {
            Choice::Listed(spec) => &spec.name,
            Choice::Custom(custom) => &custom.name,
        }
    }

    /// Given parameters.
    pub fn params(&self) -> &[(String, Value)] {
        match self {
            Choice::Listed(spec) => &spec.params,
            Choice::Custom(_) => &[],
        }
    }

    /// Recovery that it is paired with, or that `sack` requests.
    pub fn recovery(&self, sack: Option<bool>) -> Result<Recovery, InputError> {
        let paired = match self {
            Choice::Listed(spec) => entry(&spec.name)?.recovery,
            Choice::Custom(custom) => custom.recovery,
        };
        Ok(match sack {
            Some(true) => Recovery::Sack,
            Some(false) if paired == Recovery::Sack => Recovery::NewReno,
            _ => paired,
        })
    }

    /// Feedback on ECN marks that it needs from the receiver.
    pub fn feedback(&self) -> Feedback {
        match self {
            Choice::Listed(spec) => entry(&spec.name).map_or(Feedback::Classic, |entry| entry.feedback),
            Choice::Custom(custom) => custom.feedback,
        }
    }

    /// Builds the curve for a profile and segments of `mss` bytes of payload.
    pub fn build(&self, profile: &Profile, mss: u32) -> Result<Curve, InputError> {
        match self {
            Choice::Listed(spec) => (entry(&spec.name)?.build)(&spec.params, profile, mss),
            Choice::Custom(custom) => Ok(Curve::Custom((custom.build)(profile, mss))),
        }
    }
}

fn entry(name: &str) -> Result<&'static Entry, InputError> {
    catalogue::cc(name).ok_or_else(|| {
        let stems = || CCS.iter().map(|entry| entry.page.stem);
        let (hint, expected) = (did_you_mean(name, stems()), stems().collect::<Vec<_>>().join(", "));
        InputError::new(
            "name",
            format!("\"{name}\" is no known congestion control{hint} (expected {expected})"),
        )
    })
}

/// The control of that name with its defaults; a sender refuses an unknown one.
impl From<&str> for Choice {
    fn from(name: &str) -> Choice {
        Choice::Listed(Spec { name: name.into(), params: Vec::new() })
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Listed(spec) => spec.fmt(f),
            Choice::Custom(custom) => f.write_str(&custom.name),
        }
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
                ": \"cubik\" is no known congestion control; did you mean \"cubic\"? (expected reno, newreno",
            ),
            (
                "cubic:histart=false",
                "histart: unknown key; did you mean \"hystart\"? (expected hystart, abe)",
            ),
            ("dctcp:abe=true", "abe: unknown key (expected g, alpha)"),
            ("dctcp:g=0", "g: 0.0 is out of range; expected 0 < g <= 1 (RFC 8257"),
            ("scalable:b=1", "b: 1.0 is out of range; expected 0 < b < 1"),
            ("reno:abe=0.8", "abe: 0.8 is neither true nor false; expected true or false"),
            ("reno:abe=true,abe=false", "abe: \"abe\" is given twice"),
            ("reno:abe", ": \"abe\" is not KEY=VALUE"),
        ] {
            let error = Choice::parse(spec).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{spec}: {error}");
        }
    }

    #[test]
    fn the_sack_setting_overrides_the_paired_recovery() {
        let recovery = |name: &str, sack| Choice::from(name).recovery(sack).unwrap();
        assert_eq!(recovery("reno", None), Recovery::Reno);
        assert_eq!(recovery("reno", Some(true)), Recovery::Sack);
        assert_eq!(recovery("cubic", None), Recovery::Sack);
        assert_eq!(recovery("cubic", Some(false)), Recovery::NewReno);
        assert!(Choice::from("cubik").recovery(None).is_err());
    }

    #[test]
    fn only_dctcp_has_feedback_per_segment() {
        for entry in CCS {
            let choice = Choice::from(entry.page.stem);
            assert_eq!(choice.feedback() == Feedback::PerSegment, entry.page.stem == "dctcp");
            assert!(choice.build(&Profile::default(), 1460).is_ok());
        }
    }
}
