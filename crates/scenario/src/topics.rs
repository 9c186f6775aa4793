//! What many keys of a scenario file have in common, told once, and what `sojourn explain` tells of it.

use crate::links::{Coding, Framing};
use sojourn_units::draw;

/// A thing that many keys are, or have.
#[derive(Clone, Copy, Debug)]
pub struct Topic {
    /// What it is called.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What is to be known of it, in a few sentences.
    pub idea: &'static str,
    /// Where it is defined; empty where it is Sojourn's own.
    pub source: &'static str,
    /// How it is written, and what that means.
    pub forms: fn() -> Vec<(String, String)>,
}

/// The topic of this name.
pub fn topic(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}

/// The first topic that has this as a word in one of its forms: `lte` is told under trace.
pub fn topic_with(word: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.has_word(word))
}

impl Topic {
    fn has_word(&self, name: &str) -> bool {
        (self.forms)().iter().any(|(form, _)| words(form).any(|word| word == name))
    }
}

/// The words of a form: its keys and the names of its models; what is in capitals, a number or a unit is none of them.
fn words(form: &str) -> impl Iterator<Item = &str> {
    let is_of_a_word = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    form.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(move |word| word.len() > 2 && word.chars().all(is_of_a_word))
        .filter(|word| *word != "true")
}

/// All of them.
pub const TOPICS: &[Topic] = &[
    Topic {
        name: "distribution",
        summary: "what a size or a time is drawn from, wherever a key takes a distribution",
        idea: "Written in one of these forms. Each draw comes from a stream of its own name, so that another distribution \
               changes no other draw. Sizes are in bytes, or all of them in packets, which are as large as the flow's are.",
        source: "",
        forms: || draw::FORMS.iter().map(|form| (form.form.into(), form.about.into())).collect(),
    },
    Topic {
        name: "framing",
        summary: "what a packet takes on the wire of a link: framing = NAME, or by numbers",
        idea: "A packet of n bytes takes max(n + overhead, least) bytes, put into cells or blocks where there are such. The \
               rate of a link, and its utilisation, is that of its wire; buffers, sojourn times and laws know IP packets only.",
        source: "tc-cake(8), and the standard behind each name: `sojourn explain ethernet`",
        forms: framings,
    },
    Topic {
        name: "trace",
        summary: "when a link may send, in the stead of a constant rate",
        idea: "Laws are told the mean rate. Bytes are counted: small packets share an opportunity, and what does not fit one \
               goes on with the next. The models draw from the stream \"LINK/trace\", so that every law under one seed meets \
               the same link.",
        source: "mm-link(1); K. Winstein et al., Sprout, NSDI 2013; arXiv:2310.09242, arXiv:2601.08439",
        forms: || told(TRACES),
    },
    Topic {
        name: "impairments",
        summary: "what the wire of a link does to packets after they have been sent",
        idea: "Any of these keys, always in this order. Each draws from a stream of its own, \"LINK/loss\" and so on, for \
               every packet: adding one changes nothing that another does. What wires lose is no drop of any disc.",
        source: "",
        forms: || told(IMPAIRMENTS),
    },
];

const TRACES: &[(&str, &str)] = &[
    (
        "{ file = NAME }",
        "a recording as Mahimahi's, a file beside the scenario: a whole number of milliseconds a line, each an opportunity to \
         send 1504 B; at its last number it begins again",
    ),
    (
        "{ model = \"lte\", mean = RATE, volatility = 0.2, outage = \"1 s\" }",
        "a rate that wanders between nothing and a highest one, volatility of that in a second; where it comes to nothing it \
         stays for outage on average",
    ),
    (
        "{ model = \"satellite\", mean = RATE, interval = \"15 s\", gap = \"140 ms\", spread = 0.5, frame = \"1.333333 ms\" }",
        "a new rate every interval, uniform within spread of the mean, after a gap in which nothing is sent; what is sent in \
         a frame arrives at its end",
    ),
];

const IMPAIRMENTS: &[(&str, &str)] = &[
    ("loss = PROBABILITY", "each packet is lost by itself"),
    (
        "bursts = { enter, leave, good = 0, bad = 1 }",
        "losses that come together: a packet is lost with the probability good or bad of the wire's state, which turns with \
         enter and leave after each packet (Gilbert 1960, Elliott 1963)",
    ),
    ("corrupt = PROBABILITY", "it is damaged: it goes on to its end, and its receiver throws it away"),
    ("bleach = PROBABILITY", "it comes without its ECN bits"),
    (
        "jitter = TIME",
        "it comes later, by a draw that is uniform from 0 to TIME, or by one of the distribution that is given; never out of order",
    ),
    (
        "reorder = { probability = PROBABILITY, late = TIME }",
        "it is held back, always by TIME, or by a draw of the distribution that is given, and others overtake it",
    ),
    ("duplicate = PROBABILITY", "it comes twice"),
];

fn told(forms: &[(&str, &str)]) -> Vec<(String, String)> {
    forms.iter().map(|(form, about)| ((*form).into(), (*about).into())).collect()
}

fn framings() -> Vec<(String, String)> {
    let named = Framing::named().map(|(page, framing)| (page.stem.into(), cost(page.summary, framing)));
    let own = "{ overhead = SIZE, least = SIZE, cells = true }";
    let about = "by numbers, at most 1000 B each; cells: ATM, 53 bytes carry 48; blocks = true instead: PTM, 65 bytes carry 64";
    named.chain([(own.into(), about.into())]).collect()
}

fn cost(summary: &str, framing: &Framing) -> String {
    let least = if framing.least > 0 { format!(", at least {} B", framing.least) } else { String::new() };
    let coding = match framing.coding {
        Coding::None => "",
        Coding::Cells => ", in cells",
        Coding::Blocks => ", in blocks",
    };
    format!("{summary}: {} B more{least}{coding}", framing.overhead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::{IMPAIRMENT_KEYS, Impairments, Trace};
    use sojourn_units::param::Quantity;
    use sojourn_units::{SizeDraw, Value};

    #[test]
    fn all_impairments_are_told() {
        let told: Vec<&str> = IMPAIRMENTS.iter().filter_map(|(form, _)| form.split(' ').next()).collect();
        assert_eq!(told, IMPAIRMENT_KEYS);
    }

    #[test]
    fn a_topic_is_found_by_the_words_of_its_forms() {
        let found = |word| topic_with(word).map(|topic| topic.name);
        for name in ["lte", "satellite", "volatility"] {
            assert_eq!(found(name), Some("trace"), "{name}");
        }
        for name in IMPAIRMENT_KEYS.iter().chain(&["enter", "late"]) {
            assert_eq!(found(name), Some("impairments"), "{name}");
        }
        assert_eq!(found("exponential"), Some("distribution"));
        assert_eq!(found("overhead"), Some("framing"));
        for name in ["TIME", "PROBABILITY", "15", "ms", "true", "nonsense", ""] {
            assert_eq!(found(name), None, "{name}");
        }
    }

    /// What stands in a form beside its keys is what stands there where they are left out.
    #[test]
    fn the_defaults_of_models_are_told() {
        for (form, keys) in [
            ("lte", vec![("volatility", Value::Number(0.2)), ("outage", Value::Text("1 s".into()))]),
            (
                "satellite",
                vec![
                    ("interval", Value::Text("15 s".into())),
                    ("gap", Value::Text("140 ms".into())),
                    ("spread", Value::Number(0.5)),
                    ("frame", Value::Text("1.333333 ms".into())),
                ],
            ),
        ] {
            let model = [("model", Value::Text(form.into())), ("mean", Value::Text("1 Mbit/s".into()))];
            let table = |keys: &[(&str, Value)]| {
                Value::Table(keys.iter().map(|(key, value)| ((*key).into(), value.clone())).collect())
            };
            let whole = [model.to_vec(), keys.clone()].concat();
            assert_eq!(Trace::read(&table(&model)), Trace::read(&table(&whole)));
            let (told, _) = TRACES.iter().find(|(told, _)| told.contains(form)).unwrap();
            for (key, value) in keys {
                let value =
                    if let Value::Text(text) = &value { format!("\"{text}\"") } else { value.to_string() };
                assert!(told.contains(&format!("{key} = {value}")), "{key}");
            }
        }
        assert!(Impairments::read(&Value::Table(Vec::new())).is_ok());
    }

    #[test]
    fn a_fault_of_a_distribution_tells_its_forms() {
        let fault = SizeDraw::read(&Value::Table(Vec::new())).unwrap_err();
        for (form, _) in (TOPICS[0].forms)() {
            assert!(fault.contains(&form), "{form}");
        }
    }
}
