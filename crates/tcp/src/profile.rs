//! Profiles: the choices in which implementations of TCP differ.

use sojourn_units::Span;

/// Names of the profiles.
pub const PROFILES: &[&str] = &["default", "ns2", "ns3"];

/// Choices of one implementation.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Name of the profile.
    pub name: &'static str,
    /// Initial window, segments.
    pub initial_window: u64,
    /// Initial `ssthresh`, segments; 1000000 is beyond any window.
    pub initial_ssthresh: u64,
    /// Receiver delays acknowledgments.
    pub delayed_ack: bool,
    /// Full segments per delayed ACK: 2 (RFC 5681, section 4.2), or more (stretch ACKs).
    pub ack_every: u32,
    /// Longest delay of a delayed acknowledgment.
    pub ack_delay: Span,
    /// Granularity of the clock that times segments.
    pub tick: Span,
    /// Samples count elapsed clock ticks, and the estimator holds whole eighths and quarters of a tick (Jacobson
    /// 1988); samples then do not share a weight.
    pub whole_ticks: bool,
    /// Lower bound of the retransmission timeout.
    pub min_rto: Span,
    /// Upper bound of the retransmission timeout, back-off included.
    pub max_rto: Span,
    /// Maximum doublings of the timeout by back-off, at most 32; `max_rto` applies as well.
    pub most_doublings: u32,
    /// Retransmission timeout before the first measurement.
    pub initial_rto: Span,
    /// A lost SYN affects window and timer as lost data does: a window of one segment, and a doubled timeout until
    /// data is measured.
    pub syn_counts: bool,
    /// Data that each of the first two duplicate ACKs allows.
    pub limited_transmit: LimitedTransmit,
    /// Base and floor of a reduction by half.
    pub halving: Halving,
    /// Receive buffer, segments. 4096 of 1460 B are the 6 MB that Linux grows to.
    pub receive_window: u64,
    /// Window scaling (RFC 7323, section 2); without it windows end at 65535 bytes.
    pub window_scaling: bool,
    /// Receiver reports duplicate data by D-SACK (RFC 2883).
    pub dsack: bool,
    /// Use of SACK; None: as in the congestion control's RFC.
    pub sack: Option<bool>,
    /// Loss detection in recovery by SACK.
    pub loss_detection: LossDetection,
    /// Estimate of the pipe in recovery by SACK.
    pub pipe: Pipe,
    /// Sending rule of recovery by SACK.
    pub prr: Prr,
    /// RFC 6937's form counts delivered data twice until one flight is delivered, in 32 bits.
    pub prr_counts_twice: bool,
    /// Tail loss probes (RFC 8985, section 7); with RACK.
    pub tail_loss_probe: bool,
    /// The ACK that first reports a hole counts as a duplicate only, even if it acknowledges new data: the window does
    /// not grow, and the timer is not restarted.
    pub hole_hides_ack: bool,
    /// The first retransmission of a recovery by SACK restarts the timer (RFC 6675, section 6).
    pub recovery_restarts_timer: bool,
    /// A timeout clears the scoreboard (RFC 2018, section 8); never with RACK.
    pub timeout_forgets_sack: bool,
    /// Detection of spurious timeouts by F-RTO (RFC 5682).
    pub frto: bool,
    /// Reductions are undone if timestamps (RFC 3522) or D-SACKs (RFC 2883) show that nothing was lost.
    pub undo: bool,
    /// Appropriate byte counting (RFC 3465): the window grows with the bytes acknowledged, in slow start by at most
    /// this many segments per ACK; 0: with the number of ACKs (RFC 5681, equations 2 and 3).
    pub byte_counting: u32,
    /// Segments are paced instead of sent in bursts.
    pub pacing: bool,
    /// Treatment of an unused congestion window.
    pub unused_window: UnusedWindow,
    /// Connections end with FINs.
    pub teardown: bool,
    /// Every segment is timed, instead of one per window (RFC 6298, section 3).
    pub time_all: bool,
    /// The samples of one round trip share the weight of one (RFC 7323, appendix G).
    pub rtt_weight_shared: bool,
    /// SACK blocks add to the length of an ACK on the wire.
    pub sack_takes_room: bool,
    /// RTT measurement by timestamps (RFC 7323).
    pub timestamps: bool,
    /// CUBIC's fast convergence (RFC 9438, section 4.7).
    pub fast_convergence: bool,
    /// CUBIC's windows, including `W_est`, are whole segments that grow by one after enough segments have been
    /// acknowledged (docs/deviations/ns3.md), instead of with each ACK (RFC 9438, section 4.4).
    pub cubic_counts_segments: bool,
    /// NewReno leaves recovery with at most one segment more than FlightSize (RFC 6582, section 3.2, step 3, first
    /// option).
    pub cautious_exit: bool,
    /// The ACK that ends recovery grows the window.
    pub grow_on_exit: bool,
    /// Response to an ECN echo at a window of one segment.
    pub ecn_at_one: EcnAtOne,
    /// Retransmissions are ECN-capable, and may carry CWR.
    pub ect_on_retransmit: bool,
    /// A timeout allows another reduction by ECN in the same window.
    pub ecn_after_timeout: bool,
}

/// Loss detection in recovery by SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// Three segments SACKed above it (RFC 6675, section 4, `IsLost`).
    Dupacks,
    /// A segment sent later has arrived (RFC 8985).
    Rack,
}

/// Treatment of an unused congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnusedWindow {
    /// No change.
    Keep,
    /// Restart window after an idle period of one RTO (RFC 5681, section 4.1).
    Restart,
    /// Congestion window validation (RFC 7661).
    Validate,
}

/// Base and floor of a reduction by half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halving {
    /// FlightSize, to at least two segments (RFC 5681, equation 4).
    FlightSize,
    /// The window: half of it with its fraction, at least one segment; `ssthresh` in whole segments, at least two, and
    /// computed anew at each timeout of the same segment.
    Window,
    /// In recovery by SACK the data neither SACKed nor lost, to at least two segments; otherwise as `FlightSize`.
    Pipe,
}

/// Estimate of the pipe in recovery by SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipe {
    /// Data neither SACKed nor lost (RFC 6675); a timeout retransmits the holes only.
    Scoreboard,
    /// Data sent less data acknowledged, segment by segment (Fall and Floyd 1996); a timeout retransmits everything.
    Counted,
}

/// Proportional rate reduction: sending rule of recovery by SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prr {
    /// Nothing until the pipe is below the reduced window, about half a window later (RFC 6675).
    Off,
    /// In proportion while the pipe is above `ssthresh`; below it as in slow start (RFC 6937, PRR-SSRB).
    Rfc6937,
    /// In proportion; below `ssthresh` as much as is delivered, and one segment more if SND.UNA advances without
    /// further loss (RFC 9937).
    Rfc9937,
}

/// Data that each of the first two duplicate ACKs allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedTransmit {
    /// A segment never sent before (RFC 3042).
    NewData,
    /// The next segment in order, even if a timeout retransmits it.
    Next,
}

/// Response to an ECN echo at a window of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnAtOne {
    /// Sending stops until the retransmission timer expires (RFC 3168, section 6.1.2).
    WaitForTimer,
    /// The usual reduction, to less than a segment (with the halving of `reno` and `newreno`): nothing is sent until
    /// the window has grown or the timer expires, which sets it to one segment. From the second such echo in a row on,
    /// the timeout doubles.
    BackOff,
    /// No echo leaves less than two segments of a window that had them. At one segment, after a timeout or with DCTCP,
    /// as [`WaitForTimer`](EcnAtOne::WaitForTimer).
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
pub(crate) const MAX_SSTHRESH: u64 = 1_000_000;

impl Profile {
    /// Returns the profile called `name`.
    pub fn named(name: &str) -> Option<Profile> {
        match name {
            "default" => Some(Profile::standard()),
            "ns2" => Some(Profile::ns2()),
            "ns3" => Some(Profile::ns3()),
            _ => None,
        }
    }

    /// Initial `ssthresh`, segments; infinite if it is beyond any window.
    pub(crate) fn first_ssthresh(&self) -> f64 {
        if self.initial_ssthresh < MAX_SSTHRESH { self.initial_ssthresh as f64 } else { f64::INFINITY }
    }

    /// Full segments per ACK.
    pub(crate) fn segments_per_ack(&self) -> u32 {
        if self.delayed_ack { self.ack_every.max(1) } else { 1 }
    }

    /// Behaviour of the RFCs, with the values of deployed systems where the RFCs leave a choice.
    fn standard() -> Profile {
        Profile {
            name: "default",
            initial_window: 10,
            initial_ssthresh: MAX_SSTHRESH,
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

    /// Behaviour of the one-way TCP agents of ns-2 2.35, from their traces (`docs/deviations/ns2.md` lists the
    /// packets).
    fn ns2() -> Profile {
        Profile {
            name: "ns2",
            initial_window: 2,
            initial_ssthresh: MAX_SSTHRESH,
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

    /// Behaviour of the TCP sockets of ns-3 3.44 as packaged, from their traces (`docs/deviations/ns3.md` lists the
    /// packets).
    fn ns3() -> Profile {
        Profile {
            name: "ns3",
            initial_window: 10,
            initial_ssthresh: MAX_SSTHRESH,
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
