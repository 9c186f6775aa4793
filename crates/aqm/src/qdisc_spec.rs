//! Text form of a qdisc and its law.

use crate::{Law, LinkContext, catalogue};
use sojourn_params::spec::plain;
use sojourn_params::{InputError, Spec, Value};
use sojourn_units::did_you_mean;
use std::fmt;

/// A law and its parameters: `"red:min=50 packets,max=150 packets"`.
///
/// [`Display`](fmt::Display) prints the qdisc's label, which reads back as
/// the same qdisc, with the parameters in the catalogue's order.
#[derive(Clone, Debug, PartialEq)]
pub struct QdiscSpec {
    /// The law's stem.
    pub law: String,
    /// Parameters with a value.
    pub params: Vec<(String, Value)>,
}

impl QdiscSpec {
    /// Reads `"red:min=50packets,max=150packets"`; parameters are checked by [`QdiscSpec::law_at`].
    pub fn parse(spec: &str) -> Result<QdiscSpec, InputError> {
        let Spec { name, params } = Spec::parse(spec)?;
        QdiscSpec::new(&name, params).map_err(|error| InputError { key: String::new(), ..error })
    }

    /// The qdisc of a law and parameters; an error for unknown laws and repeated keys.
    pub fn new(law: &str, params: Vec<(String, Value)>) -> Result<QdiscSpec, InputError> {
        let stems = || catalogue::LAWS.iter().map(|entry| entry.page.stem);
        let entry = catalogue::law(law).ok_or_else(|| {
            let expected = stems().collect::<Vec<_>>().join(", ");
            if catalogue::QDISCS.iter().any(|page| page.stem == law) {
                let message = format!(
                    "\"{law}\" is a qdisc, not a law: every law runs in it; \
                     \"{DEFAULT_LAW}\" leaves it unmanaged (expected {expected})"
                );
                return InputError::new("law", message);
            }
            InputError::new(
                "law",
                format!("\"{law}\" is not a law{} (expected {expected})", did_you_mean(law, stems())),
            )
        })?;
        let Spec { name, params } = Spec { name: law.into(), params }.in_order(&(entry.page.fields)())?;
        Ok(QdiscSpec { law: name, params })
    }

    /// The law, built for `context`.
    pub fn law_at(&self, context: &LinkContext) -> Result<Box<dyn Law>, InputError> {
        let entry = catalogue::law(&self.law)
            .ok_or_else(|| InputError::new("law", format!("\"{}\" is not a law", self.law)))?;
        (entry.build)(&self.params, context)
    }

    /// Errors of the parameters in this context.
    pub fn errors(&self, context: &LinkContext) -> Vec<InputError> {
        let mut left = self.clone();
        let mut errors: Vec<InputError> = Vec::new();
        // A law reports its first error. Without that key it may report another; errors of a key that is gone, or that
        // refer to the default of such a key, are consequences of those before.
        while let Err(mut error) = left.law_at(context) {
            let given = left.params.iter().position(|(key, _)| *key == error.key);
            let follows = errors.iter().any(|text| names_value(&error.message, &text.key));
            match given {
                Some(place) => drop(left.params.remove(place)),
                None if !errors.is_empty() => break,
                None => self.name_default(&mut error),
            }
            if follows {
                continue;
            }
            errors.push(error);
            if given.is_none() {
                break;
            }
        }
        errors
    }

    /// Marks a default in an error message as such.
    fn name_default(&self, error: &mut InputError) {
        let fields = catalogue::law(&self.law).map(|entry| (entry.page.fields)()).unwrap_or_default();
        let Some(field) = fields.iter().find(|field| field.key == error.key) else { return };
        if let Some(remainder) = error.message.strip_prefix(&plain(&field.default)) {
            error.message = format!("{} (the default){remainder}", plain(&field.default));
        }
    }
}

/// True where a message names a value of the key: `max = 3 min = 60 packets is above the buffer`.
fn names_value(message: &str, key: &str) -> bool {
    let is_word = |text: &str| !text.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    message.match_indices(&format!("{key} = ")).any(|(place, _)| is_word(&message[..place]))
}

impl Default for QdiscSpec {
    fn default() -> QdiscSpec {
        QdiscSpec { law: DEFAULT_LAW.into(), params: Vec::new() }
    }
}

impl fmt::Display for QdiscSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Spec { name: self.law.clone(), params: self.params.clone() }.fmt(f)
    }
}

/// Law of an unmanaged queue.
pub const DEFAULT_LAW: &str = "tail_drop";

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::{Rate, Span};

    fn context() -> LinkContext {
        let rate = Rate::from_bits_per_second(8e6);
        LinkContext {
            rate,
            packet: 1000.0,
            limit: 300.0,
            flows: Some(50.0),
            base_rtt: Some(Span::from_millis(200)),
        }
    }

    #[test]
    fn a_label_is_canonical_and_reads_back() {
        let written = "red:gentle=false, max=150packets,min= 50 packets,max_p=1e-1,weight=1";
        let qdisc = QdiscSpec::parse(written).unwrap();
        assert_eq!(qdisc.to_string(), "red:min=50 packets,max=150 packets,weight=1,max_p=0.1,gentle=false");
        assert_eq!(QdiscSpec::parse(&qdisc.to_string()), Ok(qdisc));
        assert_eq!(QdiscSpec::parse("pi").unwrap().to_string(), "pi");
        let tiny = QdiscSpec::parse("pi:a=1.822e-5,b=1.816e-5,rate=160Hz").unwrap();
        assert_eq!(tiny.to_string(), "pi:a=1.822e-5,b=1.816e-5,rate=160 Hz");
        assert_eq!(QdiscSpec::parse(&tiny.to_string()), Ok(tiny));
    }

    #[test]
    fn a_list_is_in_brackets() {
        let qdisc = QdiscSpec::parse("arm_pfc:base=ramp,coincidence=[8,12], psi=0.9").unwrap();
        assert_eq!(qdisc.to_string(), "arm_pfc:coincidence=[8, 12],base=ramp,psi=0.9");
        assert_eq!(QdiscSpec::parse(&qdisc.to_string()), Ok(qdisc.clone()));
        assert!(qdisc.errors(&context()).is_empty());
        assert_eq!(QdiscSpec::parse("arm_pfc:coincidence=8").unwrap().to_string(), "arm_pfc:coincidence=[8]");
        for (spec, hint) in [
            ("arm_pfc:coincidence=[]", "[] is out of range; expected one or two, ascending"),
            ("arm_pfc:coincidence=[8,x]", "\"x\" is not a whole number"),
            ("arm_pfc:coincidence=[12,8]", "[12, 8] is out of range"),
            ("arm_pfc:coincidence=[8,12", "\"[8,12\" is not a list of whole numbers; write it like [7, 9]"),
            (
                "arm_pfc:form=inedp",
                "\"inedp\" is none of the words; did you mean \"indep\"? (expected indep, paper)",
            ),
        ] {
            let error = &QdiscSpec::parse(spec).unwrap().errors(&context())[0];
            assert!(error.message.starts_with(hint), "{spec}: {error}");
        }
    }

    #[test]
    fn invalid_specs_are_refused() {
        for (spec, hint) in [
            ("rde", "\"rde\" is not a law; did you mean \"red\"? (expected tail_drop"),
            ("", "\"\" is not a law (expected tail_drop"),
            (
                "fifo",
                "\"fifo\" is a qdisc, not a law: every law runs in it; \"tail_drop\" leaves it unmanaged (",
            ),
            ("red:", "\"\" is not KEY=VALUE; expected NAME"),
            ("red:min", "\"min\" is not KEY=VALUE"),
            ("red:min=5packets,min=6packets", "\"min\" is given twice"),
        ] {
            let error = QdiscSpec::parse(spec).unwrap_err();
            assert!(error.key.is_empty() && error.message.starts_with(hint), "{spec}: {error}");
        }
    }

    #[test]
    fn every_error_of_the_parameters_is_reported_once() {
        let qdisc = QdiscSpec::parse("red:min=50,weight=7,gentel=true,max=150packets").unwrap();
        let keys: Vec<String> = qdisc.errors(&context()).into_iter().map(|error| error.key).collect();
        assert_eq!(keys, ["min", "weight", "gentel"]);
        let qdisc = QdiscSpec::parse("pi:a=-1,b=0.5").unwrap();
        assert_eq!(qdisc.errors(&context()).len(), 1);
        let qdisc = QdiscSpec::parse("pi:a=1").unwrap();
        assert_eq!(qdisc.errors(&context())[0].key, "b");
        // Without that max the error would be that of three times min.
        let qdisc = QdiscSpec::parse("red:min=200packets,max=400packets").unwrap();
        let text: Vec<String> = qdisc.errors(&context()).iter().map(ToString::to_string).collect();
        assert_eq!(text.len(), 1, "{text:?}");
        assert!(text[0].starts_with("max: 400 packets is above the buffer of 300 packets"), "{text:?}");
        assert!(QdiscSpec::default().errors(&context()).is_empty());
    }

    #[test]
    fn an_error_marks_a_default_as_such() {
        let text = |spec: &str| QdiscSpec::parse(spec).unwrap().errors(&context())[0].message.clone();
        let message = "is not below interval = 3 ms; expected more than 0, less than interval";
        assert_eq!(text("codel:interval=3ms"), format!("5 ms (the default) {message}"));
        assert_eq!(text("codel:interval=3ms,target=5ms"), format!("5 ms {message}"));
    }

    #[test]
    fn the_defaults_of_every_law_fit_a_short_buffer_and_unknown_traffic() {
        let small = LinkContext { limit: 2.0, flows: None, base_rtt: None, ..context() };
        for entry in catalogue::LAWS {
            let errors = QdiscSpec::new(entry.page.stem, Vec::new()).unwrap().errors(&small);
            assert_eq!(errors, [], "{}", entry.page.stem);
        }
    }
}
