//! A law with its parameters, as read.

use crate::catalogue::{LAW_CATALOGUE, LAWS};
use crate::entry::{Designed, Entry};
use crate::link_context::LinkContext;
use sojourn_params::{Errors, Given, InputError, Kind, Params, Quantity, Spec, Value};
use std::fmt;

/// A law and its parameters: `"red:min=50 packets,max=150 packets"`.
///
/// [`Display`](fmt::Display) prints the qdisc's label, which reads back as
/// the same qdisc, with the parameters in the catalogue's order. Two are equal if all their parameters are, given or
/// not.
#[derive(Clone)]
pub struct LawSpec {
    entry: &'static Entry,
    given: Given,
}

impl LawSpec {
    /// Reads `"red:min=50packets,max=150packets"`.
    pub fn parse(spec: &str) -> Result<LawSpec, Errors> {
        LawSpec::read(&Value::Text(spec.into()))
    }

    /// The qdisc of a law and given parameters; an error of the law is at the key `law`.
    pub fn new(law: &str, params: &[(String, Value)]) -> Result<LawSpec, Errors> {
        let place = LAW_CATALOGUE.place(law).map_err(|error| error.at("law"))?;
        LawSpec::of(&LAWS[place], params)
    }

    /// The law of an entry with parameters that it has read.
    pub(crate) fn of_given(entry: &'static Entry, given: Given) -> LawSpec {
        LawSpec { entry, given }
    }

    fn of(entry: &'static Entry, params: &[(String, Value)]) -> Result<LawSpec, Errors> {
        Ok(LawSpec { entry, given: (entry.read)(params)? })
    }

    /// The law's stem.
    pub fn law(&self) -> &'static str {
        self.entry.page.stem
    }

    /// The law's entry.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// All parameters.
    pub fn params(&self) -> &dyn Params {
        self.given.params.as_ref()
    }

    /// All parameters, and which were given.
    pub fn given(&self) -> &Given {
        &self.given
    }

    /// The given parameters, in the catalogue's order.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, Value)> + '_ {
        self.given.values()
    }

    /// A change of its law: these parameters alone.
    pub fn change(&self, params: &[(String, Value)]) -> Result<Given, Errors> {
        (self.entry.read)(params)
    }

    /// This law with the parameters that a change of it gives.
    pub fn with(&self, change: &Given) -> Result<LawSpec, InputError> {
        Ok(LawSpec { entry: self.entry, given: self.given.with(change)? })
    }

    /// The same law in its shortest form: only parameters that differ from their defaults are given.
    pub fn shortest(&self) -> LawSpec {
        LawSpec { entry: self.entry, given: self.given.shortest() }
    }

    /// Designs the law for a link.
    pub fn design(&self, context: &LinkContext) -> Result<Designed, InputError> {
        (self.entry.design)(self.params(), context).map_err(|error| self.marked(error))
    }

    /// The error with its value marked as a default, if it is one.
    pub(crate) fn marked(&self, error: InputError) -> InputError {
        let is_given = self.given.keys.iter().any(|key| *key == error.key);
        match &error.found {
            Some(found) if !is_given => {
                let found = format!("{found} (the default)");
                error.found(found)
            }
            _ => error,
        }
    }
}

impl PartialEq for LawSpec {
    fn eq(&self, other: &LawSpec) -> bool {
        self.law() == other.law() && self.given.params.equals(other.params())
    }
}

impl fmt::Display for LawSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = self.values().map(|(key, value)| (key.into(), value)).collect();
        Spec { name: self.law().into(), params }.fmt(f)
    }
}

impl fmt::Debug for LawSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LawSpec({self})")
    }
}

impl Quantity for LawSpec {
    fn kind() -> Kind {
        Kind::Entry(&LAW_CATALOGUE)
    }
    fn read(value: &Value) -> Result<LawSpec, Errors> {
        let chosen = LAW_CATALOGUE.choose(value)?;
        let entry = &LAWS[chosen.place];
        chosen.read(|params| LawSpec::of(entry, params))
    }
    fn write(&self) -> Value {
        Value::Text(self.to_string())
    }
    fn after(&self, change: &LawSpec) -> LawSpec {
        let same = self.with(&change.given).ok().filter(|_| self.law() == change.law());
        same.unwrap_or_else(|| change.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::{Span, Time};

    fn context() -> LinkContext {
        LinkContext { flows: Some(50.0), base_rtt: Some(Span::from_millis(200)), ..LinkContext::example() }
    }

    fn messages(spec: &str) -> Vec<String> {
        let read = LawSpec::parse(spec).and_then(|qdisc| Ok(qdisc.design(&context())?));
        read.err().into_iter().flatten().map(|error| error.to_string()).collect()
    }

    #[test]
    fn a_label_is_canonical_and_reads_back() {
        let written = "red:gentle=false, max=150packets,min= 50 packets,max_p=1e-1,weight=1";
        let qdisc = LawSpec::parse(written).unwrap();
        assert_eq!(qdisc.to_string(), "red:min=50 packets,max=150 packets,weight=1,max_p=0.1,gentle=false");
        assert_eq!(LawSpec::parse(&qdisc.to_string()), Ok(qdisc));
        assert_eq!(LawSpec::parse("pi").unwrap().to_string(), "pi");
        let tiny = LawSpec::parse("pi:a=1.822e-5,b=1.816e-5,rate=160Hz").unwrap();
        assert_eq!(tiny.to_string(), "pi:a=1.822e-5,b=1.816e-5,rate=160 Hz");
        assert_eq!(LawSpec::parse(&tiny.to_string()), Ok(tiny));
    }

    #[test]
    fn a_list_is_in_brackets() {
        let qdisc = LawSpec::parse("arm_pfc:base=ramp,coincidence=[8,12], psi=0.9").unwrap();
        assert_eq!(qdisc.to_string(), "arm_pfc:coincidence=[8, 12],base=ramp,psi=0.9");
        assert_eq!(LawSpec::parse(&qdisc.to_string()), Ok(qdisc.clone()));
        assert!(qdisc.design(&context()).is_ok());
        assert_eq!(LawSpec::parse("arm_pfc:coincidence=8").unwrap().to_string(), "arm_pfc:coincidence=[8]");
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
            let error = LawSpec::parse(spec).unwrap_err().first().message();
            assert!(error.starts_with(hint), "{spec}: {error}");
        }
    }

    #[test]
    fn a_table_names_the_law_and_its_parameters() {
        let text = |text: &str| Value::Text(text.into());
        let read = |entries: &[(&str, Value)]| {
            let entries = entries.iter().map(|(key, value)| ((*key).into(), value.clone())).collect();
            LawSpec::read(&Value::Table(entries)).map_err(|errors| errors.to_string())
        };
        let qdisc = read(&[("max", text("150packets")), ("law", text("red"))]).unwrap();
        assert_eq!(Ok(&qdisc), LawSpec::parse("red:max=150 packets").as_ref());
        assert_eq!(LawSpec::read(&qdisc.write()), Ok(qdisc.clone()));
        assert_eq!(read(&[("red", Value::Table(vec![("max".into(), text("150packets"))]))]), Ok(qdisc));
        let error = |entries: &[(&str, Value)]| read(entries).unwrap_err();
        assert!(
            error(&[("law", text("rde"))]).starts_with("law: \"rde\" is not a law; did you mean \"red\"?")
        );
        assert!(
            error(&[("min", text("1 packet"))]).starts_with("law: is missing; expected the name of a law")
        );
        let nested = error(&[("red", Value::Table(vec![("mx".into(), text("150packets"))]))]);
        assert!(nested.starts_with("red.mx: unknown key; did you mean \"max\"?"), "{nested}");
        assert_eq!(error(&[("law", text("pi")), ("law", text("pi"))]), "law: is given twice; expected once");
        assert!(error(&[("law", Value::Whole(5))]).starts_with("law: 5 is not text"));
        let number = LawSpec::read(&Value::Whole(5)).unwrap_err().to_string();
        assert_eq!(number, "5 is not a law; write it like \"red:min=50packets,max=150packets\"");
    }

    #[test]
    fn a_change_replaces_what_it_gives() {
        let qdisc = LawSpec::parse("red:min=50packets,weight=0.1").unwrap();
        let value = |key: &str, value| [(String::from(key), value)];
        let change = qdisc.change(&value("weight", Value::Number(0.002))).unwrap();
        assert_eq!(change.values().collect::<Vec<_>>(), [("weight", Value::Number(0.002))]);
        assert_eq!(qdisc.with(&change).unwrap().to_string(), "red:min=50 packets,weight=0.002");
        let max = qdisc.change(&value("max", Value::Text("90 packets".into()))).unwrap();
        assert_eq!(qdisc.with(&max).unwrap().to_string(), "red:min=50 packets,max=90 packets,weight=0.1");
        assert_eq!(qdisc.change(&value("mx", Value::Flag(true))).unwrap_err().first().key, "mx");
    }

    #[test]
    fn parameters_of_another_law_are_an_error() {
        let [pi, red] = ["pi", "red"].map(|law| LawSpec::parse(law).unwrap());
        let change = red.change(&[("weight".into(), Value::Number(0.1))]).unwrap();
        let message = "parameters: are those of another entry of the catalogue; expected its own parameters";
        assert_eq!(pi.with(&change).unwrap_err().to_string(), message);
        for entry in LAWS.iter().filter(|entry| !(entry.page.fields)().is_empty()) {
            let own = LawSpec::new(entry.page.stem, &[]).unwrap();
            let other = if own.law() == "red" { &pi } else { &red };
            assert_eq!((entry.design)(other.params(), &context()).err().unwrap().to_string(), message);
            let mut law = own.design(&context()).unwrap().law();
            let error = law.set_params(Time::ZERO, other.given(), &context()).unwrap_err();
            assert_eq!(error.to_string(), message, "{}", entry.page.stem);
        }
    }

    #[test]
    fn qdiscs_are_equal_by_the_values_of_their_parameters() {
        let [plain, given, other] =
            ["red", "red:gentle=true", "red:gentle=false"].map(|spec| LawSpec::parse(spec).unwrap());
        assert_eq!(plain, given);
        assert_ne!(plain, other);
        assert_eq!(given.to_string(), "red:gentle=true");
        assert_eq!((given.shortest().to_string(), other.shortest()), ("red".into(), other));
    }

    #[test]
    fn invalid_specs_are_refused() {
        for (spec, hint) in [
            ("rde", "\"rde\" is not a law; did you mean \"red\"? (expected tail_drop"),
            ("", "\"\" is not a law (expected tail_drop"),
            ("fifo", "\"fifo\" is a qdisc, not a law ("),
            ("red:", "\"\" is not KEY=VALUE; expected NAME"),
            ("red:min", "\"min\" is not KEY=VALUE"),
            ("red:min=5packets,min=6packets", "min: is given twice"),
        ] {
            let error = LawSpec::parse(spec).unwrap_err().to_string();
            assert!(error.starts_with(hint), "{spec}: {error}");
        }
    }

    #[test]
    fn every_error_of_the_parameters_is_reported_once() {
        let errors = LawSpec::parse("red:min=50,weight=7,gentel=true,max=150packets").unwrap_err();
        let keys: Vec<String> = errors.into_iter().map(|error| error.key.to_string()).collect();
        assert_eq!(keys, ["min", "weight", "gentel"]);
        assert_eq!(messages("pi:a=-1,b=0.5").len(), 1);
        assert!(messages("pi:a=1")[0].starts_with("b: is missing beside the other gain"));
        let max = ["max: 400 packets is above the buffer of 300 packets; expected within the buffer"];
        assert_eq!(messages("red:min=200packets,max=400packets"), max);
        let many = format!("red:{}", ["min=1packet"; 101].join(","));
        assert_eq!(messages(&many), ["101 parameters are too many; expected at most 100"]);
        assert!(messages("tail_drop").is_empty());
    }

    #[test]
    fn an_error_marks_a_default_as_such() {
        let message = "is not below interval = 3 ms; expected more than 0, less than interval";
        assert_eq!(messages("codel:interval=3ms"), [format!("target: 5 ms (the default) {message}")]);
        assert_eq!(messages("codel:interval=3ms,target=5ms"), [format!("target: 5 ms {message}")]);
    }

    #[test]
    fn the_defaults_of_every_law_fit_a_short_buffer_and_unknown_traffic() {
        let small = LinkContext { limit: 2.0, flows: None, base_rtt: None, ..context() };
        for entry in LAWS {
            let law = LawSpec::new(entry.page.stem, &[]).unwrap().design(&small);
            assert_eq!(law.map(drop), Ok(()), "{}", entry.page.stem);
        }
    }
}
