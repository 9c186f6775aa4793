//! Settings of TCP that contradict each other.
//!
//! A profile applies as far as it can: RACK has no effect on a sender without SACK, and no error results. An explicit
//! setting is rejected where it would have no effect, or where an RFC forbids it beside the others. So without SACK
//! `prr = false` is accepted, and `prr = "rfc9937"` is not.

use super::{LimitedTransmit, LossDetection, Pipe, Profile, Prr};
use crate::cc::{Choice, Recovery};
use crate::segment::{HEADER, TIMESTAMPS};
use sojourn_params::{Described, InputError};
use sojourn_units::{Bytes, Span};

/// TCP of a class of flows.
#[derive(Clone, Copy, Debug)]
pub struct Tcp<'a> {
    /// Its congestion control.
    pub cc: &'a Choice,
    /// Its profile, explicit settings included.
    pub profile: &'a Profile,
    /// True: ECN is negotiated.
    pub ecn: bool,
    /// Size of a segment, headers included.
    pub segment: Bytes,
    /// Keys that are explicit: `cc`, `ecn` and those of the profile.
    pub given: &'a [&'static str],
}

/// A key and its check against the other settings.
type Rule<T> = (&'static str, fn(&T) -> Option<InputError>);

impl Tcp<'_> {
    /// All checks.
    const RULES: [Rule<Self>; 29] = [
        ("cc", Self::backoff_without_ecn),
        ("ecn", Self::without_marks),
        ("byte_counting", Self::has_own_curve),
        ("halving", Self::halves_nothing),
        ("min_rto", |tcp| tcp.below_cap(tcp.profile.min_rto)),
        ("initial_rto", |tcp| tcp.below_cap(tcp.profile.initial_rto)),
        ("max_rto", Self::cap_too_low),
        ("time_all", Self::timed_anyway),
        ("ack_every", Self::without_delay),
        ("ack_delay", Self::without_delay),
        ("receive_window", Self::window_too_large),
        ("dsack", |tcp| tcp.without_sack(tcp.profile.dsack)),
        ("loss_detection", |tcp| tcp.without_board(tcp.profile.loss_detection == LossDetection::Rack)),
        ("tail_loss_probe", Self::without_rack),
        ("pipe", |tcp| tcp.without_sack(true)),
        ("prr", |tcp| tcp.without_board(tcp.profile.prr != Prr::Off)),
        ("prr_counts_twice", Self::counts_otherwise),
        ("undo", Self::without_witness),
        ("limited_transmit", Self::limited_elsewise),
        ("cautious_exit", Self::exits_elsewise),
        ("grow_on_exit", Self::never_grows_on_exit),
        ("recovery_restarts_timer", Self::leaves_no_timer),
        ("sack_takes_room", |tcp| tcp.without_sack(tcp.profile.sack_takes_room)),
        ("fast_convergence", |tcp| tcp.without_cubic(tcp.profile.fast_convergence)),
        ("cubic_counts_segments", |tcp| tcp.without_cubic(tcp.profile.cubic_counts_segments)),
        ("ect_on_retransmit", |tcp| if tcp.profile.ect_on_retransmit { tcp.without_ecn() } else { None }),
        ("ecn_at_one", Self::without_ecn),
        ("ecn_prr", Self::reduces_at_once),
        ("ecn_after_timeout", |tcp| if tcp.profile.ecn_after_timeout { tcp.without_ecn() } else { None }),
    ];

    /// Errors of explicit keys that contradict other settings; those of the profile's stand in a table `tcp`.
    pub fn contradictions(&self) -> Vec<InputError> {
        let rules = Self::RULES.into_iter().filter(|(key, _)| self.given.contains(key));
        let placed = |key: &str, error: InputError| {
            let error = error.at(key);
            if Profile::has(key) { error.at("tcp") } else { error }
        };
        rules.filter_map(|(key, rule)| Some(placed(key, rule(self)?))).collect()
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
        (on && !self.has_sack()).then(|| InputError::clash(problem, "sack = true with it"))
    }

    /// Error of a setting that takes effect only with a scoreboard.
    fn without_board(&self, on: bool) -> Option<InputError> {
        let counted = self.profile.pipe == Pipe::Counted;
        self.without_sack(on).or_else(|| (on && counted).then(only_counted))
    }

    /// Without marks, or without PRR, there is nothing to spread over a round trip.
    fn reduces_at_once(&self) -> Option<InputError> {
        if !self.profile.ecn_prr {
            return None;
        }
        let off = self.profile.prr == Prr::Off;
        let problem = "is proportional rate reduction, and prr = false leaves none";
        self.without_ecn().or_else(|| off.then(|| InputError::clash(problem, "prr = \"rfc9937\" with it")))
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
        (!self.profile.time_all).then(|| InputError::clash(format!("is false, and here {why}"), expected))
    }

    /// With SACK, RFC 6675 or RFC 8985 defines limited transmit.
    fn limited_elsewise(&self) -> Option<InputError> {
        let next = self.profile.limited_transmit == LimitedTransmit::Next;
        let by_board = self.has_sack() && self.profile.pipe == Pipe::Scoreboard;
        let problem =
            "is \"next\", and here a scoreboard decides what is sent before recovery (RFC 6675, section 5)";
        (next && by_board).then(|| InputError::clash(problem, "\"new_data\", or sack = false with it"))
    }

    /// Only recovery that an ACK ends lets the window grow with it.
    fn never_grows_on_exit(&self) -> Option<InputError> {
        let error = if self.has_rack() {
            let problem = "needs recovery by duplicate ACKs, and here losses are found by RACK";
            InputError::clash(problem, "loss_detection = \"dupacks\" with it")
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
        let by_rack = || InputError::clash(problem, "loss_detection = \"dupacks\" with it");
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
        (self.profile.cautious_exit && !self.recovers_by(Recovery::NewReno))
            .then(|| InputError::clash(problem, expected))
    }

    /// Error of a setting of CUBIC's curve under another control.
    fn without_cubic(&self, on: bool) -> Option<InputError> {
        let problem = format!("applies to CUBIC only, and here cc = \"{}\"", self.cc.name());
        (on && self.cc.name() != "cubic").then(|| InputError::clash(problem, "cc = \"cubic\" with it"))
    }

    /// CUBIC multiplies its window (RFC 9438, section 4.6).
    fn halves_nothing(&self) -> Option<InputError> {
        let problem = "applies to Reno only; CUBIC keeps 0.7 of its window (RFC 9438, section 4.6)";
        let cubic = (self.cc.name() == "cubic").then(|| InputError::clash(problem, "another cc"));
        self.has_own_curve().or(cubic)
    }

    /// A custom curve takes the initial window from a profile, and no more.
    fn has_own_curve(&self) -> Option<InputError> {
        let problem =
            format!("is of the curves of the catalogue, and \"{}\" is none of them", self.cc.name());
        matches!(self.cc, Choice::Custom(_)).then(|| InputError::clash(problem, "no such key"))
    }

    /// Error of a setting of delayed ACKs where every segment is acknowledged.
    fn without_delay(&self) -> Option<InputError> {
        let problem = "is of delayed ACKs, and here every segment is acknowledged";
        (!self.profile.delayed_ack).then(|| InputError::clash(problem, "delayed_ack = true with it"))
    }

    /// Error of a setting of ECN where it is not negotiated.
    fn without_ecn(&self) -> Option<InputError> {
        (!self.ecn)
            .then(|| InputError::clash("is of ECN, which these flows do not negotiate", "ecn = true with it"))
    }

    /// Such a control needs marks (RFC 8257, section 3.1).
    fn without_marks(&self) -> Option<InputError> {
        let problem = format!("is false, and cc = \"{}\" needs ECN marks", self.cc.name());
        (!self.ecn && self.cc.needs_marks()).then(|| InputError::clash(problem, "true, or another cc"))
    }

    /// RFC 8511 is about the answer to ECN alone.
    fn backoff_without_ecn(&self) -> Option<InputError> {
        let problem = "has abe = true, an answer to ECN (RFC 8511), which these flows do not negotiate";
        (self.cc.has_abe() && !self.ecn).then(|| InputError::clash(problem, "ecn = true with it"))
    }

    fn without_rack(&self) -> Option<InputError> {
        let rack = self.profile.loss_detection == LossDetection::Rack;
        let problem = "is a part of RACK (RFC 8985, section 7), and here losses are found by duplicate ACKs";
        self.without_board(self.profile.tail_loss_probe).or_else(|| {
            (self.profile.tail_loss_probe && !rack)
                .then(|| InputError::clash(problem, "loss_detection = \"rack\" with it"))
        })
    }

    /// Only the form of RFC 6937 counts so.
    fn counts_otherwise(&self) -> Option<InputError> {
        let on = self.profile.prr_counts_twice;
        let other = || InputError::clash("is of PRR as RFC 6937 has it", "prr = \"rfc6937\" with it");
        self.without_board(on).or_else(|| (on && self.profile.prr != Prr::Rfc6937).then(other))
    }

    /// Detection of spurious reductions needs timestamps or D-SACKs.
    fn without_witness(&self) -> Option<InputError> {
        let witness = self.profile.timestamps || (self.profile.dsack && self.has_sack());
        let problem = "needs timestamps or D-SACKs to detect that nothing was lost, and here are neither";
        let expected = "timestamps = true, or sack = true and dsack = true, with it";
        (self.profile.undo && !witness).then(|| InputError::clash(problem, expected))
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
        let error = || {
            InputError::clash(problem, format!("1 to {} segments", most / mss))
                .found(self.profile.receive_window)
        };
        (room > most).then(error)
    }

    /// RFC 6298 has no timeout outside of its bounds.
    fn below_cap(&self, timeout: Span) -> Option<InputError> {
        let cap = self.profile.max_rto;
        let expected = format!("at most {cap}, or a larger max_rto");
        (timeout > cap)
            .then(|| InputError::clash(format!("is above max_rto = {cap}"), expected).found(timeout))
    }

    fn cap_too_low(&self) -> Option<InputError> {
        let (min_rto, initial_rto, max_rto) =
            (self.profile.min_rto, self.profile.initial_rto, self.profile.max_rto);
        let (name, least) =
            if min_rto >= initial_rto { ("min_rto", min_rto) } else { ("initial_rto", initial_rto) };
        // Reported at that key if it is given too.
        let problem = format!("is below {name} = {least} of the profile");
        let error =
            || InputError::clash(problem, format!("{least} or more, or {name} with it")).found(max_rto);
        (max_rto < least && !self.given.contains(&name)).then(error)
    }
}

/// Error of a setting of the scoreboard where the pipe is counted.
fn only_counted() -> InputError {
    let problem = "needs a scoreboard, and here the pipe is only counted";
    InputError::clash(problem, "pipe = \"scoreboard\" with it")
}

/// The widest window of 16 bits, bytes.
const WIDEST: u64 = 65_535;
/// The widest window that is scaled, bytes: 2^30.
const WIDEST_SCALED: u64 = 1 << 30;
