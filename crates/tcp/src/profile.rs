//! What implementations of TCP differ in.

use sojourn_units::Span;

/// The names of the profiles.
pub const PROFILES: &[&str] = &["default", "ns2", "ns3"];

/// The choices of one implementation.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// Initial window, segments.
    pub initial_window: u64,
    /// Where the first slow start ends at the latest, segments; 1000000 is beyond any window.
    pub initial_ssthresh: u64,
    /// Whether the receiver delays acknowledgments.
    pub delayed_ack: bool,
    /// Where it does, for how many full segments one ACK is: 2 (RFC 5681, section 4.2), or more (stretch ACKs).
    pub ack_every: u32,
    /// How long a delayed acknowledgment may wait.
    pub ack_delay: Span,
    /// The granularity of the clock that times segments.
    pub tick: Span,
    /// Whether what is measured is the ticks of that clock that pass, and the estimate whole eighths and quarters of
    /// one (Jacobson 1988); then no weight is shared.
    pub whole_ticks: bool,
    /// Lower bound of the retransmission timeout.
    pub min_rto: Span,
    /// Upper bound of the retransmission timeout, back-off included.
    pub max_rto: Span,
    /// How often it may double (at most 32 times) before that bound.
    pub most_doublings: u32,
    /// Retransmission timeout before the first measurement.
    pub initial_rto: Span,
    /// Whether a lost SYN is to window and timer what lost data is: one segment, and doubled until data is measured.
    pub syn_counts: bool,
    /// What each of the first two duplicate ACKs lets out.
    pub limited_transmit: LimitedTransmit,
    /// What a window is halved from, and how far down.
    pub halving: Halving,
    /// Room at the receiver, segments. 4096 of 1460 B are the 6 MB that Linux grows to.
    pub receive_window: u64,
    /// Whether windows may be scaled (RFC 7323, section 2); without, they end at 65535 bytes.
    pub window_scaling: bool,
    /// Whether the receiver tells of data that came twice (RFC 2883).
    pub dsack: bool,
    /// Whether to use SACK; None: as the congestion control's RFC has it.
    pub sack: Option<bool>,
    /// What shows recovery by SACK that a segment is lost.
    pub loss_detection: LossDetection,
    /// How recovery by SACK knows what is on its way.
    pub pipe: Pipe,
    /// What recovery by SACK sends for what arrives.
    pub prr: Prr,
    /// Whether the form of RFC 6937 counts what arrives twice until a flight is through, and in 32 bits.
    pub prr_counts_twice: bool,
    /// Whether a probe goes out when the ACKs of a flight's end fail to come (RFC 8985, section 7); with RACK.
    pub tail_loss_probe: bool,
    /// Whether an ACK that first tells of a hole is a duplicate and no more, also where it acknowledges new data: the
    /// window does not grow, and the timer runs on.
    pub hole_hides_ack: bool,
    /// Whether the first retransmission of a recovery by SACK starts the timer anew (RFC 6675, section 6).
    pub recovery_restarts_timer: bool,
    /// Whether a timeout forgets what was SACKed before (RFC 2018, section 8); RACK never does.
    pub timeout_forgets_sack: bool,
    /// Whether to find out after a timeout if it was spurious (RFC 5682).
    pub frto: bool,
    /// Whether a reduction is undone where timestamps (RFC 3522) or D-SACKs (RFC 2883) show that nothing was lost.
    pub undo: bool,
    /// Appropriate byte counting (RFC 3465): the window grows with the bytes acknowledged, in slow start by at most so
    /// many segments an ACK; 0: with the number of ACKs (RFC 5681, equations 2 and 3).
    pub byte_counting: u32,
    /// Whether segments leave at even distances instead of in bursts.
    pub pacing: bool,
    /// What becomes of a window that is not used.
    pub unused_window: UnusedWindow,
    /// Whether a connection ends with FINs.
    pub teardown: bool,
    /// Whether the round-trip time is measured with every segment, or with one in a window (RFC 6298, section 3).
    pub time_all: bool,
    /// Whether the measurements of a round trip share the weight of one (RFC 7323, appendix G), or have it each.
    pub rtt_weight_shared: bool,
    /// Whether SACK blocks make an ACK longer on the wire.
    pub sack_takes_room: bool,
    /// Whether to measure by timestamps (RFC 7323).
    pub timestamps: bool,
    /// Whether CUBIC gives way to newer flows (RFC 9438, section 4.7).
    pub fast_convergence: bool,
    /// Whether CUBIC's windows are whole segments, its Reno's among them, which grow by one when enough segments have been
    /// acknowledged (docs/deviations/ns3.md), and not with each ACK (RFC 9438, section 4.4).
    pub cubic_counts_segments: bool,
    /// Whether NewReno leaves recovery with at most a segment more than is in flight (RFC 6582,
    /// section 3.2, step 3, first option).
    pub cautious_exit: bool,
    /// Whether the window grows on the ACK that ends recovery.
    pub grow_on_exit: bool,
    /// What an echo of congestion does at a window of one segment.
    pub ecn_at_one: EcnAtOne,
    /// Whether retransmissions are sent ECN-capable, and may carry CWR.
    pub ect_on_retransmit: bool,
    /// Whether a timeout reopens the window to a new ECN reduction.
    pub ecn_after_timeout: bool,
}

/// What shows that a segment is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// Three segments SACKed above it (RFC 6675, section 4, `IsLost`).
    Dupacks,
    /// One that was sent later has arrived (RFC 8985).
    Rack,
}

/// What becomes of a window that is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnusedWindow {
    /// It stays.
    Keep,
    /// After a timeout's time without sending it is the initial one again (RFC 5681, section 4.1).
    Restart,
    /// It follows what was sent and acknowledged (RFC 7661).
    Validate,
}

/// What is halved at a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halving {
    /// The flight size, to at least two segments (RFC 5681, equation 4).
    FlightSize,
    /// The window: to its half, fraction kept, at least one segment; ssthresh in whole segments, at least two, and anew
    /// at each timeout of the same segment.
    Window,
    /// In recovery by SACK what is neither SACKed nor lost, to at least two segments; otherwise as `FlightSize`.
    Pipe,
}

/// How recovery by SACK knows what is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipe {
    /// What is neither SACKed nor lost (RFC 6675); holes alone are sent again after a timeout.
    Scoreboard,
    /// Sent less acknowledged, segment by segment (Fall and Floyd 1996); a timeout sends everything again.
    Counted,
}

/// Proportional rate reduction: what recovery by SACK sends for what arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prr {
    /// Nothing until the pipe is below the reduced window: after half a window of silence (RFC 6675).
    Off,
    /// In proportion while the pipe is above ssthresh; below it as slow start would (RFC 6937, PRR-SSRB).
    Rfc6937,
    /// In proportion; below ssthresh as much as arrives, and one segment more where SND.UNA moves without further loss
    /// (RFC 9937).
    Rfc9937,
}

/// What the first two duplicate ACKs let out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedTransmit {
    /// A segment never sent before (RFC 3042).
    NewData,
    /// The next segment in order, also when it is sent again after a timeout.
    Next,
}

/// What an echo of congestion does when the window is one segment already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnAtOne {
    /// Sending waits until the retransmission timer expires (RFC 3168, section 6.1.2).
    WaitForTimer,
    /// As at any window, which falls below a segment (with the halving of `reno` and `newreno`): then nothing is sent until
    /// it has grown, or the timer expires and makes it one segment. From the second such echo in a row the timeout is doubled.
    BackOff,
    /// No echo leaves less than two segments of a window that had them. At one segment, a timeout's or DCTCP's, as
    /// [`WaitForTimer`](EcnAtOne::WaitForTimer).
    Two,
}

impl EcnAtOne {
    /// Least window of Reno and CUBIC after an echo, segments.
    pub(crate) fn least(self) -> f64 {
        match self {
            EcnAtOne::BackOff => 0.0,
            EcnAtOne::WaitForTimer => 1.0,
            EcnAtOne::Two => 2.0,
        }
    }
}

/// Segments; windows are at most 1 GiB.
pub(crate) const MOST_SSTHRESH: u64 = 1_000_000;

impl Profile {
    /// The profile called `name`.
    pub fn named(name: &str) -> Option<Profile> {
        match name {
            "default" => Some(Profile::standard()),
            "ns2" => Some(Profile::ns2()),
            "ns3" => Some(Profile::ns3()),
            _ => None,
        }
    }

    /// Segments; infinite where the first slow start has no end of its own.
    pub(crate) fn first_ssthresh(&self) -> f64 {
        if self.initial_ssthresh < MOST_SSTHRESH { self.initial_ssthresh as f64 } else { f64::INFINITY }
    }

    /// For how many full segments an ACK is.
    pub(crate) fn segments_per_ack(&self) -> u32 {
        if self.delayed_ack { self.ack_every.max(1) } else { 1 }
    }

    /// The RFCs' behaviour, with the values that deployed systems use where the RFCs leave room.
    fn standard() -> Profile {
        Profile {
            name: "default",
            initial_window: 10,
            initial_ssthresh: MOST_SSTHRESH,
            delayed_ack: true,
            ack_every: 2,
            ack_delay: Span::from_millis(40),
            tick: Span::from_nanos(1),
            whole_ticks: false,
            min_rto: Span::from_millis(200),
            max_rto: Span::from_secs(60),
            most_doublings: 32,
            initial_rto: Span::from_secs(1),
            syn_counts: false,
            limited_transmit: LimitedTransmit::NewData,
            receive_window: 4096,
            window_scaling: true,
            dsack: true,
            halving: Halving::FlightSize,
            sack: None,
            loss_detection: LossDetection::Rack,
            pipe: Pipe::Scoreboard,
            prr: Prr::Rfc9937,
            prr_counts_twice: false,
            tail_loss_probe: true,
            hole_hides_ack: false,
            recovery_restarts_timer: true,
            timeout_forgets_sack: true,
            frto: true,
            undo: true,
            byte_counting: 2,
            pacing: false,
            unused_window: UnusedWindow::Restart,
            teardown: true,
            time_all: true,
            sack_takes_room: true,
            rtt_weight_shared: true,
            timestamps: false,
            fast_convergence: true,
            cubic_counts_segments: false,
            cautious_exit: true,
            grow_on_exit: false,
            ecn_at_one: EcnAtOne::WaitForTimer,
            ect_on_retransmit: false,
            ecn_after_timeout: false,
        }
    }

    /// What the one-way TCP agents of ns-2 2.35 do, seen in their traces
    /// (`docs/deviations/ns2.md` lists the packets).
    fn ns2() -> Profile {
        Profile {
            name: "ns2",
            initial_window: 2,
            initial_ssthresh: MOST_SSTHRESH,
            delayed_ack: false,
            ack_every: 2,
            ack_delay: Span::from_millis(100),
            tick: Span::from_millis(10),
            whole_ticks: true,
            min_rto: Span::from_millis(200),
            max_rto: Span::from_secs(60),
            most_doublings: 6,
            initial_rto: Span::from_secs(3),
            syn_counts: true,
            limited_transmit: LimitedTransmit::Next,
            receive_window: 1000,
            window_scaling: true,
            dsack: false,
            halving: Halving::Window,
            sack: None,
            loss_detection: LossDetection::Dupacks,
            pipe: Pipe::Counted,
            prr: Prr::Off,
            prr_counts_twice: false,
            tail_loss_probe: false,
            hole_hides_ack: false,
            recovery_restarts_timer: true,
            timeout_forgets_sack: true,
            frto: false,
            undo: false,
            byte_counting: 0,
            pacing: false,
            unused_window: UnusedWindow::Keep,
            teardown: false,
            time_all: false,
            sack_takes_room: false,
            rtt_weight_shared: true,
            timestamps: false,
            fast_convergence: true,
            cubic_counts_segments: false,
            cautious_exit: false,
            grow_on_exit: true,
            ecn_at_one: EcnAtOne::BackOff,
            ect_on_retransmit: true,
            ecn_after_timeout: true,
        }
    }

    /// What the sockets of ns-3 3.44 do as packaged, seen in their traces
    /// (`docs/deviations/ns3.md` lists the packets).
    fn ns3() -> Profile {
        Profile {
            name: "ns3",
            initial_window: 10,
            initial_ssthresh: MOST_SSTHRESH,
            delayed_ack: true,
            ack_every: 2,
            ack_delay: Span::from_millis(40),
            tick: Span::from_millis(1),
            whole_ticks: false,
            min_rto: Span::from_millis(200),
            max_rto: Span::from_secs(60),
            most_doublings: 32,
            initial_rto: Span::from_secs(1),
            syn_counts: false,
            limited_transmit: LimitedTransmit::NewData,
            receive_window: 2896,
            window_scaling: true,
            dsack: false,
            halving: Halving::Pipe,
            sack: None,
            loss_detection: LossDetection::Dupacks,
            pipe: Pipe::Scoreboard,
            prr: Prr::Rfc6937,
            prr_counts_twice: true,
            tail_loss_probe: false,
            hole_hides_ack: true,
            recovery_restarts_timer: true,
            timeout_forgets_sack: false,
            frto: false,
            undo: false,
            byte_counting: 0,
            pacing: false,
            unused_window: UnusedWindow::Keep,
            teardown: true,
            time_all: true,
            sack_takes_room: true,
            rtt_weight_shared: false,
            timestamps: true,
            fast_convergence: true,
            cubic_counts_segments: true,
            cautious_exit: false,
            grow_on_exit: true,
            ecn_at_one: EcnAtOne::Two,
            ect_on_retransmit: false,
            ecn_after_timeout: false,
        }
    }
}

impl Default for Profile {
    fn default() -> Profile {
        Profile::standard()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_profile_exists_under_its_name() {
        for name in PROFILES {
            assert_eq!(Profile::named(name).unwrap().name, *name);
        }
        assert_eq!(Profile::named("ns5"), None);
    }
}
