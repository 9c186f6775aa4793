//! The sending side: what may be sent when, recovery from loss, the answer to ECN.
//!
//! RFC 5681 (congestion control), RFC 6582 (NewReno), RFC 6298 (timer), RFC
//! 3042 (limited transmit), RFC 3168 (ECN). After a timeout everything
//! outstanding is sent again as the window allows (go-back-N), as senders
//! without selective acknowledgments do.

use crate::cc::{self, AckSample, CongestionControl, Recovery, Signal};
use crate::profile::{EcnAtOne, LimitedTransmit, Profile};
use crate::rtt::RttEstimator;
use crate::segment::{Flags, Segment};
use sojourn_units::{Bytes, Ecn, Span, Time};

/// How a sender is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// What implementations differ in.
    pub profile: Profile,
    /// The congestion control, by its name in the catalogue.
    pub cc: String,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Whether to ask for ECN.
    pub ecn: bool,
}

/// What an arriving segment changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes newly acknowledged.
    pub acked: u64,
    /// A measurement of the round-trip time.
    pub rtt: Option<Span>,
}

/// A sender: one direction of a connection, from its SYN on.
#[derive(Clone)]
pub struct Sender {
    profile: Profile,
    recovery: Recovery,
    mss: u32,
    cc: Box<dyn CongestionControl>,
    rtt: RttEstimator,

    handshake: Handshake,
    lost_syns: u32,
    /// First byte not acknowledged.
    una: u64,
    /// Next byte to send.
    nxt: u64,
    /// First byte never sent.
    max: u64,
    /// End of the data there is to send.
    supply: u64,
    deadline: Option<Time>,
    /// The segment being timed: its end, and when it was sent (RFC 6298, section 3).
    timed: Option<(u64, Time)>,

    dup_acks: u32,
    /// Bytes that limited transmit sent since the last new ACK.
    beyond_window: u64,
    fast: Option<FastRecovery>,
    /// Retransmit the first unacknowledged segment now.
    resend: bool,
    /// `recover` of RFC 6582: what was outstanding at the last loss.
    loss_point: Option<u64>,
    /// Where the last timeout was, while nothing new has been acknowledged.
    timed_out_at: Option<u64>,

    ecn: EcnState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handshake {
    Closed,
    SynDue,
    SynSent { at: Time },
    Established,
}

/// Fast recovery in progress.
#[derive(Clone, Copy, Debug)]
struct FastRecovery {
    /// Recovery ends when everything below this is acknowledged.
    until: u64,
    /// What duplicate ACKs add to the window, bytes.
    inflation: i64,
    /// Whether a partial ACK has been seen.
    partial: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct EcnState {
    asked: bool,
    agreed: bool,
    /// What was outstanding at the last reduction: one reduction a window of data.
    point: Option<u64>,
    /// Tell the receiver with the next new segment that the window was reduced.
    cwr_due: bool,
    /// Nothing is sent until the timer expires.
    hold: bool,
    /// The last reduction came at a window of one segment.
    at_one: bool,
    /// The last reduction of the window was a timeout's.
    timeout_last: bool,
}

impl Sender {
    /// A sender with nothing to send, before its SYN; None where the congestion control does not exist.
    pub fn new(config: Config) -> Option<Sender> {
        let Config { profile, cc, mss, ecn } = config;
        Some(Sender {
            recovery: cc::recovery(&cc)?,
            mss,
            cc: cc::build(&cc, &profile, mss)?,
            rtt: RttEstimator::new(&profile),
            profile,
            handshake: Handshake::Closed,
            lost_syns: 0,
            una: 0,
            nxt: 0,
            max: 0,
            supply: 0,
            deadline: None,
            timed: None,
            dup_acks: 0,
            beyond_window: 0,
            fast: None,
            resend: false,
            loss_point: None,
            timed_out_at: None,
            ecn: EcnState { asked: ecn, ..EcnState::default() },
        })
    }

    /// Opens the connection: the SYN is the next segment.
    pub fn open(&mut self) {
        if self.handshake == Handshake::Closed {
            self.handshake = Handshake::SynDue;
        }
    }

    /// There is data to send up to byte `end`.
    pub fn supply(&mut self, end: u64) {
        self.supply = self.supply.max(end);
    }

    /// No data beyond what has been sent already.
    pub fn stop(&mut self) {
        self.supply = self.max;
    }

    /// A segment from the receiver arrives.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) -> Progress {
        match self.handshake {
            Handshake::SynSent { at } if segment.flags.has(Flags::SYN | Flags::ACK) => {
                self.establish(now, segment, at)
            }
            Handshake::Established if segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::SYN) => {
                self.on_ack(now, segment)
            }
            _ => Progress::default(),
        }
    }

    /// The next segment to send now; to be asked until there is none.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        match self.handshake {
            Handshake::Established => {}
            Handshake::SynDue => return Some(self.syn(now)),
            Handshake::Closed | Handshake::SynSent { .. } => return None,
        }
        if self.resend {
            self.resend = false;
            return Some(self.data(now, self.una));
        }
        let len = self.mss.min((self.supply - self.nxt).min(u64::from(u32::MAX)) as u32);
        if self.ecn.hold || len == 0 || self.nxt + u64::from(len) - self.una > self.usable_window() {
            return None;
        }
        let segment = self.data(now, self.nxt);
        self.nxt += u64::from(segment.len);
        if self.limited_transmit() > 0 {
            self.beyond_window += u64::from(segment.len);
        }
        Some(segment)
    }

    /// When the timer expires.
    pub fn next_timeout(&self) -> Option<Time> {
        self.deadline
    }

    /// The time of [`next_timeout`](Self::next_timeout) has come.
    pub fn on_timeout(&mut self, now: Time) {
        if self.deadline.is_none_or(|deadline| deadline > now) {
            return;
        }
        self.deadline = None;
        match self.handshake {
            Handshake::SynSent { .. } => {
                self.rtt.back_off();
                self.handshake = Handshake::SynDue;
                self.lost_syns += 1;
            }
            Handshake::Established if self.una < self.max => self.retransmit_all(now),
            _ => self.ecn.hold = false,
        }
    }

    /// The congestion window, without what recovery adds.
    pub fn window(&self) -> Bytes {
        self.cc.window()
    }

    /// Payload of a full segment, bytes.
    pub fn mss(&self) -> u32 {
        self.mss
    }

    /// The slow-start threshold.
    pub fn ssthresh(&self) -> Bytes {
        self.cc.ssthresh()
    }

    /// Bytes outstanding.
    pub fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// The retransmission timeout in force.
    pub fn timeout(&self) -> Span {
        self.rtt.timeout()
    }

    /// First byte not acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.una
    }
}

/// Connecting.
impl Sender {
    fn syn(&mut self, now: Time) -> Segment {
        self.handshake = Handshake::SynSent { at: now };
        self.deadline = Some(now + self.rtt.timeout());
        let flags = Flags::SYN.with(Flags::ECE | Flags::CWR, self.ecn.asked);
        Segment { flags, ..Segment::default() }
    }

    fn establish(&mut self, now: Time, segment: &Segment, at: Time) -> Progress {
        self.handshake = Handshake::Established;
        self.ecn.agreed = self.ecn.asked && segment.flags.has(Flags::ECE);
        self.deadline = None;
        if self.lost_syns > 1 {
            self.cc.on_signal(&Signal::SynsLost);
        }
        if self.lost_syns > 0 {
            // RFC 6298 (5.7), and no sample from a segment sent twice (Karn).
            self.rtt.restart_at_least(RTO_AFTER_LOST_SYN);
            return Progress::default();
        }
        let rtt = now.since(at);
        self.rtt.sample(rtt);
        Progress { acked: 0, rtt: Some(rtt) }
    }
}

/// Sending.
impl Sender {
    /// How much may be outstanding now, recovery and limited transmit included.
    fn usable_window(&self) -> u64 {
        let window = self.cc.window().get();
        let window = match self.fast {
            Some(fast) => window.saturating_add_signed(fast.inflation).max(u64::from(self.mss)),
            None => window + self.limited_transmit(),
        };
        window.min(self.receive_window())
    }

    /// What the receiver has room for.
    fn receive_window(&self) -> u64 {
        self.profile.receive_window.saturating_mul(u64::from(self.mss))
    }

    /// RFC 3042: a segment for each of the first two duplicate ACKs.
    fn limited_transmit(&self) -> u64 {
        let allowed = match self.profile.limited_transmit {
            LimitedTransmit::NewData => self.nxt == self.max,
            LimitedTransmit::Next => true,
        };
        let early = allowed && self.fast.is_none() && self.dup_acks < DUP_THRESHOLD;
        if early { u64::from(self.dup_acks) * u64::from(self.mss) } else { 0 }
    }

    /// The segment that starts at byte `seq`.
    fn data(&mut self, now: Time, seq: u64) -> Segment {
        let len = u64::from(self.mss).min(self.supply.max(self.max) - seq) as u32;
        let end = seq + u64::from(len);
        let new = end > self.max;
        self.max = self.max.max(end);
        if new && self.timed.is_none() {
            self.timed = Some((end, now));
        }
        if self.deadline.is_none() {
            self.deadline = Some(now + self.rtt.timeout());
        }
        let cwr = new && std::mem::take(&mut self.ecn.cwr_due);
        let capable = self.ecn.agreed && (new || self.profile.ect_on_retransmit);
        Segment {
            seq,
            ack: 0,
            len,
            flags: Flags::ACK.with(Flags::CWR, cwr),
            ecn: if capable { Ecn::Ect0 } else { Ecn::NotEct },
        }
    }

    fn restart_timer(&mut self, now: Time) {
        let running = self.una < self.max || self.ecn.hold;
        self.deadline = running.then(|| now + self.rtt.timeout());
    }
}

/// Acknowledgments.
impl Sender {
    fn on_ack(&mut self, now: Time, segment: &Segment) -> Progress {
        let ack = segment.ack;
        if ack < self.una || ack > self.max {
            return Progress::default();
        }
        let echo = self.ecn.agreed && segment.flags.has(Flags::ECE);
        if echo {
            self.on_echo(now, ack);
        } else {
            self.ecn.at_one = false;
        }
        if ack > self.una {
            self.on_new_ack(now, ack, echo)
        } else {
            if self.una < self.max {
                self.on_duplicate_ack(now);
            }
            Progress::default()
        }
    }

    fn on_new_ack(&mut self, now: Time, ack: u64, echo: bool) -> Progress {
        let acked = ack - self.una;
        let rtt = self.measure(now, ack);
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.dup_acks = 0;
        self.beyond_window = 0;
        self.timed_out_at = None;
        let mut restart = true;
        match self.fast {
            Some(fast) if self.recovery == Recovery::NewReno && ack < fast.until => {
                // Section 4: "impatient", from the first partial ACK only.
                restart = !fast.partial;
                self.on_partial_ack(fast, acked);
            }
            Some(_) => {
                self.fast = None;
                if self.profile.cautious_exit && self.recovery == Recovery::NewReno {
                    self.cc.on_signal(&Signal::Recovered { flight: self.flight() });
                }
                if self.profile.grow_on_exit && !echo {
                    self.grow(now, acked);
                }
            }
            None if !echo => self.grow(now, acked),
            None => {}
        }
        if restart || self.una == self.max {
            self.restart_timer(now);
        }
        Progress { acked, rtt }
    }

    fn grow(&mut self, now: Time, acked: u64) {
        // A window that the receiver cannot use says nothing of the network.
        if self.cc.window().get() >= self.receive_window() {
            return;
        }
        self.cc.on_ack(&AckSample { now, acked, flight: self.flight() });
    }

    /// RFC 6582, section 3.2, step 3, partial acknowledgment.
    fn on_partial_ack(&mut self, fast: FastRecovery, acked: u64) {
        let refill = if acked >= u64::from(self.mss) { i64::from(self.mss) } else { 0 };
        // The inflated window shrinks by what was acknowledged, to nothing at the least.
        let empty = -(self.cc.window().get() as i64);
        let inflation = (fast.inflation - acked as i64).max(empty) + refill;
        self.fast = Some(FastRecovery { inflation, partial: true, ..fast });
        self.resend = true;
    }

    fn on_duplicate_ack(&mut self, now: Time) {
        self.dup_acks += 1;
        if let Some(fast) = &mut self.fast {
            fast.inflation += i64::from(self.mss);
        } else if self.dup_acks == DUP_THRESHOLD && self.loss_point.is_none_or(|point| self.una > point) {
            self.fast_retransmit(now);
        }
    }

    /// RFC 5681, section 3.2, steps 2 and 3, with the memory of RFC 6582.
    fn fast_retransmit(&mut self, now: Time) {
        // A window that ECN has reduced already is not reduced again for a loss in it. The segment
        // that starts at the point carries CWR: its loss is a new instance (RFC 3168, section 6.1.2).
        if self.ecn.point.is_none_or(|point| self.una >= point) {
            self.cc.on_signal(&Signal::Loss { flight: self.flight() - self.beyond_window });
            self.ecn.cwr_due = self.ecn.agreed;
            self.ecn.timeout_last = false;
        }
        self.loss_point = Some(self.max);
        let inflation = i64::from(DUP_THRESHOLD) * i64::from(self.mss);
        self.fast = Some(FastRecovery { until: self.max, inflation, partial: false });
        self.resend = true;
        self.timed = None;
        self.deadline = Some(now + self.rtt.timeout());
    }

    /// RFC 6298: one segment is timed at a time, never one that was sent twice (Karn).
    fn measure(&mut self, now: Time, ack: u64) -> Option<Span> {
        let (_, sent) = self.timed.take_if(|(end, _)| *end <= ack)?;
        let rtt = now.since(sent);
        self.rtt.sample(rtt);
        Some(rtt)
    }

    /// RFC 6298, (5.4) to (5.6), and RFC 5681, section 3.1: start again from one segment.
    fn retransmit_all(&mut self, now: Time) {
        let reduced = self.ecn.point.is_some_and(|point| self.una < point) && !self.ecn.timeout_last;
        let again = self.timed_out_at == Some(self.una) || reduced;
        self.cc.on_signal(&Signal::Timeout { flight: self.flight(), again });
        self.ecn.cwr_due = self.ecn.agreed;
        self.ecn.hold = false;
        self.ecn.timeout_last = true;
        self.timed_out_at = Some(self.una);
        self.loss_point = Some(self.max);
        self.fast = None;
        self.dup_acks = 0;
        self.beyond_window = 0;
        self.timed = None;
        self.nxt = self.una;
        self.rtt.back_off();
        self.deadline = Some(now + self.rtt.timeout());
    }
}

/// ECN.
impl Sender {
    /// RFC 3168, section 6.1.2: the window is reduced once for a window of data.
    fn on_echo(&mut self, now: Time, ack: u64) {
        let reopened = self.profile.ecn_after_timeout && self.ecn.timeout_last;
        let covered = |point: Option<u64>| point.is_some_and(|point| ack <= point);
        if !reopened && (covered(self.ecn.point) || covered(self.loss_point)) {
            return;
        }
        let one = self.cc.window().get() <= u64::from(self.mss);
        self.cc.on_signal(&Signal::EcnEcho);
        self.ecn.point = Some(self.max);
        self.ecn.cwr_due = true;
        self.ecn.timeout_last = false;
        match self.profile.ecn_at_one {
            EcnAtOne::WaitForTimer if one => {
                self.ecn.hold = true;
                self.deadline = Some(now + self.rtt.timeout());
            }
            EcnAtOne::BackOff if one && self.ecn.at_one => self.rtt.back_off(),
            _ => {}
        }
        self.ecn.at_one = one;
    }
}

/// Duplicate ACKs that mean a loss (RFC 5681, section 3.2).
const DUP_THRESHOLD: u32 = 3;
/// Timeout with which data starts after a lost SYN (RFC 6298, 5.7).
const RTO_AFTER_LOST_SYN: Span = Span::from_secs(3);
