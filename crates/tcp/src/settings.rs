//! The settings of TCP: every choice of a [`Profile`].
//!
//! A setting is defined once, here: its name (that of its field), kind, range, meaning and source. The keys of
//! scenario files, their schema, `sojourn explain` and the tables of the pages are derived from it; its default is in
//! the profile.

use crate::profile::{
    EcnAtOne, Halving, LimitedTransmit, LossDetection, PROFILES, Pipe, Profile, Prr, UnusedWindow,
};
use sojourn_params::{Kind, Quantity, word_or_flag};
use sojourn_params::{Page, Value};
use sojourn_units::{Span, did_you_mean};
use std::fmt;

/// A choice of a profile.
#[derive(Clone, Copy)]
pub struct Setting {
    /// Name in files: that of the profile's field.
    pub name: &'static str,
    /// Range of a whole number.
    pub bounds: Option<(i64, i64)>,
    /// Range in words; empty if the kind suffices.
    pub rule: &'static str,
    /// Meaning.
    pub about: &'static str,
    /// Source of the definition.
    pub source: &'static str,
    /// Effective value if the profile leaves it unset; empty if none does.
    pub unset: &'static str,
    /// Kind of value.
    pub kind: fn() -> Kind,
    /// Reads a value, returning whether it is in range.
    pub in_range: fn(&Value) -> Result<bool, String>,
    /// Value in a profile.
    pub get: fn(&Profile) -> Value,
    /// Sets the value, which must be in range.
    pub set: fn(&mut Profile, &Value),
}

/// One setting: field and type; range; meaning; source.
macro_rules! setting {
    ($name:ident: $type:ty, $rule:literal if $in_range:expr, $about:literal, $source:literal) => {
        Setting {
            name: stringify!($name),
            bounds: None,
            rule: $rule,
            about: $about,
            source: $source,
            unset: "",
            kind: <$type as Quantity>::kind,
            in_range: |value| {
                let in_range: fn(&$type) -> bool = $in_range;
                <$type as Quantity>::read(value).map(|read| in_range(&read))
            },
            get: |profile| profile.$name.write(),
            set: |profile, value| {
                if let Ok(read) = <$type as Quantity>::read(value) {
                    profile.$name = read;
                }
            },
        }
    };
    ($name:ident: $type:ty, $about:literal, $source:literal) => {
        setting!($name: $type, "" if |_| true, $about, $source)
    };
    ($name:ident: $type:ty, $low:literal to $high:literal, $about:literal, $source:literal) => {
        Setting {
            bounds: Some(($low, $high)),
            ..setting!($name: $type, "the bounds included" if |value| ($low..=$high).contains(value), $about, $source)
        }
    };
}

/// All settings: window, timer, receiver, recovery, ECN, others.
pub static SETTINGS: &[Setting] = &[
    setting!(initial_window: u64, 1 to 1000, "initial window, segments; RFC 6928 allows 10", "RFC 6928"),
    setting!(initial_ssthresh: u64, 2 to 1_000_000,
        "initial slow-start threshold, segments, as a host may cache it from an earlier connection; 1000000 is \
         beyond any window",
        "RFC 5681, section 3.1; RFC 9040, section 6.1"),
    setting!(byte_counting: u32, 0 to 1000,
        "appropriate byte counting: the window grows with the bytes acknowledged, in slow start by at most this \
         many segments per ACK; 0: with the number of ACKs",
        "RFC 3465"),
    setting!(unused_window: UnusedWindow,
        "treatment of an unused congestion window: keep; restart: the initial window after an idle time of one \
         retransmission timeout; validate: congestion window validation, by the data sent and acknowledged",
        "RFC 5681, section 4.1; RFC 7661"),
    setting!(pacing: bool, "segments leave at even intervals instead of in bursts", "RFC 9002, section 7.7"),
    setting!(halving: Halving,
        "base and floor of a reduction: flight_size, at least two segments; window: the window itself, at least \
         one, with ssthresh computed at each timeout of the same segment; pipe: in recovery by SACK the data \
         neither SACKed nor lost, as in ns-3",
        "RFC 5681, equation 4"),
    setting!(min_rto: Span, "more than 0, at most 60 s" if |span| *span > Span::ZERO && *span <= Span::from_secs(60),
        "lower bound of the retransmission timeout", "RFC 6298, section 2.4"),
    setting!(max_rto: Span, "1 ms to 1 h" if |span| (Span::from_millis(1)..=Span::from_secs(3600)).contains(span),
        "upper bound of the retransmission timeout, back-off included", "RFC 6298, sections 2.5 and 5.5"),
    setting!(most_doublings: u32, "0 to 32" if |doublings| *doublings <= 32,
        "maximum doublings of the timeout by back-off", "RFC 6298, section 5.5"),
    setting!(initial_rto: Span, "1 ms to 60 s" if |span| (Span::from_millis(1)..=Span::from_secs(60)).contains(span),
        "retransmission timeout before the first measurement", "RFC 6298, section 2.1"),
    setting!(syn_counts: bool,
        "a lost SYN affects window and timer as lost data does: data starts with one segment, and with the doubled \
         timeout until its round trip is measured",
        "ns-2"),
    setting!(tick: Span, "more than 0, at most 1 s" if |span| *span > Span::ZERO && *span <= Span::from_secs(1),
        "granularity of the clock that times segments", "RFC 6298, section 4"),
    setting!(whole_ticks: bool,
        "round trips are counted in elapsed ticks of that clock, and estimated in whole eighths and quarters of \
         one; samples then do not share a weight",
        "V. Jacobson, Congestion Avoidance and Control, 1988, appendix A"),
    setting!(time_all: bool,
        "every segment is timed, instead of one per window", "RFC 6298, section 3"),
    setting!(rtt_weight_shared: bool,
        "the samples of one round trip share the weight of one",
        "RFC 7323, appendix G; RFC 6298, section 2.3"),
    setting!(timestamps: bool,
        "every segment carries a timestamp (12 B), and every ACK of new data is an RTT sample", "RFC 7323"),
    setting!(delayed_ack: bool, "receivers delay ACKs", "RFC 5681, section 4.2"),
    setting!(ack_every: u32, 2 to 1000,
        "full segments per delayed ACK; more than 2: stretch ACKs", "RFC 5681, section 4.2"),
    setting!(ack_delay: Span, "more than 0, at most 500 ms" if |span| *span > Span::ZERO && *span <= Span::from_millis(500),
        "longest delay of a delayed ACK", "RFC 5681, section 4.2"),
    setting!(receive_window: u64, 1 to 1_000_000, "receive buffer, segments", "RFC 9293, section 3.8.6"),
    setting!(window_scaling: bool,
        "window scaling: windows end at 1 GiB, without it at 65535 B", "RFC 7323, section 2"),
    setting!(dsack: bool, "receivers report duplicate data (D-SACK)", "RFC 2883"),
    setting!(teardown: bool, "connections end with FINs", "RFC 9293, section 3.6"),
    Setting {
        unset: "as the congestion control's RFC has it",
        ..setting!(sack: Option<bool>,
            "loss recovery by selective acknowledgments; false: by NewReno", "RFC 6675")
    },
    setting!(loss_detection: LossDetection,
        "loss detection in recovery by SACK: dupacks: three segments above it are SACKed; rack: a segment sent \
         later has arrived",
        "RFC 6675; RFC 8985"),
    setting!(tail_loss_probe: bool,
        "tail loss probes when the ACKs of a flight's end are missing; with rack", "RFC 8985, section 7"),
    setting!(pipe: Pipe,
        "estimate of the data in flight in recovery by SACK: scoreboard: data neither SACKed nor lost; counted: \
         data sent less data acknowledged, as in ns-2",
        "RFC 6675, section 4"),
    setting!(prr: Prr,
        "proportional rate reduction in recovery by SACK, in proportion until the pipe is down to ssthresh; \
         rfc9937: below it as much as is delivered, and one segment more if SND.UNA advances without further loss; \
         rfc6937: as in slow start; false: nothing for half a window",
        "RFC 9937; RFC 6937"),
    setting!(prr_counts_twice: bool,
        "RFC 6937's form counts delivered data twice until one flight is delivered, multiplies in 32 bits and \
         rounds down, as in ns-3",
        "ns-3"),
    setting!(limited_transmit: LimitedTransmit,
        "data that each of the first two duplicate ACKs allows: new_data; next: the next segment in order, even if \
         a timeout retransmits it",
        "RFC 3042"),
    setting!(hole_hides_ack: bool,
        "the ACK that first reports a hole counts as a duplicate only, even if it acknowledges new data: the window \
         does not grow, and the timer is not restarted; with SACK, without RACK",
        "ns-3"),
    setting!(recovery_restarts_timer: bool,
        "the first retransmission of a recovery by SACK restarts the timer; false: it runs since the last ACK of \
         new data; without RACK",
        "RFC 6675, section 6; RFC 6298, section 5"),
    setting!(timeout_forgets_sack: bool,
        "a timeout clears the scoreboard; never with RACK", "RFC 2018, section 8"),
    setting!(frto: bool, "detection of spurious timeouts (F-RTO)", "RFC 5682"),
    setting!(undo: bool,
        "a reduction is undone if timestamps or D-SACKs show that nothing was lost",
        "RFC 3522; RFC 4015; RFC 2883"),
    setting!(cautious_exit: bool,
        "NewReno leaves recovery with at most one segment more than the flight size",
        "RFC 6582, section 3.2, step 3"),
    setting!(grow_on_exit: bool, "the ACK that ends recovery grows the window", "ns-2"),
    setting!(sack_takes_room: bool, "SACK blocks add to the length of an ACK on the wire", "RFC 2018, section 3"),
    setting!(fast_convergence: bool, "fast convergence: CUBIC gives way to newer flows", "RFC 9438, section 4.7"),
    setting!(cubic_counts_segments: bool,
        "CUBIC's windows are whole segments that grow by one after enough segments have been acknowledged, instead \
         of with each ACK; W_est grows no faster above the window of the last loss",
        "ns-3"),
    setting!(ect_on_retransmit: bool, "retransmissions are ECN-capable, and may carry CWR",
        "RFC 3168, sections 6.1.2 and 6.1.5"),
    setting!(ecn_at_one: EcnAtOne,
        "response to an ECN echo at a window of one segment: wait for the retransmission timer; back_off: halve it \
         again, to less than a segment, which waits for the timer or an ACK without echo; the second in a row \
         doubles the timeout; two: wait, but no echo leaves Reno or CUBIC less than two segments of a window that \
         had them",
        "RFC 3168, section 6.1.2"),
    setting!(ecn_after_timeout: bool, "a timeout allows another reduction by ECN in the same window", "ns-2"),
];

/// Pages of all profiles; their parameters are the [`SETTINGS`].
pub const PROFILE_PAGES: &[Page] = &[
    Page {
        stem: "default",
        summary: "the RFCs, with the values of deployed systems where they leave a choice",
        idea: "A present-day host with default settings: an initial window of ten segments, delayed ACKs, SACK if \
               the congestion control's RFC has it, RACK with tail loss probes, proportional rate reduction, \
               detection and undo of spurious timeouts.",
        equation: "",
        source: "the RFC of each setting",
        fields: Vec::new,
    },
    Page {
        stem: "ns2",
        summary: "behaviour of the one-way TCP agents of ns-2 2.35, from their traces",
        idea: "For comparisons with ns-2 and with results published with it: no delayed ACKs, two segments at the \
               start, a clock of 10 ms, windows halved from the window, recovery as in its Reno, Newreno and \
               Sack1 agents. docs/deviations/ns2.md lists the packets that show each difference.",
        equation: "",
        source: "ns-2 2.35",
        fields: Vec::new,
    },
    Page {
        stem: "ns3",
        summary: "behaviour of the TCP sockets of ns-3 3.44, from their traces",
        idea: "For comparisons with ns-3: timestamps, SACK and reductions in proportion without RACK, probes or \
               undoing; windows that grow with ACKs, CUBIC's with segments; half of the pipe after a loss, and a \
               recovery that sends more than PRR. docs/deviations/ns3.md lists the packets that show each \
               difference, and those not copied.",
        equation: "",
        source: "ns-3 3.44",
        fields: Vec::new,
    },
];

/// Returns the setting called `name`.
pub fn setting(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

impl Setting {
    /// Range in words; empty if the kind suffices.
    pub fn range(&self) -> String {
        self.bounds.map_or_else(|| self.rule.into(), |(low, high)| format!("{low} to {high}"))
    }

    /// Value in a profile, in words.
    pub fn text(&self, profile: &Profile) -> String {
        match (self.get)(profile) {
            Value::Absent => self.unset.into(),
            Value::Text(text) => text,
            value => value.to_string(),
        }
    }

    /// Value in each profile: `"default 10, ns2 2"`.
    pub fn by_profile(&self) -> String {
        let values: Vec<(&str, String)> = PROFILES
            .iter()
            .map(|name| (*name, self.text(&Profile::named(name).unwrap_or_default())))
            .collect();
        if values.iter().all(|(_, value)| *value == values[0].1) {
            return values[0].1.clone();
        }
        values.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
    }
}

impl Profile {
    /// Settings that differ from the profile of the same name.
    pub fn settings_changed(&self) -> impl Iterator<Item = &'static Setting> {
        let named = Profile::named(self.name).unwrap_or_default();
        SETTINGS.iter().filter(move |setting| (setting.get)(self) != (setting.get)(&named))
    }
}

/// Equality by name.
impl PartialEq for Setting {
    fn eq(&self, other: &Setting) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Implements [`Quantity`] for an enumeration by the words of its members.
macro_rules! words {
    ($($name:ident: $($member:ident = $word:literal),+;)*) => {$(
        impl Quantity for $name {
            fn kind() -> Kind {
                Kind::Word(&[$($word),+])
            }
            fn read(value: &Value) -> Result<$name, String> {
                match String::read(value)?.as_str() {
                    $($word => Ok($name::$member),)+
                    word => {
                        let words = [$($word),+];
                        let hint = did_you_mean(word, words);
                        Err(format!("\"{word}\" is none of the words{hint} (expected {})", words.join(", ")))
                    }
                }
            }
            fn write(&self) -> Value {
                Value::Text(match self { $($name::$member => $word.into(),)+ })
            }
        }
    )*};
}

const PRR_FORMS: [&str; 2] = ["rfc9937", "rfc6937"];

/// One of the RFCs, or false. True means the first, as in files older than the second.
impl Quantity for Prr {
    fn kind() -> Kind {
        Kind::WordOrFlag(&PRR_FORMS)
    }
    fn read(value: &Value) -> Result<Prr, String> {
        match word_or_flag(value, &PRR_FORMS) {
            Ok(None) => Ok(Prr::Off),
            Ok(Some(0)) => Ok(Prr::Rfc9937),
            Ok(Some(_)) => Ok(Prr::Rfc6937),
            Err(hint) => {
                Err(format!("{value} is no form of PRR{hint} (expected \"rfc9937\", \"rfc6937\" or false)"))
            }
        }
    }
    fn write(&self) -> Value {
        match self {
            Prr::Off => Value::Flag(false),
            Prr::Rfc6937 => Value::Text("rfc6937".into()),
            Prr::Rfc9937 => Value::Text("rfc9937".into()),
        }
    }
}

words! {
    LossDetection: Rack = "rack", Dupacks = "dupacks";
    UnusedWindow: Keep = "keep", Restart = "restart", Validate = "validate";
    Halving: FlightSize = "flight_size", Window = "window", Pipe = "pipe";
    Pipe: Scoreboard = "scoreboard", Counted = "counted";
    LimitedTransmit: NewData = "new_data", Next = "next";
    EcnAtOne: WaitForTimer = "wait", BackOff = "back_off", Two = "two";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every field of a profile has a setting: a profile rebuilt from its settings is the same.
    #[test]
    fn the_settings_determine_a_profile() {
        for name in PROFILES {
            let profile = Profile::named(name).unwrap();
            for other in PROFILES {
                let mut made = Profile { name: profile.name, ..Profile::named(other).unwrap() };
                for setting in SETTINGS {
                    (setting.set)(&mut made, &(setting.get)(&profile));
                }
                assert_eq!(Profile { sack: profile.sack, ..made }, profile);
            }
        }
    }

    #[test]
    fn every_value_of_a_profile_is_in_range() {
        for name in PROFILES {
            let profile = Profile::named(name).unwrap();
            for setting in SETTINGS {
                let value = (setting.get)(&profile);
                assert!(
                    value == Value::Absent || (setting.in_range)(&value) == Ok(true),
                    "{name}: {setting:?}"
                );
                assert_eq!(value == Value::Absent, !setting.unset.is_empty(), "{name}: {setting:?}");
            }
        }
    }

    #[test]
    fn every_profile_has_its_page() {
        let stems: Vec<&str> = PROFILE_PAGES.iter().map(|page| page.stem).collect();
        assert_eq!(stems, PROFILES);
    }

    #[test]
    fn values_are_listed_by_profile_if_they_differ() {
        assert_eq!(setting("initial_window").unwrap().by_profile(), "default 10, ns2 2, ns3 10");
        assert_eq!(setting("timestamps").unwrap().by_profile(), "default false, ns2 false, ns3 true");
        assert_eq!(setting("sack").unwrap().by_profile(), "as the congestion control's RFC has it");
        assert_eq!(setting("halving").unwrap().by_profile(), "default flight_size, ns2 window, ns3 pipe");
    }
}
