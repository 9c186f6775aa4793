//! Help on values shared by many keys, for `sojourn explain`.

use sojourn_params::spec::plain;
use sojourn_params::{Described, Field, Kind, Page, Value, draws};
use sojourn_scenario::links::{Coding, Framing, Impairments, LINK_MODELS};

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
        .filter(|word| !["true", "false"].contains(word))
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
        forms: traces,
    },
    Topic {
        name: "impairments",
        summary: "effects of the wire of a link on packets that have been sent",
        idea: "Any of these keys, always in this order. Each draws from a stream of its own, \"LINK/loss\" and so on, for \
        every packet: adding one changes no effect of another. Losses on wires are not drops of a qdisc.",
        source: "",
        forms: || Impairments::fields().iter().map(|field| (form(field), meaning(field))).collect(),
    },
];

fn framings() -> Vec<(String, String)> {
    let named = Framing::named().map(|(page, framing)| (page.stem.into(), cost(page.summary, framing)));
    let fields = Framing::fields();
    let keys: Vec<String> = fields.iter().map(|field| format!("{}: {}", field.key, meaning(field))).collect();
    named.chain([(table(&fields), format!("by numbers; {}", keys.join("; ")))]).collect()
}

fn traces() -> Vec<(String, String)> {
    let model =
        |page: &Page| (format!("{{ {} = {} }}", page.stem, table(&(page.fields)())), page.idea.to_string());
    let models = (LINK_MODELS.pages)();
    std::iter::once(("{ file = NAME }".into(), RECORDING.into())).chain(models.iter().map(model)).collect()
}

const RECORDING: &str = "a recording in Mahimahi's format, a file beside the scenario: a whole number of milliseconds per \
                         line, each an opportunity to send 1504 B; it repeats after its last number";

/// The form of a key.
fn form(field: &Field) -> String {
    let value = match &field.kind {
        Kind::Keys(fields) => table(&fields()),
        kind => placeholder(kind).into(),
    };
    format!("{} = {value}", field.key)
}

/// The form of a table: its keys with their defaults.
fn table(fields: &[Field]) -> String {
    let keys: Vec<String> = fields
        .iter()
        .map(|field| match &field.default {
            Value::Absent => form(field),
            number @ Value::Number(_) => format!("{} = {}", field.key, plain(number)),
            default => format!("{} = {default}", field.key),
        })
        .collect();
    format!("{{ {} }}", keys.join(", "))
}

/// A value of a kind in a form.
fn placeholder(kind: &Kind) -> &'static str {
    match kind {
        Kind::Time | Kind::Times(_) | Kind::TimeDraw => "TIME",
        Kind::Rate => "RATE",
        Kind::Size | Kind::SizeDraw => "SIZE",
        Kind::Number | Kind::Whole | Kind::Packets => "NUMBER",
        _ => "VALUE",
    }
}

/// The meaning of a key, with its range and its source.
fn meaning(field: &Field) -> String {
    let more: Vec<String> =
        [field.range(), field.source.into()].into_iter().filter(|text| !text.is_empty()).collect();
    if more.is_empty() { field.about.into() } else { format!("{} ({})", field.about, more.join("; ")) }
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
    use sojourn_params::{Quantity, SizeDraw};

    #[test]
    fn a_topic_is_found_by_the_words_of_its_forms() {
        let found = |word| topic_with(word).map(|topic| topic.name);
        for name in ["lte", "satellite", "volatility"] {
            assert_eq!(found(name), Some("trace"), "{name}");
        }
        let impairments = Impairments::fields();
        for name in impairments.iter().map(|field| field.key).chain(["enter", "late"]) {
            assert_eq!(found(name), Some("impairments"), "{name}");
        }
        assert_eq!(found("exponential"), Some("distribution"));
        assert_eq!(found("overhead"), Some("framing"));
        for name in ["TIME", "NUMBER", "15", "ms", "true", "false", "nonsense", ""] {
            assert_eq!(found(name), None, "{name}");
        }
    }

    #[test]
    fn forms_show_the_defaults() {
        let forms = |name: &str| {
            let forms = topic(name).map_or_else(Vec::new, |topic| (topic.forms)());
            forms.into_iter().map(|(form, _)| form).collect::<Vec<_>>()
        };
        assert_eq!(
            forms("trace"),
            [
                "{ file = NAME }",
                "{ lte = { mean = RATE, volatility = 0.2, outage = \"1 s\" } }",
                "{ satellite = { mean = RATE, interval = \"15 s\", gap = \"140 ms\", spread = 0.5, \
                 frame = \"1.333333 ms\" } }",
            ]
        );
        assert_eq!(
            forms("impairments"),
            [
                "loss = NUMBER",
                "bursts = { enter = NUMBER, leave = NUMBER, good = 0, bad = 1 }",
                "corrupt = NUMBER",
                "bleach = NUMBER",
                "jitter = TIME",
                "reorder = { probability = NUMBER, late = TIME }",
                "duplicate = NUMBER",
            ]
        );
        let by_numbers = "{ overhead = \"0 B\", least = \"0 B\", cells = false, blocks = false }";
        assert_eq!(forms("framing").last().map(String::as_str), Some(by_numbers));
    }

    #[test]
    fn an_error_of_a_distribution_lists_its_forms() {
        let error = SizeDraw::read(&Value::Table(Vec::new())).unwrap_err().to_string();
        for (form, _) in (TOPICS[0].forms)() {
            assert!(error.contains(&form), "{form}");
        }
    }
}
