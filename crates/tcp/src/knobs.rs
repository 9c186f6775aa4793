//! The knobs of TCP: every choice of a [`Profile`], as people are told of it and set it.
//!
//! A knob is defined once, here: its name (that of its field), what a value looks like, the legal range, a sentence,
//! its source. The keys of scenario files, their schema, `sojourn explain` and the tables of the pages follow from
//! that; its value where none is given stands in the profile.

use crate::profile::{
    EcnAtOne, Halving, LimitedTransmit, LossDetection, PROFILES, Pipe, Profile, Prr, UnusedWindow,
};
use sojourn_units::param::{Kind, Quantity, word_or_flag};
use sojourn_units::{Page, Span, Value, did_you_mean};
use std::fmt;

/// A choice of a profile.
#[derive(Clone, Copy)]
pub struct Knob {
    /// Its name in files: that of the profile's field.
    pub name: &'static str,
    /// The range of a whole number.
    pub bounds: Option<(i64, i64)>,
    /// The legal range, in words; empty where the kind says it all.
    pub rule: &'static str,
    /// What it means.
    pub about: &'static str,
    /// Where that is defined.
    pub source: &'static str,
    /// What holds where a profile leaves it open; empty where none does.
    pub open: &'static str,
    /// What a value looks like.
    pub kind: fn() -> Kind,
    /// Reads a value; says whether it is in the legal range.
    pub legal: fn(&Value) -> Result<bool, String>,
    /// Its value in a profile.
    pub get: fn(&Profile) -> Value,
    /// Sets it, to a value that is legal.
    pub set: fn(&mut Profile, &Value),
}

/// One knob: field and type; the legal range; the meaning; the source.
macro_rules! knob {
    ($name:ident: $type:ty, $rule:literal if $legal:expr, $about:literal, $source:literal) => {
        Knob {
            name: stringify!($name),
            bounds: None,
            rule: $rule,
            about: $about,
            source: $source,
            open: "",
            kind: <$type as Quantity>::kind,
            legal: |value| {
                let legal: fn(&$type) -> bool = $legal;
                <$type as Quantity>::read(value).map(|read| legal(&read))
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
        knob!($name: $type, "" if |_| true, $about, $source)
    };
    ($name:ident: $type:ty, $low:literal to $high:literal, $about:literal, $source:literal) => {
        Knob {
            bounds: Some(($low, $high)),
            ..knob!($name: $type, "the bounds included" if |value| ($low..=$high).contains(value), $about, $source)
        }
    };
}

/// All knobs: the window, the timer, the receiver, recovery, ECN, the rest.
pub static KNOBS: &[Knob] = &[
    knob!(initial_window: u64, 1 to 1000, "initial window, segments; RFC 6928 allows 10", "RFC 6928"),
    knob!(initial_ssthresh: u64, 2 to 1_000_000,
        "slow-start threshold of a new connection, segments: that of an earlier connection, where a host remembers it; \
         1000000 is beyond any window",
        "RFC 5681, section 3.1; RFC 9040, section 6.1"),
    knob!(byte_counting: u32, 0 to 1000,
        "how the window grows: with the bytes acknowledged, in slow start by at most so many segments an ACK; 0: with \
         the number of ACKs",
        "RFC 3465"),
    knob!(unused_window: UnusedWindow,
        "what becomes of a window that is not used: keep; restart from the initial one after an idle time of one \
         retransmission timeout; validate: it follows what was sent and acknowledged",
        "RFC 5681, section 4.1; RFC 7661"),
    knob!(pacing: bool, "whether segments leave at even distances, and not in bursts", "RFC 9002, section 7.7"),
    knob!(halving: Halving,
        "what a reduction starts from: flight_size, at least two segments; window: the window itself, at least one, and \
         ssthresh at each timeout of the same segment; pipe: in recovery by SACK what is neither SACKed nor lost, as ns-3 does",
        "RFC 5681, equation 4"),
    knob!(min_rto: Span, "more than 0, at most 60 s" if |span| *span > Span::ZERO && *span <= Span::from_secs(60),
        "lower bound of the retransmission timeout", "RFC 6298, section 2.4"),
    knob!(max_rto: Span, "1 ms to 1 h" if |span| (Span::from_millis(1)..=Span::from_secs(3600)).contains(span),
        "upper bound of the retransmission timeout, back-off included", "RFC 6298, sections 2.5 and 5.5"),
    knob!(most_doublings: u32, "0 to 32" if |doublings| *doublings <= 32,
        "doublings of the timeout by back-off, at most", "RFC 6298, section 5.5"),
    knob!(initial_rto: Span, "1 ms to 60 s" if |span| (Span::from_millis(1)..=Span::from_secs(60)).contains(span),
        "retransmission timeout before the first measurement", "RFC 6298, section 2.1"),
    knob!(syn_counts: bool,
        "whether a lost SYN is to window and timer what lost data is: data starts with one segment, and with the doubled \
         timeout until its round trip is known",
        "ns-2"),
    knob!(tick: Span, "more than 0, at most 1 s" if |span| *span > Span::ZERO && *span <= Span::from_secs(1),
        "granularity of the clock that times segments", "RFC 6298, section 4"),
    knob!(whole_ticks: bool,
        "whether round trips are counted in the ticks of that clock that pass, and estimated in whole eighths and quarters of \
         one; then no weight is shared",
        "V. Jacobson, Congestion Avoidance and Control, 1988, appendix A"),
    knob!(time_all: bool,
        "whether every segment measures the round trip, or one in a window", "RFC 6298, section 3"),
    knob!(rtt_weight_shared: bool,
        "whether the measurements of a round trip share the weight of one, or have it each",
        "RFC 7323, appendix G; RFC 6298, section 2.3"),
    knob!(timestamps: bool,
        "whether every segment carries a timestamp, 12 B of it, and every ACK measures the round trip", "RFC 7323"),
    knob!(delayed_ack: bool, "whether receivers delay ACKs", "RFC 5681, section 4.2"),
    knob!(ack_every: u32, 2 to 1000,
        "for how many full segments one delayed ACK is; more than 2: stretch ACKs", "RFC 5681, section 4.2"),
    knob!(ack_delay: Span, "more than 0, at most 500 ms" if |span| *span > Span::ZERO && *span <= Span::from_millis(500),
        "how long a delayed ACK may wait", "RFC 5681, section 4.2"),
    knob!(receive_window: u64, 1 to 1_000_000, "room at the receiver, segments", "RFC 9293, section 3.8.6"),
    knob!(window_scaling: bool,
        "whether windows may be scaled; without, they end at 65535 B, and with it at 1 GiB", "RFC 7323, section 2"),
    knob!(dsack: bool, "whether receivers tell of data that came twice", "RFC 2883"),
    knob!(teardown: bool, "whether a connection ends with FINs", "RFC 9293, section 3.6"),
    Knob {
        open: "as the congestion control's RFC has it",
        ..knob!(sack: Option<bool>,
            "whether losses are repaired by selective acknowledgments; false: as NewReno repairs them", "RFC 6675")
    },
    knob!(loss_detection: LossDetection,
        "what shows recovery by SACK that a segment is lost: dupacks: three segments above it; rack: one sent later \
         has arrived",
        "RFC 6675; RFC 8985"),
    knob!(tail_loss_probe: bool,
        "whether a probe goes out when the ACKs of a flight's end fail to come; with rack", "RFC 8985, section 7"),
    knob!(pipe: Pipe,
        "how recovery by SACK knows what is on its way: scoreboard: what is neither SACKed nor lost; counted: sent \
         less acknowledged, as ns-2 does",
        "RFC 6675, section 4"),
    knob!(prr: Prr,
        "what recovery by SACK sends for what arrives, in proportion until the pipe is down to ssthresh; rfc9937: below it as \
         much as arrives, and one segment more where SND.UNA moves without further loss; rfc6937: as slow start would; \
         false: nothing for half a window",
        "RFC 9937; RFC 6937"),
    knob!(prr_counts_twice: bool,
        "whether the form of RFC 6937 counts what arrives twice until a flight is through, multiplies in 32 bits and rounds \
         down, as ns-3 does",
        "ns-3"),
    knob!(limited_transmit: LimitedTransmit,
        "what each of the first two duplicate ACKs lets out: new_data; next: the next segment in order, also one that \
         goes again after a timeout",
        "RFC 3042"),
    knob!(hole_hides_ack: bool,
        "whether the ACK that first tells of a hole is a duplicate and no more, also where it acknowledges new data: the \
         window does not grow, and the timer runs on; with SACK, without RACK",
        "ns-3"),
    knob!(recovery_restarts_timer: bool,
        "whether the first retransmission of a recovery by SACK starts the timer anew, or leaves it to run since the last \
         ACK of new data; without RACK",
        "RFC 6675, section 6; RFC 6298, section 5"),
    knob!(timeout_forgets_sack: bool,
        "whether a timeout forgets what was SACKed before; RACK never does", "RFC 2018, section 8"),
    knob!(frto: bool, "whether to find out after a timeout if it was spurious", "RFC 5682"),
    knob!(undo: bool,
        "whether a reduction is undone where timestamps or D-SACKs show that nothing was lost",
        "RFC 3522; RFC 4015; RFC 2883"),
    knob!(cautious_exit: bool,
        "whether NewReno leaves recovery with at most a segment more than is in flight",
        "RFC 6582, section 3.2, step 3"),
    knob!(grow_on_exit: bool, "whether the window grows on the ACK that ends recovery", "ns-2"),
    knob!(sack_takes_room: bool, "whether SACK blocks make an ACK longer on the wire", "RFC 2018, section 3"),
    knob!(fast_convergence: bool, "whether CUBIC gives way to newer flows", "RFC 9438, section 4.7"),
    knob!(cubic_counts_segments: bool,
        "whether CUBIC's windows are whole segments, which grow by one when enough segments have been acknowledged, and not \
         with each ACK; W_est grows no faster above the window of the last loss",
        "ns-3"),
    knob!(ect_on_retransmit: bool, "whether retransmissions are sent ECN-capable, and may carry CWR",
        "RFC 3168, sections 6.1.2 and 6.1.5"),
    knob!(ecn_at_one: EcnAtOne,
        "what an echo of congestion does at a window of one segment: wait for the retransmission timer; back_off: halve it \
         again, as one below two; less than a segment waits for the timer or an ACK without echo; the second in a row \
         doubles the timeout; two: wait, but no echo leaves Reno or CUBIC less than two of a window that had them",
        "RFC 3168, section 6.1.2"),
    knob!(ecn_after_timeout: bool, "whether a timeout reopens the window to a new reduction by ECN", "ns-2"),
];

/// All profiles, as people are told of them; their parameters are the [`KNOBS`].
pub const PROFILE_PAGES: &[Page] = &[
    Page {
        stem: "default",
        summary: "the RFCs, with the values of deployed systems where they leave room",
        idea: "What a host of today does where its operator has changed nothing: ten segments at the start, delayed \
               ACKs, SACK where the congestion control's RFC has it, RACK with probes for lost tails, reductions in \
               proportion, spurious timeouts found out and undone.",
        equation: "",
        source: "the RFC of each knob",
        fields: Vec::new,
    },
    Page {
        stem: "ns2",
        summary: "what the one-way TCP agents of ns-2 2.35 do, seen in their traces",
        idea: "For comparisons with ns-2 and with what was published by it: no delayed ACKs, two segments at the \
               start, a clock of 10 ms, windows halved from the window, recovery as in its Reno, Newreno and Sack1 \
               agents. Which habit shows in which packets: docs/deviations/ns2.md.",
        equation: "",
        source: "ns-2 2.35",
        fields: Vec::new,
    },
    Page {
        stem: "ns3",
        summary: "what the TCP sockets of ns-3 3.44 do, seen in their traces",
        idea: "For comparisons with ns-3: timestamps, SACK and reductions in proportion without RACK, probes or undoing; \
               windows that grow with ACKs, CUBIC's with segments; half of the pipe after a loss, and a recovery that sends \
               more than PRR. Which habit shows in which packets, and what is not copied: docs/deviations/ns3.md.",
        equation: "",
        source: "ns-3 3.44",
        fields: Vec::new,
    },
];

/// The knob of this name.
pub fn knob(name: &str) -> Option<&'static Knob> {
    KNOBS.iter().find(|knob| knob.name == name)
}

impl Knob {
    /// What is legal, in words; empty where its kind says it all.
    pub fn range(&self) -> String {
        self.bounds.map_or_else(|| self.rule.into(), |(low, high)| format!("{low} to {high}"))
    }

    /// Its value in a profile, in words.
    pub fn told(&self, profile: &Profile) -> String {
        match (self.get)(profile) {
            Value::Absent => self.open.into(),
            Value::Text(text) => text,
            value => value.to_string(),
        }
    }

    /// Where it stands in each profile: `"default 10, ns2 2"`.
    pub fn by_profile(&self) -> String {
        let values: Vec<(&str, String)> = PROFILES
            .iter()
            .map(|name| (*name, self.told(&Profile::named(name).unwrap_or_default())))
            .collect();
        if values.iter().all(|(_, value)| *value == values[0].1) {
            return values[0].1.clone();
        }
        values.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
    }
}

impl Profile {
    /// The knobs that stand otherwise than in the profile of its name.
    pub fn knobs_set(&self) -> impl Iterator<Item = &'static Knob> {
        let named = Profile::named(self.name).unwrap_or_default();
        KNOBS.iter().filter(move |knob| (knob.get)(self) != (knob.get)(&named))
    }
}

/// A knob is known by its name.
impl PartialEq for Knob {
    fn eq(&self, other: &Knob) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Knob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Choices by their words.
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
                        Err(format!("\"{word}\" is none of the words{hint} (legal: {})", words.join(", ")))
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

/// One of the RFCs, or false. True is the first of them: a file from before there were two.
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
                Err(format!("{value} is no form of PRR{hint} (expected: \"rfc9937\", \"rfc6937\" or false)"))
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

    /// A profile that is taken apart and put together again is the same: no field is without a knob.
    #[test]
    fn the_knobs_are_all_there_is_to_a_profile() {
        for name in PROFILES {
            let profile = Profile::named(name).unwrap();
            for other in PROFILES {
                let mut made = Profile { name: profile.name, ..Profile::named(other).unwrap() };
                for knob in KNOBS {
                    (knob.set)(&mut made, &(knob.get)(&profile));
                }
                assert_eq!(Profile { sack: profile.sack, ..made }, profile);
            }
        }
    }

    #[test]
    fn every_value_of_a_profile_is_legal() {
        for name in PROFILES {
            let profile = Profile::named(name).unwrap();
            for knob in KNOBS {
                let value = (knob.get)(&profile);
                assert!(value == Value::Absent || (knob.legal)(&value) == Ok(true), "{name}: {knob:?}");
                assert_eq!(value == Value::Absent, !knob.open.is_empty(), "{name}: {knob:?}");
            }
        }
    }

    #[test]
    fn every_profile_has_its_page() {
        let stems: Vec<&str> = PROFILE_PAGES.iter().map(|page| page.stem).collect();
        assert_eq!(stems, PROFILES);
    }

    #[test]
    fn values_are_told_profile_by_profile_where_they_differ() {
        assert_eq!(knob("initial_window").unwrap().by_profile(), "default 10, ns2 2, ns3 10");
        assert_eq!(knob("timestamps").unwrap().by_profile(), "default false, ns2 false, ns3 true");
        assert_eq!(knob("sack").unwrap().by_profile(), "as the congestion control's RFC has it");
        assert_eq!(knob("halving").unwrap().by_profile(), "default flight_size, ns2 window, ns3 pipe");
    }
}
