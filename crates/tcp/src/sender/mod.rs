//! The sending side: what may be sent when, recovery from loss, the answer to ECN.
//!
//! RFC 5681 (congestion control), RFC 6298 (timer), RFC 7323 (timestamps). The
//! recoveries from loss stand in files of their own: `fast` (RFC 5681, 6582 and
//! 3042), `selective` (RFC 6675) and `counted` (ns-2's). After a timeout everything outstanding is
//! sent again as the window allows (go-back-N), but for what the receiver says
//! that it has.

mod acknowledge;
mod connect;
mod counted;
mod ecn;
mod fast;
mod selective;
mod transmit;

use crate::cc::{Choice, CongestionControl, Curve, Recovery};
use crate::profile::Profile;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::segment::{Flags, Segment, TIMESTAMPS};
use connect::Handshake;
use counted::CountedRecovery;
use ecn::EcnState;
use fast::FastRecovery;
use selective::SackRecovery;
use sojourn_units::{Bytes, Fault, Span, Time};

/// How a sender is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// What implementations differ in.
    pub profile: Profile,
    /// The congestion control.
    pub cc: Choice,
    /// Payload of a full segment without options, bytes; options take theirs from it (RFC 6691).
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
///
/// What every ACK and every segment needs stands first.
#[derive(Clone)]
pub struct Sender {
    handshake: Handshake,
    recovery: Recovery,
    timestamps: bool,
    /// Retransmit the first unacknowledged segment now.
    resend: bool,
    dup_acks: u32,
    /// First byte not acknowledged.
    una: u64,
    /// Next byte to send.
    nxt: u64,
    /// First byte never sent.
    max: u64,
    /// End of the data there is to send.
    supply: u64,
    /// The congestion window as the congestion control last said, bytes.
    window: u64,
    /// What the receiver has room for, bytes.
    room: u64,
    mss: u64,
    deadline: Option<Time>,
    /// The segment being timed: its end, and when it was sent (RFC 6298, section 3).
    timed: Option<(u64, Time)>,
    cc: Curve,
    ecn: EcnState,
    rtt: RttEstimator,

    /// Recovery from loss under way.
    repair: Option<Repair>,
    /// What the receiver has above `una`; empty without SACK.
    board: Scoreboard,
    /// Bytes that limited transmit sent since the last new ACK.
    beyond_window: u64,
    /// `recover` of RFC 6582 and `RecoveryPoint` of RFC 6675: what was outstanding at the last loss.
    loss_point: Option<u64>,
    /// Where the last timeout was, while nothing new has been acknowledged.
    timed_out_at: Option<u64>,

    lost_syns: u32,
    profile: Profile,
}

/// Recovery from loss under way.
#[derive(Clone, Copy, Debug)]
enum Repair {
    Fast(FastRecovery),
    Sack(SackRecovery),
    Counted(CountedRecovery),
}

impl Sender {
    /// A sender with nothing to send, before its SYN; refuses a congestion control that is wrong.
    pub fn new(config: Config) -> Result<Sender, Fault> {
        let Config { profile, cc, mss, ecn } = config;
        let options = if profile.timestamps { TIMESTAMPS } else { 0 };
        let mss = mss.saturating_sub(options).clamp(1, u32::from(u16::MAX));
        let curve = cc.build(&profile, mss)?;
        Ok(Sender {
            handshake: Handshake::Closed,
            recovery: cc.recovery(profile.sack)?,
            timestamps: profile.timestamps,
            resend: false,
            dup_acks: 0,
            una: 0,
            nxt: 0,
            max: 0,
            supply: 0,
            window: curve.window().get(),
            room: profile.receive_window.saturating_mul(u64::from(mss)),
            mss: u64::from(mss),
            deadline: None,
            timed: None,
            cc: curve,
            ecn: EcnState::new(ecn),
            rtt: RttEstimator::new(&profile),
            repair: None,
            board: Scoreboard::default(),
            beyond_window: 0,
            loss_point: None,
            timed_out_at: None,
            lost_syns: 0,
            profile,
        })
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
            Handshake::Established if segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::SYN) => {
                self.on_ack(now, segment)
            }
            Handshake::SynSent { at } if segment.flags.has(Flags::SYN | Flags::ACK) => {
                self.establish(now, segment, at)
            }
            _ => Progress::default(),
        }
    }

    /// The next segment to send now; to be asked until there is none.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        match self.handshake {
            Handshake::Established if self.resend => Some(self.retransmit_first(now)),
            Handshake::Established if self.board.is_empty() && self.repair.is_none() => {
                self.next_in_order(now)
            }
            Handshake::Established => self.next_in_trouble(now),
            Handshake::SynDue => Some(self.syn(now)),
            Handshake::Closed | Handshake::SynSent { .. } => None,
        }
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
            Handshake::SynSent { .. } => self.syn_timed_out(),
            Handshake::Established if self.una < self.max => self.retransmit_all(now),
            _ => self.ecn.hold = false,
        }
    }

    /// The congestion window, without what recovery adds.
    pub fn window(&self) -> Bytes {
        Bytes::new(self.window)
    }

    /// Payload of a full segment, bytes.
    pub fn mss(&self) -> u32 {
        self.mss as u32
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

/// Duplicate ACKs that mean a loss (RFC 5681, section 3.2; `DupThresh` of RFC 6675).
const DUP_THRESHOLD: u32 = 3;
