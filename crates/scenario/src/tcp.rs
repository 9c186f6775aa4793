//! Settings of TCP that contradict each other.
//!
//! A profile applies as far as it can: RACK has no effect on a sender without SACK, and no error results. An explicit
//! setting is rejected where it would have no effect, or where an RFC forbids it beside the others. So without SACK
//! `prr = false` is accepted, and `prr = "rfc9937"` is not.

use sojourn_params::Value;
use sojourn_tcp::cc::{Choice, Feedback, Recovery};
use sojourn_tcp::{HEADER, LimitedTransmit, LossDetection, Pipe, Profile, Prr, TIMESTAMPS};
use sojourn_units::{Bytes, Span};

/// Settings of a group's TCP that the file gives and that may contradict each other.
///
/// They always compare equal: a scenario equals one that leaves out defaults.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExplicitKeys(pub(crate) Vec<ExplicitKey>);

/// A key by its table and its name there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExplicitKey {
    pub(crate) table: &'static str,
    pub(crate) name: &'static str,
}

impl PartialEq for ExplicitKeys {
    fn eq(&self, _: &ExplicitKeys) -> bool {
        true
    }
}

impl ExplicitKeys {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|key| key.name == name)
    }
}

/// Default of `ecn` with this control: true where it needs feedback per segment.
pub(crate) fn ecn_with(cc: &Choice) -> bool {
    cc.feedback() == Feedback::PerSegment
}

/// TCP settings of a group, and the keys that set them.
pub(crate) struct Tcp {
    /// Its congestion control.
    pub(crate) cc: Choice,
    /// The profile, with the settings of the file.
    pub(crate) profile: Profile,
    pub(crate) ecn: bool,
    pub(crate) segment: Bytes,
    pub(crate) given: ExplicitKeys,
}

impl Tcp {
    /// Explicit keys that contradict other settings, each with its error message.
    pub(crate) fn contradictions(&self) -> Vec<(ExplicitKey, String)> {
        let rule = |key: &ExplicitKey| RULES.iter().find(|(name, _)| *name == key.name);
        let given = self.given.0.iter().filter_map(|key| Some((*key, rule(key)?.1)));
        given.filter_map(|(key, clash)| clash(self).map(|message| (key, message))).collect()
    }

    fn recovers_by(&self, recovery: Recovery) -> bool {
        self.cc.recovery(self.profile.sack) == Ok(recovery)
    }

    fn has_sack(&self) -> bool {
        self.recovers_by(Recovery::Sack)
    }

    /// True where RACK detects losses.
    fn has_rack(&self) -> bool {
        let profile = &self.profile;
        self.has_sack() && profile.pipe == Pipe::Scoreboard && profile.loss_detection == LossDetection::Rack
    }

    /// Error of a setting that takes effect only in recovery by SACK.
    fn without_sack(&self, on: bool) -> Option<String> {
        let whose = match self.profile.sack {
            Some(_) => "sack = false leaves them without".into(),
            None => format!("cc = \"{}\" goes without", self.cc.name()),
        };
        (on && !self.has_sack())
            .then(|| format!("needs selective acknowledgments, which {whose}; expected sack = true with it"))
    }

    /// Error of a setting that takes effect only with a scoreboard.
    fn without_board(&self, on: bool) -> Option<String> {
        let counted = self.profile.pipe == Pipe::Counted;
        let message =
            "needs a scoreboard, and here the pipe is only counted; expected pipe = \"scoreboard\" with it";
        self.without_sack(on).or_else(|| (on && counted).then(|| message.into()))
    }

    /// RACK times every segment, and timestamps come with every ACK.
    fn timed_anyway(&self) -> Option<String> {
        let (why, instead) = if self.profile.timestamps {
            ("timestamps measure with every ACK (RFC 7323, section 4.1)", "timestamps = false")
        } else if self.has_rack() {
            ("RACK times every segment (RFC 8985, section 6.1)", "loss_detection = \"dupacks\"")
        } else {
            return None;
        };
        (!self.profile.time_all)
            .then(|| format!("is false, and here {why}; expected true, or {instead} with it"))
    }

    /// With SACK, RFC 6675 or RFC 8985 defines limited transmit.
    fn limited_elsewise(&self) -> Option<String> {
        let next = self.profile.limited_transmit == LimitedTransmit::Next;
        let by_board = self.has_sack() && self.profile.pipe == Pipe::Scoreboard;
        let message = "is \"next\", and here a scoreboard decides what is sent before recovery (RFC 6675, section 5); \
                    expected \"new_data\", or sack = false with it";
        (next && by_board).then(|| message.into())
    }

    /// Only recovery that an ACK ends lets the window grow with it.
    fn never_grows_on_exit(&self) -> Option<String> {
        let message = if self.has_rack() {
            "needs recovery by duplicate ACKs, and here losses are found by RACK; expected loss_detection = \"dupacks\" with it"
        } else if self.has_sack() && self.profile.pipe == Pipe::Counted {
            "needs a scoreboard, and here the pipe is only counted; expected pipe = \"scoreboard\" with it"
        } else {
            return None;
        };
        self.profile.grow_on_exit.then(|| message.into())
    }

    /// RACK arms the timer for each segment that it sends again (RFC 8985, section 8).
    fn leaves_no_timer(&self) -> Option<String> {
        let on = !self.profile.recovery_restarts_timer;
        let message = "is false, of recovery by RFC 6675, and here losses are found by RACK; expected loss_detection = \"dupacks\" with it";
        self.without_board(on).or_else(|| (on && self.has_rack()).then(|| message.into()))
    }

    /// RFC 6582 defines it for the end of its own recovery.
    fn exits_elsewise(&self) -> Option<String> {
        let (here, expected) = if self.has_sack() {
            ("recovery goes by SACK".into(), "sack = false with it")
        } else {
            (format!("cc = \"{}\" has the recovery of RFC 5681", self.cc.name()), "another cc")
        };
        (self.profile.cautious_exit && !self.recovers_by(Recovery::NewReno)).then(|| {
            format!(
                "applies to the recovery of NewReno only (RFC 6582), and here {here}; expected {expected}"
            )
        })
    }

    /// Error of a setting of CUBIC's curve under another control.
    fn without_cubic(&self, on: bool) -> Option<String> {
        (on && self.cc.name() != "cubic").then(|| {
            format!(
                "applies to CUBIC only, and here cc = \"{}\"; expected cc = \"cubic\" with it",
                self.cc.name()
            )
        })
    }

    /// CUBIC multiplies its window (RFC 9438, section 4.6).
    fn halves_nothing(&self) -> Option<String> {
        let cubic = (self.cc.name() == "cubic").then(|| {
            "applies to Reno only; CUBIC keeps 0.7 of its window (RFC 9438, section 4.6); expected another cc".into()
        });
        self.has_own_curve().or(cubic)
    }

    /// A custom curve takes the initial window from a profile, and no more.
    fn has_own_curve(&self) -> Option<String> {
        matches!(self.cc, Choice::Custom(_)).then(|| {
            let name = self.cc.name();
            format!("is of the curves of the catalogue, and \"{name}\" is none of them; leave it out")
        })
    }

    /// Error of a setting of delayed ACKs where every segment is acknowledged.
    fn without_delay(&self) -> Option<String> {
        let message =
            "is of delayed ACKs, and here every segment is acknowledged; expected delayed_ack = true with it";
        (!self.profile.delayed_ack).then(|| message.into())
    }

    /// Error of a setting of ECN where it is not negotiated.
    fn without_ecn(&self) -> Option<String> {
        (!self.ecn)
            .then(|| "is of ECN, which these flows do not negotiate; expected ecn = true with it".into())
    }

    /// Such a control needs marks (RFC 8257, section 3.1).
    fn without_marks(&self) -> Option<String> {
        (!self.ecn && ecn_with(&self.cc)).then(|| {
            format!("is false, and cc = \"{}\" needs ECN marks; expected true, or another cc", self.cc.name())
        })
    }

    /// RFC 8511 is about the answer to ECN alone.
    fn backoff_without_ecn(&self) -> Option<String> {
        let abe = self.cc.params().iter().any(|(key, value)| key == "abe" && *value == Value::Flag(true));
        let message = "has abe = true, an answer to ECN (RFC 8511), which these flows do not negotiate; expected ecn = true \
                    with it";
        (abe && !self.ecn).then(|| message.into())
    }

    fn without_rack(&self) -> Option<String> {
        let rack = self.profile.loss_detection == LossDetection::Rack;
        let message = "is a part of RACK (RFC 8985, section 7), and here losses are found by duplicate ACKs; \
                    expected loss_detection = \"rack\" with it";
        self.without_board(self.profile.tail_loss_probe)
            .or_else(|| (self.profile.tail_loss_probe && !rack).then(|| message.into()))
    }

    /// Only the form of RFC 6937 counts so.
    fn counts_otherwise(&self) -> Option<String> {
        let on = self.profile.prr_counts_twice;
        let message = "is of PRR as RFC 6937 has it; expected prr = \"rfc6937\" with it";
        self.without_board(on).or_else(|| (on && self.profile.prr != Prr::Rfc6937).then(|| message.into()))
    }

    /// Detection of spurious reductions needs timestamps or D-SACKs.
    fn without_witness(&self) -> Option<String> {
        let witness = self.profile.timestamps || (self.profile.dsack && self.has_sack());
        let message = "needs timestamps or D-SACKs to detect that nothing was lost, and here are neither; \
                    expected timestamps = true, or sack = true and dsack = true, with it";
        (self.profile.undo && !witness).then(|| message.into())
    }

    fn window_too_large(&self) -> Option<String> {
        let options = if self.profile.timestamps { TIMESTAMPS } else { 0 };
        let mss = self.segment.get().saturating_sub(u64::from(HEADER + options)).max(1);
        let (most, why) = if self.profile.window_scaling {
            (WIDEST_SCALED, "as windows are scaled (RFC 7323, section 2.3)")
        } else {
            (WIDEST, "where window_scaling = false")
        };
        let room = self.profile.receive_window * mss;
        (room > most).then(|| {
            format!(
                "{} segments are {room} B, more than the {most} B of a window {why}; expected 1 to {} segments",
                self.profile.receive_window,
                most / mss
            )
        })
    }

    /// RFC 6298 has no timeout outside of its bounds.
    fn below_cap(&self, timeout: Span) -> Option<String> {
        let cap = self.profile.max_rto;
        (timeout > cap).then(|| {
            format!("{timeout} is above max_rto = {cap}; expected at most {cap}, or a larger max_rto")
        })
    }

    fn cap_too_low(&self) -> Option<String> {
        let Profile { min_rto, initial_rto, max_rto, .. } = self.profile;
        let (name, least) =
            if min_rto >= initial_rto { ("min_rto", min_rto) } else { ("initial_rto", initial_rto) };
        // Reported at that key if it is given too.
        (max_rto < least && !self.given.has(name))
            .then(|| format!("{max_rto} is below {name} = {least} of the profile; expected {least} or more, or {name} with it"))
    }
}

/// A key and its check against the other settings.
type Rule = (&'static str, fn(&Tcp) -> Option<String>);

static RULES: &[Rule] = &[
    ("cc", Tcp::backoff_without_ecn),
    ("ecn", Tcp::without_marks),
    ("byte_counting", Tcp::has_own_curve),
    ("halving", Tcp::halves_nothing),
    ("min_rto", |tcp| tcp.below_cap(tcp.profile.min_rto)),
    ("initial_rto", |tcp| tcp.below_cap(tcp.profile.initial_rto)),
    ("max_rto", Tcp::cap_too_low),
    ("time_all", Tcp::timed_anyway),
    ("ack_every", Tcp::without_delay),
    ("ack_delay", Tcp::without_delay),
    ("receive_window", Tcp::window_too_large),
    ("dsack", |tcp| tcp.without_sack(tcp.profile.dsack)),
    ("loss_detection", |tcp| tcp.without_board(tcp.profile.loss_detection == LossDetection::Rack)),
    ("tail_loss_probe", Tcp::without_rack),
    ("pipe", |tcp| tcp.without_sack(true)),
    ("prr", |tcp| tcp.without_board(tcp.profile.prr != Prr::Off)),
    ("prr_counts_twice", Tcp::counts_otherwise),
    ("undo", Tcp::without_witness),
    ("limited_transmit", Tcp::limited_elsewise),
    ("cautious_exit", Tcp::exits_elsewise),
    ("grow_on_exit", Tcp::never_grows_on_exit),
    ("recovery_restarts_timer", Tcp::leaves_no_timer),
    ("sack_takes_room", |tcp| tcp.without_sack(tcp.profile.sack_takes_room)),
    ("fast_convergence", |tcp| tcp.without_cubic(tcp.profile.fast_convergence)),
    ("cubic_counts_segments", |tcp| tcp.without_cubic(tcp.profile.cubic_counts_segments)),
    ("ect_on_retransmit", |tcp| if tcp.profile.ect_on_retransmit { tcp.without_ecn() } else { None }),
    ("ecn_at_one", Tcp::without_ecn),
    ("ecn_after_timeout", |tcp| if tcp.profile.ecn_after_timeout { tcp.without_ecn() } else { None }),
];

/// The widest window of 16 bits, bytes.
const WIDEST: u64 = 65_535;
/// The widest window that is scaled, bytes: 2^30.
const WIDEST_SCALED: u64 = 1 << 30;
