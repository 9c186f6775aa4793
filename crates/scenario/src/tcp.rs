//! Knobs of TCP that contradict each other.
//!
//! What a profile has is followed as far as it applies: RACK finds no losses for a sender without SACK, and nobody is
//! told. A knob that somebody turns is refused where it would not be followed, or where an RFC forbids it beside the
//! others. So `prr = false` is taken from a sender that has no such thing, and `prr = "rfc9937"` is not.

use crate::keys::Key;
use sojourn_tcp::cc::{Choice, Feedback, Recovery};
use sojourn_tcp::{HEADER, LimitedTransmit, LossDetection, Pipe, Profile, Prr, TIMESTAMPS};
use sojourn_units::{Bytes, Span, Value};

/// The keys that a file sets of what a group's TCP is made of: those that may contradict each other.
///
/// They say nothing that the values do not, so two scenarios may be the same where one leaves out what the other gives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given(pub(crate) Vec<&'static Key>);

impl PartialEq for Given {
    fn eq(&self, _: &Given) -> bool {
        true
    }
}

impl Given {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|key| key.name == name)
    }
}

/// Whether flows with this control negotiate ECN where nothing is said of it: where it is made of marks.
pub(crate) fn ecn_with(cc: &Choice) -> bool {
    cc.feedback() == Feedback::PerSegment
}

/// How a group's TCP is set up, and by which keys.
pub(crate) struct Tcp {
    /// Its congestion control.
    pub(crate) cc: Choice,
    /// The profile, with what the file sets otherwise.
    pub(crate) profile: Profile,
    pub(crate) ecn: bool,
    pub(crate) segment: Bytes,
    pub(crate) given: Given,
}

impl Tcp {
    /// Each key that is given and cannot be with the others; what is wrong, and what is legal.
    pub(crate) fn contradictions(&self) -> Vec<(&'static Key, String)> {
        let rule = |key: &Key| RULES.iter().find(|(name, _)| *name == key.name);
        let given = self.given.0.iter().filter_map(|key| Some((*key, rule(key)?.1)));
        given.filter_map(|(key, clash)| clash(self).map(|what| (key, what))).collect()
    }

    fn recovers_by(&self, recovery: Recovery) -> bool {
        self.cc.recovery(self.profile.sack) == Ok(recovery)
    }

    fn has_sack(&self) -> bool {
        self.recovers_by(Recovery::Sack)
    }

    /// Whether RACK finds the losses.
    fn has_rack(&self) -> bool {
        let profile = &self.profile;
        self.has_sack() && profile.pipe == Pipe::Scoreboard && profile.loss_detection == LossDetection::Rack
    }

    /// Why a knob of recovery by SACK does nothing here.
    fn without_sack(&self, on: bool) -> Option<String> {
        let whose = match self.profile.sack {
            Some(_) => "sack = false leaves them without".into(),
            None => format!("cc = \"{}\" goes without", self.cc.name()),
        };
        (on && !self.has_sack())
            .then(|| format!("needs selective acknowledgments, which {whose}; legal: sack = true with it"))
    }

    /// Why a knob of recovery with a scoreboard does nothing here.
    fn without_board(&self, on: bool) -> Option<String> {
        let counted = self.profile.pipe == Pipe::Counted;
        let what =
            "needs a scoreboard, and here the pipe is only counted; legal: pipe = \"scoreboard\" with it";
        self.without_sack(on).or_else(|| (on && counted).then(|| what.into()))
    }

    /// RACK knows when each segment was sent, and timestamps come with every ACK.
    fn timed_anyway(&self) -> Option<String> {
        let (why, instead) = if self.profile.timestamps {
            ("timestamps measure with every ACK (RFC 7323, section 4.1)", "timestamps = false")
        } else if self.has_rack() {
            ("RACK times every segment (RFC 8985, section 6.1)", "loss_detection = \"dupacks\"")
        } else {
            return None;
        };
        (!self.profile.time_all)
            .then(|| format!("is false, and here {why}; legal: true, or {instead} with it"))
    }

    /// Recovery without duplicate ACKs sends what RFC 6675 or RFC 8985 has.
    fn limited_elsewise(&self) -> Option<String> {
        let next = self.profile.limited_transmit == LimitedTransmit::Next;
        let by_board = self.has_sack() && self.profile.pipe == Pipe::Scoreboard;
        let what = "is \"next\", and here a scoreboard says what goes out before recovery (RFC 6675, section 5); \
                    legal: \"new_data\", or sack = false with it";
        (next && by_board).then(|| what.into())
    }

    /// Only recovery that an ACK ends lets the window grow with it.
    fn never_grows_on_exit(&self) -> Option<String> {
        let what = if self.has_rack() {
            "needs recovery by duplicate ACKs, and here losses are found by RACK; legal: loss_detection = \"dupacks\" with it"
        } else if self.has_sack() && self.profile.pipe == Pipe::Counted {
            "needs a scoreboard, and here the pipe is only counted; legal: pipe = \"scoreboard\" with it"
        } else {
            return None;
        };
        self.profile.grow_on_exit.then(|| what.into())
    }

    /// RACK arms the timer for each segment that it sends again (RFC 8985, section 8).
    fn leaves_no_timer(&self) -> Option<String> {
        let on = !self.profile.recovery_restarts_timer;
        let what = "is false, of recovery by RFC 6675, and here losses are found by RACK; legal: loss_detection = \"dupacks\" with it";
        self.without_board(on).or_else(|| (on && self.has_rack()).then(|| what.into()))
    }

    /// RFC 6582 has it for the end of its own recovery.
    fn exits_elsewise(&self) -> Option<String> {
        let (here, legal) = if self.has_sack() {
            ("recovery goes by SACK".into(), "sack = false with it")
        } else {
            (format!("cc = \"{}\" has the recovery of RFC 5681", self.cc.name()), "another cc")
        };
        (self.profile.cautious_exit && !self.recovers_by(Recovery::NewReno))
            .then(|| format!("is NewReno's (RFC 6582), and here {here}; legal: {legal}"))
    }

    /// Why a knob of CUBIC's curve does nothing here.
    fn without_cubic(&self, on: bool) -> Option<String> {
        (on && self.cc.name() != "cubic").then(|| {
            format!("is CUBIC's, and here cc = \"{}\"; legal: cc = \"cubic\" with it", self.cc.name())
        })
    }

    /// CUBIC multiplies its window (RFC 9438, section 4.6).
    fn halves_nothing(&self) -> Option<String> {
        let cubic = (self.cc.name() == "cubic").then(|| {
            "is Reno's, and CUBIC keeps 0.7 of its window (RFC 9438, section 4.6); legal: another cc".into()
        });
        self.has_own_curve().or(cubic)
    }

    /// A curve from outside takes the initial window from a profile, and no more.
    fn has_own_curve(&self) -> Option<String> {
        matches!(self.cc, Choice::Guest(_)).then(|| {
            let name = self.cc.name();
            format!("is of the curves of the catalogue, and \"{name}\" is none of them; legal: leave it out")
        })
    }

    /// Why a knob of delayed ACKs does nothing here.
    fn without_delay(&self) -> Option<String> {
        let what =
            "is of delayed ACKs, and here every segment is acknowledged; legal: delayed_ack = true with it";
        (!self.profile.delayed_ack).then(|| what.into())
    }

    /// Why a knob of ECN does nothing here.
    fn without_ecn(&self) -> Option<String> {
        (!self.ecn).then(|| "is of ECN, which these flows do not negotiate; legal: ecn = true with it".into())
    }

    /// Marks are all that such a control knows of congestion (RFC 8257, section 3.1).
    fn without_marks(&self) -> Option<String> {
        (!self.ecn && ecn_with(&self.cc)).then(|| {
            format!(
                "is false, and cc = \"{}\" is made of ECN marks; legal: true, or another cc",
                self.cc.name()
            )
        })
    }

    /// RFC 8511 is about the answer to ECN alone.
    fn backoff_without_ecn(&self) -> Option<String> {
        let abe = self.cc.params().iter().any(|(key, value)| key == "abe" && *value == Value::Flag(true));
        let what = "has abe = true, an answer to ECN (RFC 8511), which these flows do not negotiate; legal: ecn = true \
                    with it";
        (abe && !self.ecn).then(|| what.into())
    }

    fn without_rack(&self) -> Option<String> {
        let rack = self.profile.loss_detection == LossDetection::Rack;
        let what = "is a part of RACK (RFC 8985, section 7), and here losses are found by duplicate ACKs; \
                    legal: loss_detection = \"rack\" with it";
        self.without_board(self.profile.tail_loss_probe)
            .or_else(|| (self.profile.tail_loss_probe && !rack).then(|| what.into()))
    }

    /// Only the form of RFC 6937 is known to count so.
    fn counts_otherwise(&self) -> Option<String> {
        let on = self.profile.prr_counts_twice;
        let what = "is of PRR as RFC 6937 has it; expected prr = \"rfc6937\" with it";
        self.without_board(on).or_else(|| (on && self.profile.prr != Prr::Rfc6937).then(|| what.into()))
    }

    /// What would show that a reduction was for nothing.
    fn without_witness(&self) -> Option<String> {
        let witness = self.profile.timestamps || (self.profile.dsack && self.has_sack());
        let what = "needs timestamps or D-SACKs to see that nothing was lost, and here are neither; \
                    legal: timestamps = true, or sack = true and dsack = true, with it";
        (self.profile.undo && !witness).then(|| what.into())
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
                "{} segments are {room} B, more than the {most} B of a window {why}; legal: 1 to {} segments",
                self.profile.receive_window,
                most / mss
            )
        })
    }

    /// RFC 6298 has no timeout outside of its bounds.
    fn below_cap(&self, timeout: Span) -> Option<String> {
        let cap = self.profile.max_rto;
        (timeout > cap)
            .then(|| format!("{timeout} is above max_rto = {cap}; legal: at most {cap}, or a larger max_rto"))
    }

    fn cap_too_low(&self) -> Option<String> {
        let Profile { min_rto, initial_rto, max_rto, .. } = self.profile;
        let (name, least) =
            if min_rto >= initial_rto { ("min_rto", min_rto) } else { ("initial_rto", initial_rto) };
        // Where that one is given too, it is told there.
        (max_rto < least && !self.given.has(name))
            .then(|| format!("{max_rto} is below {name} = {least} of the profile; legal: {least} or more, or {name} with it"))
    }
}

/// A key, and what is wrong with it in the light of the others.
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
