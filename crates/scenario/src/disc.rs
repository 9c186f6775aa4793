//! A disc and its law, as people write them.

use sojourn_aqm::{Law, Site, catalogue};
use sojourn_units::spec::plain;
use sojourn_units::{Fault, Spec, Value, did_you_mean};
use std::fmt;

/// A law and its given parameters: `"red:min=50 packets,max=150 packets"`.
///
/// What [`Display`](fmt::Display) prints is the disc's label: it reads back as
/// the same disc, with the parameters in the catalogue's order.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscSpec {
    /// The law's stem.
    pub law: String,
    /// The parameters that are given.
    pub params: Vec<(String, Value)>,
}

impl DiscSpec {
    /// Reads `"red:min=50packets,max=150packets"`; parameters are checked by [`DiscSpec::law_at`].
    pub fn parse(spec: &str) -> Result<DiscSpec, Fault> {
        let Spec { name, params } = Spec::parse(spec)?;
        DiscSpec::new(&name, params).map_err(|fault| Fault { key: String::new(), ..fault })
    }

    /// The disc of a law and parameters; refuses unknown laws and keys given twice.
    pub fn new(law: &str, params: Vec<(String, Value)>) -> Result<DiscSpec, Fault> {
        let stems = || catalogue::LAWS.iter().map(|entry| entry.page.stem);
        let entry = catalogue::law(law).ok_or_else(|| {
            let legal = stems().collect::<Vec<_>>().join(", ");
            if catalogue::DISCS.iter().any(|page| page.stem == law) {
                let what = format!(
                    "\"{law}\" is a disc, not a law: it stands under every law; \
                     \"{DEFAULT_LAW}\" leaves it unmanaged (legal: {legal})"
                );
                return Fault::new("law", what);
            }
            Fault::new(
                "law",
                format!("\"{law}\" is not a law{} (legal: {legal})", did_you_mean(law, stems())),
            )
        })?;
        let Spec { name, params } = Spec { name: law.into(), params }.in_order(&(entry.page.fields)())?;
        Ok(DiscSpec { law: name, params })
    }

    /// The law, built for its place.
    pub fn law_at(&self, site: &Site) -> Result<Box<dyn Law>, Fault> {
        let entry = catalogue::law(&self.law)
            .ok_or_else(|| Fault::new("law", format!("\"{}\" is not a law", self.law)))?;
        (entry.build)(&self.params, site)
    }

    /// All that is wrong with the parameters at this place.
    pub(crate) fn faults(&self, site: &Site) -> Vec<Fault> {
        let mut left = self.clone();
        let mut faults: Vec<Fault> = Vec::new();
        // A law tells its first fault. Without the key that it names it may tell another; a fault of a key that is no
        // longer there, or one that reckons with the default of such a key, would only follow from those told.
        while let Err(mut fault) = left.law_at(site) {
            let given = left.params.iter().position(|(key, _)| *key == fault.key);
            let follows = faults.iter().any(|told| reckons_with(&fault.what, &told.key));
            match given {
                Some(place) => drop(left.params.remove(place)),
                None if !faults.is_empty() => break,
                None => self.name_default(&mut fault),
            }
            if follows {
                continue;
            }
            faults.push(fault);
            if given.is_none() {
                break;
            }
        }
        faults
    }

    /// Says of a value that nobody wrote that it is the default.
    fn name_default(&self, fault: &mut Fault) {
        let fields = catalogue::law(&self.law).map(|entry| (entry.page.fields)()).unwrap_or_default();
        let Some(field) = fields.iter().find(|field| field.key == fault.key) else { return };
        if let Some(rest) = fault.what.strip_prefix(&plain(&field.default)) {
            fault.what = format!("{} (the default){rest}", plain(&field.default));
        }
    }
}

/// Whether what is said names a value of the key: `max = 3 min = 60 packets is above the buffer`.
fn reckons_with(what: &str, key: &str) -> bool {
    let is_word = |text: &str| !text.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    what.match_indices(&format!("{key} = ")).any(|(place, _)| is_word(&what[..place]))
}

impl Default for DiscSpec {
    fn default() -> DiscSpec {
        DiscSpec { law: DEFAULT_LAW.into(), params: Vec::new() }
    }
}

impl fmt::Display for DiscSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Spec { name: self.law.clone(), params: self.params.clone() }.fmt(f)
    }
}

/// The law of a queue that nobody manages.
pub(crate) const DEFAULT_LAW: &str = "tail_drop";

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::{Rate, Span};

    fn site() -> Site {
        let rate = Rate::from_bits_per_second(8e6);
        Site { rate, packet: 1000.0, limit: 300.0, flows: Some(50.0), base_rtt: Some(Span::from_millis(200)) }
    }

    #[test]
    fn a_label_is_canonical_and_reads_back() {
        let written = "red:gentle=false, max=150packets,min= 50 packets,max_p=1e-1,weight=1";
        let disc = DiscSpec::parse(written).unwrap();
        assert_eq!(disc.to_string(), "red:min=50 packets,max=150 packets,weight=1,max_p=0.1,gentle=false");
        assert_eq!(DiscSpec::parse(&disc.to_string()), Ok(disc));
        assert_eq!(DiscSpec::parse("pi").unwrap().to_string(), "pi");
        let tiny = DiscSpec::parse("pi:a=1.822e-5,b=1.816e-5,rate=160Hz").unwrap();
        assert_eq!(tiny.to_string(), "pi:a=1.822e-5,b=1.816e-5,rate=160 Hz");
        assert_eq!(DiscSpec::parse(&tiny.to_string()), Ok(tiny));
    }

    #[test]
    fn a_list_stands_in_brackets() {
        let disc = DiscSpec::parse("arm_pfc:base=ramp,coincidence=[8,12], psi=0.9").unwrap();
        assert_eq!(disc.to_string(), "arm_pfc:coincidence=[8, 12],base=ramp,psi=0.9");
        assert_eq!(DiscSpec::parse(&disc.to_string()), Ok(disc.clone()));
        assert!(disc.faults(&site()).is_empty());
        assert_eq!(DiscSpec::parse("arm_pfc:coincidence=8").unwrap().to_string(), "arm_pfc:coincidence=[8]");
        for (spec, hint) in [
            ("arm_pfc:coincidence=[]", "[] is out of range; legal: one or two, ascending"),
            ("arm_pfc:coincidence=[8,x]", "\"x\" is not a whole number"),
            ("arm_pfc:coincidence=[12,8]", "[12, 8] is out of range"),
            ("arm_pfc:coincidence=[8,12", "\"[8,12\" is not a list of whole numbers; write it like [7, 9]"),
            (
                "arm_pfc:form=inedp",
                "\"inedp\" is none of the words; did you mean \"indep\"? (legal: indep, paper)",
            ),
        ] {
            let fault = &DiscSpec::parse(spec).unwrap().faults(&site())[0];
            assert!(fault.what.starts_with(hint), "{spec}: {fault}");
        }
    }

    #[test]
    fn specs_that_are_none_are_refused() {
        for (spec, hint) in [
            ("rde", "\"rde\" is not a law; did you mean \"red\"? (legal: tail_drop"),
            ("", "\"\" is not a law (legal: tail_drop"),
            (
                "fifo",
                "\"fifo\" is a disc, not a law: it stands under every law; \"tail_drop\" leaves it unmanaged (",
            ),
            ("red:", "\"\" is not KEY=VALUE; legal: NAME"),
            ("red:min", "\"min\" is not KEY=VALUE"),
            ("red:min=5packets,min=6packets", "\"min\" is given twice"),
        ] {
            let fault = DiscSpec::parse(spec).unwrap_err();
            assert!(fault.key.is_empty() && fault.what.starts_with(hint), "{spec}: {fault}");
        }
    }

    #[test]
    fn every_fault_of_the_parameters_is_told_once() {
        let disc = DiscSpec::parse("red:min=50,weight=7,gentel=true,max=150packets").unwrap();
        let keys: Vec<String> = disc.faults(&site()).into_iter().map(|fault| fault.key).collect();
        assert_eq!(keys, ["min", "weight", "gentel"]);
        let disc = DiscSpec::parse("pi:a=-1,b=0.5").unwrap();
        assert_eq!(disc.faults(&site()).len(), 1);
        let disc = DiscSpec::parse("pi:a=1").unwrap();
        assert_eq!(disc.faults(&site())[0].key, "b");
        // Without the max that does not fit there would be one of three times min.
        let disc = DiscSpec::parse("red:min=200packets,max=400packets").unwrap();
        let told: Vec<String> = disc.faults(&site()).iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("max: 400 packets is above the buffer of 300 packets"), "{told:?}");
        assert!(DiscSpec::default().faults(&site()).is_empty());
    }

    #[test]
    fn a_default_that_does_not_fit_is_called_the_default() {
        let told = |spec: &str| DiscSpec::parse(spec).unwrap().faults(&site())[0].what.clone();
        let rest = "is not below interval = 3 ms; legal: more than 0, less than interval";
        assert_eq!(told("codel:interval=3ms"), format!("5 ms (the default) {rest}"));
        assert_eq!(told("codel:interval=3ms,target=5ms"), format!("5 ms {rest}"));
    }

    #[test]
    fn every_law_has_defaults_that_fit_a_short_buffer_and_a_place_of_which_nothing_is_known() {
        let small = Site { limit: 2.0, flows: None, base_rtt: None, ..site() };
        for entry in catalogue::LAWS {
            let faults = DiscSpec::new(entry.page.stem, Vec::new()).unwrap().faults(&small);
            assert_eq!(faults, [], "{}", entry.page.stem);
        }
    }
}
