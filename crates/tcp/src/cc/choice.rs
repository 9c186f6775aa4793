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
