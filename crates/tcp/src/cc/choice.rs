//! Which congestion control a sender has.

use super::{CongestionControl, Curve, Entry, Feedback, Recovery};
use crate::catalogue::{self, CCS};
use crate::profile::Profile;
use sojourn_units::{Fault, Spec, Value, did_you_mean};
use std::fmt;
use std::sync::Arc;

/// A congestion control of the catalogue with its given parameters, or a guest.
///
/// What [`Display`](fmt::Display) prints is its label; that of a listed one reads back as the same.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// One of the catalogue; what is wrong with it is told where it is built.
    Listed(Spec),
    /// One that is not in the catalogue.
    Guest(Guest),
}

/// A congestion control from outside this crate. Two are the same where they have the same builder.
#[derive(Clone)]
pub struct Guest {
    /// What it is called.
    pub name: String,
    /// How losses after the first one of a window are repaired.
    pub recovery: Recovery,
    /// What it needs to hear from the receiver about marks.
    pub feedback: Feedback,
    /// Builds it for a profile and segments of so many bytes of payload.
    pub build: Arc<BuildGuest>,
}

/// Builds a guest.
pub type BuildGuest = dyn Fn(&Profile, u32) -> Box<dyn CongestionControl> + Send + Sync;

impl Choice {
    /// Reads `"cubic"` or `"cubic:hystart=false"`, and checks it.
    pub fn parse(spec: &str) -> Result<Choice, Fault> {
        let Spec { name, params } = Spec::parse(spec)?;
        entry(&name).map_err(|fault| Fault { key: String::new(), ..fault })?;
        Choice::new(&name, params)
    }

    /// The control called `name`, with parameters; refuses unknown names and parameters that are wrong.
    pub fn new(name: &str, params: Vec<(String, Value)>) -> Result<Choice, Fault> {
        let entry = entry(name)?;
        let choice = Choice::Listed(Spec { name: name.into(), params }.in_order(&(entry.page.fields)())?);
        choice.build(&Profile::default(), 1460)?;
        Ok(choice)
    }

    /// Its stem in the catalogue, or the guest's name.
    pub fn name(&self) -> &str {
        match self {
            Choice::Listed(spec) => &spec.name,
            Choice::Guest(guest) => &guest.name,
        }
    }

    /// The parameters that are given.
    pub fn params(&self) -> &[(String, Value)] {
        match self {
            Choice::Listed(spec) => &spec.params,
            Choice::Guest(_) => &[],
        }
    }

    /// The recovery that it is paired with, or that `sack` asks for.
    pub fn recovery(&self, sack: Option<bool>) -> Result<Recovery, Fault> {
        let paired = match self {
            Choice::Listed(spec) => entry(&spec.name)?.recovery,
            Choice::Guest(guest) => guest.recovery,
        };
        Ok(match sack {
            Some(true) => Recovery::Sack,
            Some(false) if paired == Recovery::Sack => Recovery::NewReno,
            _ => paired,
        })
    }

    /// What it needs to hear from the receiver about marks.
    pub fn feedback(&self) -> Feedback {
        match self {
            Choice::Listed(spec) => entry(&spec.name).map_or(Feedback::Classic, |entry| entry.feedback),
            Choice::Guest(guest) => guest.feedback,
        }
    }

    /// The curve, for a profile and segments of `mss` bytes of payload.
    pub fn build(&self, profile: &Profile, mss: u32) -> Result<Curve, Fault> {
        match self {
            Choice::Listed(spec) => (entry(&spec.name)?.build)(&spec.params, profile, mss),
            Choice::Guest(guest) => Ok(Curve::Guest((guest.build)(profile, mss))),
        }
    }
}

fn entry(name: &str) -> Result<&'static Entry, Fault> {
    catalogue::cc(name).ok_or_else(|| {
        let stems = || CCS.iter().map(|entry| entry.page.stem);
        let (hint, legal) = (did_you_mean(name, stems()), stems().collect::<Vec<_>>().join(", "));
        Fault::new("name", format!("\"{name}\" is no known congestion control{hint} (legal: {legal})"))
    })
}

/// The control of that name with its defaults; a sender refuses one that does not exist.
impl From<&str> for Choice {
    fn from(name: &str) -> Choice {
        Choice::Listed(Spec { name: name.into(), params: Vec::new() })
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Listed(spec) => spec.fmt(f),
            Choice::Guest(guest) => f.write_str(&guest.name),
        }
    }
}

impl PartialEq for Guest {
    fn eq(&self, other: &Guest) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.build, &other.build)
    }
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guest({})", self.name)
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
    fn what_does_not_exist_or_does_not_go_together_is_refused_in_a_line() {
        for (spec, said) in [
            (
                "cubik",
                ": \"cubik\" is no known congestion control; did you mean \"cubic\"? (legal: reno, newreno",
            ),
            ("cubic:histart=false", "histart: unknown key; did you mean \"hystart\"? (legal: hystart, abe)"),
            ("dctcp:abe=true", "abe: unknown key (legal: g, alpha)"),
            ("dctcp:g=0", "g: 0.0 is out of range; legal: 0 < g <= 1 (RFC 8257"),
            ("scalable:b=1", "b: 1.0 is out of range; legal: 0 < b < 1"),
            ("reno:abe=0.8", "abe: 0.8 is neither true nor false; legal: true or false"),
            ("reno:abe=true,abe=false", "abe: \"abe\" is given twice"),
            ("reno:abe", ": \"abe\" is not KEY=VALUE"),
        ] {
            let fault = Choice::parse(spec).unwrap_err().to_string();
            assert!(fault.starts_with(said), "{spec}: {fault}");
        }
    }

    #[test]
    fn what_is_asked_of_the_sender_goes_before_what_the_source_pairs() {
        let recovery = |name: &str, sack| Choice::from(name).recovery(sack).unwrap();
        assert_eq!(recovery("reno", None), Recovery::Reno);
        assert_eq!(recovery("reno", Some(true)), Recovery::Sack);
        assert_eq!(recovery("cubic", None), Recovery::Sack);
        assert_eq!(recovery("cubic", Some(false)), Recovery::NewReno);
        assert!(Choice::from("cubik").recovery(None).is_err());
    }

    #[test]
    fn dctcp_alone_hears_of_each_segment() {
        for entry in CCS {
            let choice = Choice::from(entry.page.stem);
            assert_eq!(choice.feedback() == Feedback::PerSegment, entry.page.stem == "dctcp");
            assert!(choice.build(&Profile::default(), 1460).is_ok());
        }
    }
}
