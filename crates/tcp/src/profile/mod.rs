//! Profiles: the choices in which implementations of TCP differ.
//!
//! A setting is one field of [`Profile`]: its type, default, range, meaning, the reason of the default and the source of
//! the definition. The keys of scenario files, their schema, `sojourn explain` and the tables of the pages follow from
//! it. `named` has the profiles that differ from the default.

mod choices;
mod contradictions;
mod named;

pub(crate) use choices::RtoFloor;
pub use choices::{EcnAtOne, Halving, LimitedTransmit, LossDetection, Pipe, Prr, UnusedWindow};
pub use contradictions::Tcp;
pub use named::{PROFILE_PAGES, PROFILES};

use crate::cc::EarlyExit;
use sojourn_units::Span;

sojourn_params::params! {
    /// Choices of one implementation. The default: the RFCs, with the values of deployed systems where they leave a
    /// choice.
    pub struct Profile {
        // The window.

        /// initial window, segments
        initial_window: u64 = 10, in 1 to 1000, "the most that RFC 6928, section 2 allows, and Linux's", "RFC 6928";
        /// initial slow-start threshold, segments, as a host may cache it from an earlier connection; 1000000 is
        /// beyond any window
        initial_ssthresh: u64 = MAX_SSTHRESH, in 2 to 1_000_000,
            "RFC 5681, section 3.1: arbitrarily high", "RFC 5681, section 3.1; RFC 9040, section 6.1";
        /// a new connection begins with the slow-start threshold that the last one of its class has left: its own, or half of
        /// its window where that is more; one that ends in slow start can only raise it
        cached_ssthresh: bool = false,
            "Linux since 5.6 (tcp_no_ssthresh_metrics_save)", "RFC 9040, sections 6 and 9";
        /// appropriate byte counting: the window grows with the bytes acknowledged, in slow start by at most this many
        /// segments per ACK; 0: with the number of ACKs
        byte_counting: u32 = 2, in 0 to 1000,
            "the most that RFC 3465, section 2.3 allows: the two segments of a delayed ACK", "RFC 3465";
        /// slow start after a timeout grows by as much per ACK as the first one; false: by one segment at most
        counts_all_after_timeout: bool = false, "RFC 3465, section 2.3: one segment", "RFC 3465, section 2.3";
        /// treatment of an unused congestion window: keep; restart: the initial window after an idle time of one
        /// retransmission timeout; validate: congestion window validation, by the data sent and acknowledged
        unused_window: UnusedWindow = UnusedWindow::Restart,
            "RFC 5681, section 4.1, and Linux (tcp_slow_start_after_idle)", "RFC 5681, section 4.1; RFC 7661";
        /// segments leave at even intervals instead of in bursts
        pacing: bool = false,
            "RFC 5681 sends at once what the window allows; Linux paces CUBIC only above the qdisc fq",
            "RFC 9002, section 7.7";
        /// base and floor of a reduction: flight_size, at least two segments; window: the window itself, at least one,
        /// with ssthresh computed at each timeout of the same segment; cwnd: the window itself, at least two; pipe: in
        /// recovery by SACK the data neither SACKed nor lost, as in ns-3
        halving: Halving = Halving::FlightSize, "RFC 5681, equation 4", "RFC 5681, equation 4";

        // The timer.

        /// lower bound of the retransmission timeout
        min_rto: Span = Span::from_millis(200), in above "0 s" to "60 s",
            "Linux (TCP_RTO_MIN); the 1 s of RFC 6298, section 2.4 is a SHOULD", "RFC 6298, section 2.4";
        /// quantity that min_rto bounds: timeout: the whole of it; variation: its part beyond the smoothed round-trip time
        rto_floor: RtoFloor = RtoFloor::Timeout, "RFC 6298, section 2.4", "RFC 6298, section 2.4";
        /// upper bound of the retransmission timeout, back-off included
        max_rto: Span = Span::from_secs(60), in "1 ms" to "1 h",
            "the least that RFC 6298, section 2.5 allows", "RFC 6298, sections 2.5 and 5.5";
        /// maximum doublings of the timeout by back-off
        most_doublings: u32 = 32, in 0 to 32,
            "RFC 6298, section 5.5 has no such bound: max_rto ends the back-off", "RFC 6298, section 5.5";
        /// retransmission timeout before the first measurement
        initial_rto: Span = Span::from_secs(1), in "1 ms" to "60 s",
            "RFC 6298, section 2.1, and Linux (TCP_TIMEOUT_INIT)", "RFC 6298, section 2.1";
        /// a lost SYN affects window and timer as lost data does: data starts with one segment, and with the doubled
        /// timeout until its round trip is measured
        syn_counts: bool = false,
            "RFC 6928, section 2: one lost SYN keeps the initial window; RFC 6298 (5.7): data starts with 3 s", "ns-2";
        /// granularity of the clock that times segments
        tick: Span = Span::from_nanos(1), in above "0 s" to "1 s",
            "simulated time as it is: RFC 6298, section 4 prefers a fine clock", "RFC 6298, section 4";
        /// round trips are counted in elapsed ticks of that clock, and estimated in whole eighths and quarters of one;
        /// samples then do not share a weight
        whole_ticks: bool = false,
            "RFC 6298, section 2 rounds neither samples nor estimates",
            "V. Jacobson, Congestion Avoidance and Control, 1988, appendix A";
        /// every segment is timed, instead of one per window
        time_all: bool = true, "Linux; RACK needs it (RFC 8985, section 6.1)", "RFC 6298, section 3";
        /// the samples of one round trip share the weight of one
        rtt_weight_shared: bool = true,
            "RFC 7323, appendix G: the estimate would remember less than a round trip",
            "RFC 7323, appendix G; RFC 6298, section 2.3";
        /// every segment carries a timestamp (12 B), and every ACK of new data is an RTT sample
        timestamps: bool = false, "optional in RFC 7323, and 12 B of every segment; Linux has them", "RFC 7323";

        // The receiver.

        /// receivers delay ACKs
        delayed_ack: bool = true, "RFC 5681, section 4.2, and Linux", "RFC 5681, section 4.2";
        /// full segments per delayed ACK; more than 2: stretch ACKs
        ack_every: u32 = 2, in 2 to 1000,
            "RFC 5681, section 4.2: an ACK for at least every second full segment", "RFC 5681, section 4.2";
        /// longest delay of a delayed ACK
        ack_delay: Span = Span::from_millis(40), in above "0 s" to "500 ms",
            "Linux (TCP_DELACK_MIN)", "RFC 5681, section 4.2";
        /// full segments at the start of a connection that are acknowledged one by one
        quick_acks: u32 = 0, in 0 to 1000, "RFC 5681, section 4.2 allows delays from the first segment on",
            "tcp(7), TCP_QUICKACK";
        /// receive buffer, segments
        receive_window: u64 = 4096, in 1 to 1_000_000,
            "with 1460 B each the 6 MB to which Linux grows (tcp_rmem)", "RFC 9293, section 3.8.6";
        /// window scaling: windows end at 1 GiB, without it at 65535 B
        window_scaling: bool = true, "Linux (tcp_window_scaling)", "RFC 7323, section 2";
        /// receivers report duplicate data (D-SACK)
        dsack: bool = true, "Linux (tcp_dsack)", "RFC 2883";
        /// connections end with FINs
        teardown: bool = true, "RFC 9293, section 3.6", "RFC 9293, section 3.6";

        // Loss recovery.

        /// loss recovery by selective acknowledgments; false: by NewReno
        sack: Option<bool> = None, "as the congestion control's RFC has it", "RFC 6675";
        /// loss detection in recovery by SACK: dupacks: three segments above it are SACKed; rack: a segment sent later
        /// has arrived
        loss_detection: LossDetection = LossDetection::Rack, "Linux (tcp_recovery)", "RFC 6675; RFC 8985";
        /// tail loss probes when the ACKs of a flight's end are missing; with rack
        tail_loss_probe: bool = true, "Linux (tcp_early_retrans)", "RFC 8985, section 7";
        /// estimate of the data in flight in recovery by SACK: scoreboard: data neither SACKed nor lost; counted: data
        /// sent less data acknowledged, as in ns-2
        pipe: Pipe = Pipe::Scoreboard, "RFC 6675, section 4", "RFC 6675, section 4";
        /// proportional rate reduction in recovery by SACK, in proportion until the pipe is down to ssthresh; rfc9937:
        /// below it as much as is delivered, and one segment more if SND.UNA advances without further loss; rfc6937:
        /// as in slow start; linux: the first, in proportion to the flight size; false: nothing for half a window
        prr: Prr = Prr::Rfc9937, "RFC 9937 obsoletes RFC 6937", "RFC 9937; RFC 6937";
        /// RFC 6937's form counts delivered data twice until one flight is delivered, multiplies in 32 bits and rounds
        /// down, as in ns-3
        prr_counts_twice: bool = false, "RFC 6937, section 3 counts delivered data once", "ns-3";
        /// data that each of the first two duplicate ACKs allows: new_data; next: the next segment in order, even if a
        /// timeout retransmits it
        limited_transmit: LimitedTransmit = LimitedTransmit::NewData, "RFC 3042, section 2", "RFC 3042";
        /// the ACK that first reports a hole counts as a duplicate only, even if it acknowledges new data: the window
        /// does not grow, and the timer is not restarted; with SACK, without RACK
        hole_hides_ack: bool = false, "every ACK of new data restarts the timer (RFC 6298, section 5.3)", "ns-3";
        /// the first retransmission of a recovery by SACK restarts the timer; false: it runs since the last ACK of new
        /// data; without RACK
        recovery_restarts_timer: bool = true,
            "RFC 6675, section 6 allows it: a recovery may take longer than the timeout",
            "RFC 6675, section 6; RFC 6298, section 5";
        /// a timeout clears the scoreboard; never with RACK
        timeout_forgets_sack: bool = true,
            "RFC 2018, section 8: the receiver may have discarded the data", "RFC 2018, section 8";
        /// detection of spurious timeouts (F-RTO)
        frto: bool = true, "Linux (tcp_frto)", "RFC 5682";
        /// a reduction is undone if timestamps or D-SACKs show that nothing was lost
        undo: bool = true, "Linux, by both", "RFC 3522; RFC 4015; RFC 2883";
        /// NewReno leaves recovery with at most one segment more than the flight size
        cautious_exit: bool = true,
            "the option of RFC 6582, section 3.2, step 3 that sends no burst", "RFC 6582, section 3.2, step 3";
        /// the ACK that ends recovery grows the window
        grow_on_exit: bool = false, "it sets the window to ssthresh (RFC 5681, section 3.2, step 6)", "ns-2";
        /// SACK blocks add to the length of an ACK on the wire
        sack_takes_room: bool = true, "RFC 2018, section 3: 8 B a block, and 2 B", "RFC 2018, section 3";

        // The curve of CUBIC.

        /// fast convergence: CUBIC gives way to newer flows
        fast_convergence: bool = true, "RFC 9438, section 4.7, and Linux", "RFC 9438, section 4.7";
        /// early end of CUBIC's first slow start where its own hystart is not given: HyStart++ (true), or as Linux has it
        /// ("hybrid"); where bytes are counted
        cubic_hystart: EarlyExit = EarlyExit::HyStart, "RFC 9438, section 4.10", "RFC 9406; RFC 9438, section 4.10";
        /// CUBIC's windows are whole segments that grow by one after enough segments have been acknowledged, instead of
        /// with each ACK; W_est grows no faster above the window of the last loss
        cubic_counts_segments: bool = false, "RFC 9438, section 4.4: the window grows with each ACK", "ns-3";

        // ECN.

        /// retransmissions are ECN-capable, and may carry CWR
        ect_on_retransmit: bool = false, "RFC 3168, section 6.1.5 forbids it", "RFC 3168, sections 6.1.2 and 6.1.5";
        /// response to an ECN echo at a window of one segment: wait for the retransmission timer; back_off: halve it
        /// again, to less than a segment, which waits for the timer or an ACK without echo; the second in a row
        /// doubles the timeout; two: wait, but no echo leaves Reno or CUBIC less than two segments of a window that
        /// had them
        ecn_at_one: EcnAtOne = EcnAtOne::WaitForTimer,
            "RFC 3168, section 6.1.2: a window is at least one segment", "RFC 3168, section 6.1.2";
        /// a timeout allows another reduction by ECN in the same window
        ecn_after_timeout: bool = false, "RFC 3168, section 6.1.2: one reduction per window of data", "ns-2";
        /// an ECN echo reduces the window by proportional rate reduction, too: over a round trip, in which it does not
        /// grow, instead of at once
        ecn_prr: bool = false, "RFC 3168, section 6.1.2: as at a loss, and RFC 5681 reduces at once; Linux has it (CWR)",
            "RFC 9937; Linux";
    }
}

impl Profile {
    /// Initial `ssthresh`, segments; infinite if it is beyond any window.
    pub(crate) fn first_ssthresh(&self) -> f64 {
        if self.initial_ssthresh < MAX_SSTHRESH { self.initial_ssthresh as f64 } else { f64::INFINITY }
    }

    /// Full segments per ACK.
    pub fn segments_per_ack(&self) -> u32 {
        if self.delayed_ack { self.ack_every.max(1) } else { 1 }
    }
}

/// Segments; windows are at most 1 GiB.
pub(crate) const MAX_SSTHRESH: u64 = 1_000_000;
