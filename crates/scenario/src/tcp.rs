//! Knobs of TCP that contradict each other.
//!
//! What a profile has is followed as far as it applies: RACK finds no losses for a sender without SACK, and nobody is
//! told. A knob that somebody turns and that would do nothing, or that an RFC forbids beside the others, is refused.

use sojourn_tcp::cc::{Choice, Feedback, Recovery};
use sojourn_tcp::{HEADER, LossDetection, Pipe, Profile, TIMESTAMPS};
use sojourn_units::{Bytes, Span, Value};

/// How a group's TCP is set up, and by which keys.
pub(crate) struct Tcp {
    /// Its congestion control.
    pub(crate) cc: Choice,
    /// The profile, with what the file sets otherwise.
    pub(crate) profile: Profile,
    pub(crate) ecn: bool,
    pub(crate) segment: Bytes,
    /// The knobs that the file sets, and those keys of the group that they may contradict.
    pub(crate) given: Vec<&'static str>,
}

impl Tcp {
    /// Each key that is given and cannot be with the others; what is wrong, and what is legal.
    pub(crate) fn contradictions(&self) -> Vec<(&'static str, String)> {
        let given = RULES.iter().filter(|(key, _)| self.is_given(key));
        given.filter_map(|(key, clash)| clash(self).map(|what| (*key, what))).collect()
    }

    fn is_given(&self, knob: &str) -> bool {
        self.given.contains(&knob)
    }

    fn has_sack(&self) -> bool {
        self.cc.recovery(self.profile.sack) == Ok(Recovery::Sack)
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
        (!self.ecn && self.cc.feedback() == Feedback::PerSegment).then(|| {
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
    fn below_cap(&self, name: &str, timeout: Span) -> Option<String> {
        let cap = self.profile.max_rto;
        (timeout > cap).then(|| format!("{timeout} is above max_rto = {cap}; legal: {name} up to max_rto"))
    }

    fn cap_too_low(&self) -> Option<String> {
        let Profile { min_rto, initial_rto, max_rto, .. } = self.profile;
        let (name, least) =
            if min_rto >= initial_rto { ("min_rto", min_rto) } else { ("initial_rto", initial_rto) };
        // Where that one is given too, it is told there.
        (max_rto < least && !self.is_given(name))
            .then(|| format!("{max_rto} is below {name} = {least} of the profile; legal: {least} or more, or {name} with it"))
    }
}

/// A key, and what is wrong with it in the light of the others.
type Rule = (&'static str, fn(&Tcp) -> Option<String>);

static RULES: &[Rule] = &[
    ("cc", Tcp::backoff_without_ecn),
    ("ecn", Tcp::without_marks),
    ("min_rto", |tcp| tcp.below_cap("min_rto", tcp.profile.min_rto)),
    ("initial_rto", |tcp| tcp.below_cap("initial_rto", tcp.profile.initial_rto)),
    ("max_rto", Tcp::cap_too_low),
    ("ack_every", Tcp::without_delay),
    ("ack_delay", Tcp::without_delay),
    ("receive_window", Tcp::window_too_large),
    ("dsack", |tcp| tcp.without_sack(tcp.profile.dsack)),
    ("loss_detection", |tcp| tcp.without_board(tcp.profile.loss_detection == LossDetection::Rack)),
    ("tail_loss_probe", Tcp::without_rack),
    ("pipe", |tcp| tcp.without_sack(true)),
    ("prr", |tcp| tcp.without_board(tcp.profile.prr)),
    ("undo", Tcp::without_witness),
    ("fast_convergence", |tcp| {
        (tcp.cc.name() != "cubic").then(|| {
            format!("is CUBIC's, and here cc = \"{}\"; legal: cc = \"cubic\" with it", tcp.cc.name())
        })
    }),
    ("cautious_exit", |tcp| {
        let what = "is NewReno's (RFC 6582), and here recovery goes by SACK; legal: sack = false with it";
        (tcp.profile.cautious_exit && tcp.has_sack()).then(|| what.into())
    }),
    ("ect_on_retransmit", |tcp| if tcp.profile.ect_on_retransmit { tcp.without_ecn() } else { None }),
    ("ecn_at_one", Tcp::without_ecn),
    ("ecn_after_timeout", |tcp| if tcp.profile.ecn_after_timeout { tcp.without_ecn() } else { None }),
];

/// The widest window of 16 bits, bytes.
const WIDEST: u64 = 65_535;
/// The widest window that is scaled, bytes: 2^30.
const WIDEST_SCALED: u64 = 1 << 30;
