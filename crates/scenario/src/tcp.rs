//! Settings of TCP that contradict each other.
//!
//! A profile applies as far as it can: RACK has no effect on a sender without SACK, and no error results. An explicit
//! setting is rejected where it would have no effect, or where an RFC forbids it beside the others. So without SACK
//! `prr = false` is accepted, and `prr = "rfc9937"` is not.

use sojourn_params::{ErrorKind, Expected, InputError};
use sojourn_tcp::cc::{Choice, Feedback, Recovery};
use sojourn_tcp::{HEADER, LimitedTransmit, LossDetection, Pipe, Profile, Prr, TIMESTAMPS};
use sojourn_units::{Bytes, Span};

/// A key of a group about TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// `cc`.
    Cc,
    /// `ecn`.
    Ecn,
    /// A key of the table `tcp`.
    Setting(&'static str),
}

impl Key {
    /// The key, below the group's table.
    fn path(self) -> String {
        match self {
            Key::Cc => "cc".into(),
            Key::Ecn => "ecn".into(),
            Key::Setting(setting) => format!("tcp.{setting}"),
        }
    }
}

/// Keys of a group that the file gives and that may contradict each other.
///
/// They always compare equal: a scenario equals one that leaves out defaults.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExplicitKeys(pub(crate) Vec<Key>);

impl PartialEq for ExplicitKeys {
    fn eq(&self, _: &ExplicitKeys) -> bool {
        true
    }
}

impl ExplicitKeys {
    pub(crate) fn has(&self, key: Key) -> bool {
        self.0.contains(&key)
    }
}

/// A contradiction, before its key is known.
fn clash(problem: impl Into<String>, expected: impl Into<Expected>) -> InputError {
    InputError::new(ErrorKind::Conflict, problem, expected)
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
    /// Errors of explicit keys that contradict other settings.
    pub(crate) fn contradictions(&self) -> Vec<InputError> {
        let rule = |given: Key| RULES.iter().find(|(key, _)| *key == given);
        let given = self.given.0.iter().filter_map(|key| Some((key, rule(*key)?.1)));
        given.filter_map(|(key, clash)| clash(self).map(|error| error.at(&key.path()))).collect()
    }

    fn recovers_by(&self, recovery: Recovery) -> bool {
        self.cc.recovery(self.profile.sack) == recovery
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
    fn without_sack(&self, on: bool) -> Option<InputError> {
        let whose = match self.profile.sack {
            Some(_) => "sack = false leaves them without".into(),
            None => format!("cc = \"{}\" goes without", self.cc.name()),
        };
        let problem = format!("needs selective acknowledgments, which {whose}");
        (on && !self.has_sack()).then(|| clash(problem, "sack = true with it"))
    }

    /// Error of a setting that takes effect only with a scoreboard.
    fn without_board(&self, on: bool) -> Option<InputError> {
        let counted = self.profile.pipe == Pipe::Counted;
        self.without_sack(on).or_else(|| (on && counted).then(only_counted))
    }

    /// RACK times every segment, and timestamps come with every ACK.
    fn timed_anyway(&self) -> Option<InputError> {
        let (why, instead) = if self.profile.timestamps {
            ("timestamps measure with every ACK (RFC 7323, section 4.1)", "timestamps = false")
        } else if self.has_rack() {
            ("RACK times every segment (RFC 8985, section 6.1)", "loss_detection = \"dupacks\"")
        } else {
            return None;
        };
        let expected = format!("true, or {instead} with it");
        (!self.profile.time_all).then(|| clash(format!("is false, and here {why}"), expected))
    }

    /// With SACK, RFC 6675 or RFC 8985 defines limited transmit.
    fn limited_elsewise(&self) -> Option<InputError> {
        let next = self.profile.limited_transmit == LimitedTransmit::Next;
        let by_board = self.has_sack() && self.profile.pipe == Pipe::Scoreboard;
        let problem =
            "is \"next\", and here a scoreboard decides what is sent before recovery (RFC 6675, section 5)";
        (next && by_board).then(|| clash(problem, "\"new_data\", or sack = false with it"))
    }

    /// Only recovery that an ACK ends lets the window grow with it.
    fn never_grows_on_exit(&self) -> Option<InputError> {
        let error = if self.has_rack() {
            let problem = "needs recovery by duplicate ACKs, and here losses are found by RACK";
            clash(problem, "loss_detection = \"dupacks\" with it")
        } else if self.has_sack() && self.profile.pipe == Pipe::Counted {
            only_counted()
        } else {
            return None;
        };
        self.profile.grow_on_exit.then_some(error)
    }

    /// RACK arms the timer for each segment that it sends again (RFC 8985, section 8).
    fn leaves_no_timer(&self) -> Option<InputError> {
        let on = !self.profile.recovery_restarts_timer;
        let problem = "is false, of recovery by RFC 6675, and here losses are found by RACK";
        let by_rack = || clash(problem, "loss_detection = \"dupacks\" with it");
        self.without_board(on).or_else(|| (on && self.has_rack()).then(by_rack))
    }

    /// RFC 6582 defines it for the end of its own recovery.
    fn exits_elsewise(&self) -> Option<InputError> {
        let (here, expected) = if self.has_sack() {
            ("recovery goes by SACK".into(), "sack = false with it")
        } else {
            (format!("cc = \"{}\" has the recovery of RFC 5681", self.cc.name()), "another cc")
        };
        let problem = format!("applies to the recovery of NewReno only (RFC 6582), and here {here}");
        (self.profile.cautious_exit && !self.recovers_by(Recovery::NewReno)).then(|| clash(problem, expected))
    }

    /// Error of a setting of CUBIC's curve under another control.
    fn without_cubic(&self, on: bool) -> Option<InputError> {
        let problem = format!("applies to CUBIC only, and here cc = \"{}\"", self.cc.name());
        (on && self.cc.name() != "cubic").then(|| clash(problem, "cc = \"cubic\" with it"))
    }

    /// CUBIC multiplies its window (RFC 9438, section 4.6).
    fn halves_nothing(&self) -> Option<InputError> {
        let problem = "applies to Reno only; CUBIC keeps 0.7 of its window (RFC 9438, section 4.6)";
        let cubic = (self.cc.name() == "cubic").then(|| clash(problem, "another cc"));
        self.has_own_curve().or(cubic)
    }

    /// A custom curve takes the initial window from a profile, and no more.
    fn has_own_curve(&self) -> Option<InputError> {
        let problem =
            format!("is of the curves of the catalogue, and \"{}\" is none of them", self.cc.name());
        matches!(self.cc, Choice::Custom(_)).then(|| clash(problem, "no such key"))
    }

    /// Error of a setting of delayed ACKs where every segment is acknowledged.
    fn without_delay(&self) -> Option<InputError> {
        let problem = "is of delayed ACKs, and here every segment is acknowledged";
        (!self.profile.delayed_ack).then(|| clash(problem, "delayed_ack = true with it"))
    }

    /// Error of a setting of ECN where it is not negotiated.
    fn without_ecn(&self) -> Option<InputError> {
        (!self.ecn).then(|| clash("is of ECN, which these flows do not negotiate", "ecn = true with it"))
    }

    /// Such a control needs marks (RFC 8257, section 3.1).
    fn without_marks(&self) -> Option<InputError> {
        let problem = format!("is false, and cc = \"{}\" needs ECN marks", self.cc.name());
        (!self.ecn && ecn_with(&self.cc)).then(|| clash(problem, "true, or another cc"))
    }

    /// RFC 8511 is about the answer to ECN alone.
    fn backoff_without_ecn(&self) -> Option<InputError> {
        let problem = "has abe = true, an answer to ECN (RFC 8511), which these flows do not negotiate";
        (self.cc.has_abe() && !self.ecn).then(|| clash(problem, "ecn = true with it"))
    }

    fn without_rack(&self) -> Option<InputError> {
        let rack = self.profile.loss_detection == LossDetection::Rack;
        let problem = "is a part of RACK (RFC 8985, section 7), and here losses are found by duplicate ACKs";
        self.without_board(self.profile.tail_loss_probe).or_else(|| {
            (self.profile.tail_loss_probe && !rack)
                .then(|| clash(problem, "loss_detection = \"rack\" with it"))
        })
    }

    /// Only the form of RFC 6937 counts so.
    fn counts_otherwise(&self) -> Option<InputError> {
        let on = self.profile.prr_counts_twice;
        let other = || clash("is of PRR as RFC 6937 has it", "prr = \"rfc6937\" with it");
        self.without_board(on).or_else(|| (on && self.profile.prr != Prr::Rfc6937).then(other))
    }

    /// Detection of spurious reductions needs timestamps or D-SACKs.
    fn without_witness(&self) -> Option<InputError> {
        let witness = self.profile.timestamps || (self.profile.dsack && self.has_sack());
        let problem = "needs timestamps or D-SACKs to detect that nothing was lost, and here are neither";
        let expected = "timestamps = true, or sack = true and dsack = true, with it";
        (self.profile.undo && !witness).then(|| clash(problem, expected))
    }

    fn window_too_large(&self) -> Option<InputError> {
        let options = if self.profile.timestamps { TIMESTAMPS } else { 0 };
        let mss = self.segment.get().saturating_sub(u64::from(HEADER + options)).max(1);
        let (most, why) = if self.profile.window_scaling {
            (WIDEST_SCALED, "as windows are scaled (RFC 7323, section 2.3)")
        } else {
            (WIDEST, "where window_scaling = false")
        };
        let room = self.profile.receive_window * mss;
        let problem = format!("segments are {room} B, more than the {most} B of a window {why}");
        let error =
            || clash(problem, format!("1 to {} segments", most / mss)).found(self.profile.receive_window);
        (room > most).then(error)
    }

    /// RFC 6298 has no timeout outside of its bounds.
    fn below_cap(&self, timeout: Span) -> Option<InputError> {
        let cap = self.profile.max_rto;
        let expected = format!("at most {cap}, or a larger max_rto");
        (timeout > cap).then(|| clash(format!("is above max_rto = {cap}"), expected).found(timeout))
    }

    fn cap_too_low(&self) -> Option<InputError> {
        let (min_rto, initial_rto, max_rto) =
            (self.profile.min_rto, self.profile.initial_rto, self.profile.max_rto);
        let (name, least) =
            if min_rto >= initial_rto { ("min_rto", min_rto) } else { ("initial_rto", initial_rto) };
        // Reported at that key if it is given too.
        let problem = format!("is below {name} = {least} of the profile");
        let error = || clash(problem, format!("{least} or more, or {name} with it")).found(max_rto);
        (max_rto < least && !self.given.has(Key::Setting(name))).then(error)
    }
}

/// Error of a setting of the scoreboard where the pipe is counted.
fn only_counted() -> InputError {
    let problem = "needs a scoreboard, and here the pipe is only counted";
    clash(problem, "pipe = \"scoreboard\" with it")
}

/// A key and its check against the other settings.
type Rule = (Key, fn(&Tcp) -> Option<InputError>);

static RULES: &[Rule] =
    &[
        (Key::Cc, Tcp::backoff_without_ecn),
        (Key::Ecn, Tcp::without_marks),
        (Key::Setting("byte_counting"), Tcp::has_own_curve),
        (Key::Setting("halving"), Tcp::halves_nothing),
        (Key::Setting("min_rto"), |tcp| tcp.below_cap(tcp.profile.min_rto)),
        (Key::Setting("initial_rto"), |tcp| tcp.below_cap(tcp.profile.initial_rto)),
        (Key::Setting("max_rto"), Tcp::cap_too_low),
        (Key::Setting("time_all"), Tcp::timed_anyway),
        (Key::Setting("ack_every"), Tcp::without_delay),
        (Key::Setting("ack_delay"), Tcp::without_delay),
        (Key::Setting("receive_window"), Tcp::window_too_large),
        (Key::Setting("dsack"), |tcp| tcp.without_sack(tcp.profile.dsack)),
        (Key::Setting("loss_detection"), |tcp| {
            tcp.without_board(tcp.profile.loss_detection == LossDetection::Rack)
        }),
        (Key::Setting("tail_loss_probe"), Tcp::without_rack),
        (Key::Setting("pipe"), |tcp| tcp.without_sack(true)),
        (Key::Setting("prr"), |tcp| tcp.without_board(tcp.profile.prr != Prr::Off)),
        (Key::Setting("prr_counts_twice"), Tcp::counts_otherwise),
        (Key::Setting("undo"), Tcp::without_witness),
        (Key::Setting("limited_transmit"), Tcp::limited_elsewise),
        (Key::Setting("cautious_exit"), Tcp::exits_elsewise),
        (Key::Setting("grow_on_exit"), Tcp::never_grows_on_exit),
        (Key::Setting("recovery_restarts_timer"), Tcp::leaves_no_timer),
        (Key::Setting("sack_takes_room"), |tcp| tcp.without_sack(tcp.profile.sack_takes_room)),
        (Key::Setting("fast_convergence"), |tcp| tcp.without_cubic(tcp.profile.fast_convergence)),
        (Key::Setting("cubic_counts_segments"), |tcp| tcp.without_cubic(tcp.profile.cubic_counts_segments)),
        (Key::Setting("ect_on_retransmit"), |tcp| {
            if tcp.profile.ect_on_retransmit { tcp.without_ecn() } else { None }
        }),
        (Key::Setting("ecn_at_one"), Tcp::without_ecn),
        (Key::Setting("ecn_after_timeout"), |tcp| {
            if tcp.profile.ecn_after_timeout { tcp.without_ecn() } else { None }
        }),
    ];

/// The widest window of 16 bits, bytes.
const WIDEST: u64 = 65_535;
/// The widest window that is scaled, bytes: 2^30.
const WIDEST_SCALED: u64 = 1 << 30;
