//! Help on values shared by many keys, for `sojourn explain`.

use sojourn_params::draws;
use sojourn_scenario::links::{Coding, Framing};

/// A kind of value shared by many keys.
#[derive(Clone, Copy, Debug)]
pub struct Topic {
    /// Name.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Explanation, a few sentences.
    pub idea: &'static str,
    /// Source of the definition; empty for Sojourn's own.
    pub source: &'static str,
    /// Forms and their meanings.
    pub forms: fn() -> Vec<(String, String)>,
}

/// The topic of this name.
pub fn topic(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}

/// The first topic with this word in one of its forms: `lte` belongs to trace.
pub fn topic_with(word: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.has_word(word))
}

impl Topic {
    fn has_word(&self, name: &str) -> bool {
        (self.forms)().iter().any(|(form, _)| words(form).any(|word| word == name))
    }
}

/// The words of a form: its keys and the names of its models, without placeholders, numbers and units.
fn words(form: &str) -> impl Iterator<Item = &str> {
    let is_of_a_word = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    form.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(move |word| word.len() > 2 && word.chars().all(is_of_a_word))
        .filter(|word| *word != "true")
}

/// All topics.
pub const TOPICS: &[Topic] = &[
    Topic {
        name: "distribution",
        summary: "distribution of a size or a time",
        idea: "Written in one of these forms. Each draw comes from a stream of its own name, so that another distribution \
        changes no other draw. Sizes are in bytes, or all of them in packets of the flow's size.",
        source: "",
        forms: || draws::FORMS.iter().map(|form| (form.form.into(), form.about.into())).collect(),
    },
    Topic {
        name: "framing",
        summary: "size of packets on the wire of a link: framing = NAME, or by numbers",
        idea: "A packet of n bytes takes max(n + overhead, least) bytes, put into cells or blocks if it has them. The \
        rate of a link, and its utilisation, is that of its wire; buffers, sojourn times and laws count IP packets only.",
        source: "tc-cake(8), and the standard behind each name: `sojourn explain ethernet`",
        forms: framings,
    },
    Topic {
        name: "trace",
        summary: "delivery schedule of a link, instead of a constant rate",
        idea: "Laws get the mean rate. Bytes are counted: small packets share an opportunity, and the remainder of a packet \
        uses the next one. The models draw from the stream \"LINK/trace\", so that every law under one seed meets \
        the same link.",
        source: "mm-link(1); K. Winstein et al., Sprout, NSDI 2013; arXiv:2310.09242, arXiv:2601.08439",
        forms: || owned(TRACES),
    },
    Topic {
        name: "impairments",
        summary: "effects of the wire of a link on packets that have been sent",
        idea: "Any of these keys, always in this order. Each draws from a stream of its own, \"LINK/loss\" and so on, for \
        every packet: adding one changes no effect of another. Losses on wires are not drops of a qdisc.",
        source: "",
        forms: || owned(IMPAIRMENTS),
    },
];

const TRACES: &[(&str, &str)] = &[
    (
        "{ file = NAME }",
        "a recording in Mahimahi's format, a file beside the scenario: a whole number of milliseconds per line, each an \
        opportunity to send 1504 B; it repeats after its last number",
    ),
    (
        "{ model = \"lte\", mean = RATE, volatility = 0.2, outage = \"1 s\" }",
        "a rate that wanders between zero and a highest one, with a standard deviation of volatility times that in a \
        second; at zero it stays for outage on average",
    ),
    (
        "{ model = \"satellite\", mean = RATE, interval = \"15 s\", gap = \"140 ms\", spread = 0.5, frame = \"1.333333 ms\" }",
        "a new rate every interval, uniform within spread of the mean, after a gap in which nothing is sent; data sent in \
        a frame arrives at its end",
    ),
];

const IMPAIRMENTS: &[(&str, &str)] = &[
    ("loss = PROBABILITY", "independent losses"),
    (
        "bursts = { enter, leave, good = 0, bad = 1 }",
        "bursts of losses: a packet is lost with the probability good or bad of the wire's state, which changes with \
        the probabilities enter and leave after each packet (Gilbert 1960, Elliott 1963)",
    ),
    ("corrupt = PROBABILITY", "damage: the packet is carried on, and its receiver discards it"),
    ("bleach = PROBABILITY", "the packet loses its ECN bits"),
    (
        "jitter = TIME",
        "extra delay, uniform from 0 to TIME, or drawn from the given distribution; never out of order",
    ),
    (
        "reorder = { probability = PROBABILITY, late = TIME }",
        "the packet is held back by TIME, or by a draw of the given distribution, and others overtake it",
    ),
    ("duplicate = PROBABILITY", "the packet arrives twice"),
];

fn owned(forms: &[(&str, &str)]) -> Vec<(String, String)> {
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
    use sojourn_params::Quantity;
    use sojourn_params::{SizeDraw, Value};
    use sojourn_scenario::links::{IMPAIRMENT_KEYS, Impairments, Trace};

    #[test]
    fn all_impairments_have_help() {
        let text: Vec<&str> = IMPAIRMENTS.iter().filter_map(|(form, _)| form.split(' ').next()).collect();
        assert_eq!(text, IMPAIRMENT_KEYS);
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

    /// Values in a form are the defaults.
    #[test]
    fn forms_of_models_show_their_defaults() {
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
            let (text, _) = TRACES.iter().find(|(text, _)| text.contains(form)).unwrap();
            for (key, value) in keys {
                let value =
                    if let Value::Text(text) = &value { format!("\"{text}\"") } else { value.to_string() };
                assert!(text.contains(&format!("{key} = {value}")), "{key}");
            }
        }
        assert!(Impairments::read(&Value::Table(Vec::new())).is_ok());
    }

    #[test]
    fn an_error_of_a_distribution_lists_its_forms() {
        let error = SizeDraw::read(&Value::Table(Vec::new())).unwrap_err();
        for (form, _) in (TOPICS[0].forms)() {
            assert!(error.contains(&form), "{form}");
        }
    }
}
