//! The sending side: what may be sent when, recovery from loss, the answer to ECN.
//!
//! RFC 5681 (congestion control), RFC 6298 (timer), RFC 7323 (timestamps). Four
//! schemes tell what is lost, each in a file of its own: `rack` (RFC 8985),
//! `selective` (RFC 6675), `fast` (RFC 5681, 6582 and 3042, without SACK) and
//! `counted` (ns-2's). Around them: `reduce` (every answer to congestion), `spurious`
//! (RFC 3522, 5682) and `undo` (RFC 4015), `probe` (RFC 8985, section 7), `prr` (RFC
//! 9937), `persist` and `close` (RFC 9293), `unused` (RFC 5681, 7661), `pace`. After a timeout RACK sends again what is old; the
//! others send everything outstanding as the window allows (go-back-N).

mod account;
mod acknowledge;
mod again;
mod close;
mod connect;
mod counted;
mod ecn;
mod fast;
mod history;
mod min_rtt;
mod pace;
mod persist;
mod probe;
mod prr;
mod rack;
mod reduce;
mod selective;
mod spurious;
mod timers;
mod transmit;
mod undo;
mod unused;

use crate::cc::{Choice, CongestionControl, Curve, Recovery};
use crate::kept::Kept;
use crate::mark::Mark;
use crate::profile::{LossDetection, Pipe, Profile, UnusedWindow};
use crate::rtt::RttEstimator;
use crate::scoreboard::{DUP_THRESHOLD, Scoreboard};
use crate::segment::{Flags, Segment, Stamp, TIMESTAMPS};
pub use account::Account;
use connect::Handshake;
use counted::CountedRecovery;
use ecn::EcnState;
use fast::FastRecovery;
use history::History;
use persist::Persist;
use probe::Probe;
use rack::{Rack, RackRecovery};
use selective::SackRecovery;
use sojourn_units::{Bytes, Fault, Rate, Span, Time};
use spurious::Frto;
use std::sync::Arc;
use timers::{Alarm, Timers};
use undo::Undo;
use unused::PipeAck;

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
    /// How fast the application at the receiver reads; None: what comes, at once.
    pub reads: Option<Rate>,
}

impl Config {
    /// Payload of a full segment, bytes.
    pub(crate) fn payload(&self) -> u32 {
        let options = if self.profile.timestamps { TIMESTAMPS } else { 0 };
        self.mss.saturating_sub(options).clamp(1, u32::from(u16::MAX))
    }
}

impl From<&Config> for Arc<Config> {
    fn from(config: &Config) -> Arc<Config> {
        Arc::new(config.clone())
    }
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
/// In memory it stands as written here, what every ACK and every segment needs first: of thousands of flows little
/// fits into the caches.
#[derive(Clone)]
#[repr(C)]
pub struct Sender {
    handshake: Handshake,
    recovery: Recovery,
    scheme: Scheme,
    timestamps: bool,
    /// Whether every segment is timed, or one at a time.
    times_all: bool,
    /// Whether loss probes are sent.
    probes: bool,
    /// Whether segments leave at even distances.
    paces: bool,
    /// Retransmit the first lost segment now, whatever the window says.
    resend: bool,
    /// The other side's FIN is to be acknowledged.
    ack_due: bool,
    closing: bool,
    /// Whether an ACK has come since the handshake.
    heard: bool,
    seen_dsack: bool,
    peer_closed: bool,
    lost_syns: u8,
    dup_acks: u32,
    /// When the first of the retransmissions that are outstanding was sent.
    sent_again_at: Stamp,
    /// First byte not acknowledged.
    una: u64,
    /// Next byte to send.
    nxt: u64,
    /// First byte never sent.
    max: u64,
    /// Where the sequence numbers end: behind the data there is to send, and FIN.
    end_of_stream: u64,
    /// The congestion window as the congestion control last said, bytes.
    window: u64,
    /// Where the receiver's room ends.
    edge: u64,
    mss: u64,
    timers: Timers,
    /// The end of the segment being timed, and when it was sent (RFC 6298, section 3).
    timed: Mark,
    timed_at: Time,
    /// When data, or the SYN, was sent last.
    last_sent: Time,
    /// Where the last segment sent for the first time begins, or what of it was new.
    last_segment: u64,
    /// Recovery from loss under way.
    repair: Kept<Repair>,
    /// What the receiver has above `una`; empty without SACK.
    board: Scoreboard,
    /// Bytes that limited transmit sent since the last new ACK.
    beyond_window: u64,
    /// Where the last timeout was, while nothing new has been acknowledged.
    timed_out_at: Mark,
    frto: Option<Frto>,
    ecn: EcnState,
    persist: Persist,
    probe: Probe,
    /// What of the window is used, where that is watched.
    usage: Option<Box<PipeAck>>,
    config: Arc<Config>,
    rtt: RttEstimator,
    cc: Curve,
    /// When what is outstanding was sent first, and in which segments; empty where nobody asks.
    history: History,

    rack: Rack,
    /// `recover` of RFC 6582 and `RecoveryPoint` of RFC 6675: what was outstanding at the last loss.
    loss_point: Mark,
    /// What was sent twice ends here, or before.
    resent_below: u64,
    /// What a reduction of the window may have to be taken back to.
    undo: Kept<Undo>,
    /// `RecoveryPoint` of RFC 5682, section 3.1.
    frto_recover: u64,
    /// After a spurious timeout: data beyond this measures the path anew.
    rtt_after_spike: Mark,
    /// When pacing lets the next segment go.
    next_release: Time,
}

/// What tells that a segment is lost, and what recovery then does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    /// Duplicate ACKs alone (RFC 5681, 6582).
    Fast,
    /// SACK and three duplicates (RFC 6675).
    Selective,
    /// SACK and a counted pipe (ns-2).
    Counted,
    /// SACK and time (RFC 8985).
    Rack,
}

/// Recovery from loss under way.
#[derive(Clone, Copy, Debug)]
enum Repair {
    Fast(FastRecovery),
    Sack(SackRecovery),
    Counted(CountedRecovery),
    Rack(RackRecovery),
}

impl Scheme {
    fn of(recovery: Recovery, profile: &Profile) -> Scheme {
        match (recovery, profile.pipe, profile.loss_detection) {
            (Recovery::Reno | Recovery::NewReno, ..) => Scheme::Fast,
            (Recovery::Sack, Pipe::Counted, _) => Scheme::Counted,
            (Recovery::Sack, _, LossDetection::Rack) => Scheme::Rack,
            (Recovery::Sack, _, LossDetection::Dupacks) => Scheme::Selective,
        }
    }
}

impl Sender {
    /// A sender with nothing to send, before its SYN; refuses a congestion control that is wrong.
    ///
    /// Flows of one kind may share their configuration.
    pub fn new(config: impl Into<Arc<Config>>) -> Result<Sender, Fault> {
        let config = config.into();
        let mss = config.payload();
        let Config { profile, cc, ecn, .. } = &*config;
        let curve = cc.build(profile, mss)?;
        let recovery = cc.recovery(profile.sack)?;
        let scheme = Scheme::of(recovery, profile);
        Ok(Sender {
            handshake: Handshake::Closed,
            recovery,
            scheme,
            timestamps: profile.timestamps,
            // RACK knows when each segment was sent.
            times_all: profile.time_all || scheme == Scheme::Rack,
            probes: scheme == Scheme::Rack && profile.tail_loss_probe,
            paces: profile.pacing,
            resend: false,
            ack_due: false,
            closing: false,
            heard: false,
            dup_acks: 0,
            una: 0,
            nxt: 0,
            max: 0,
            end_of_stream: 0,
            window: curve.window().get(),
            edge: 0,
            mss: u64::from(mss),
            timers: Timers::OFF,
            timed: Mark::NONE,
            timed_at: Time::ZERO,
            history: History::default(),
            cc: curve,
            ecn: EcnState::new(*ecn),
            rtt: RttEstimator::new(profile),
            last_sent: Time::ZERO,
            last_segment: 0,
            repair: Kept::NONE,
            board: Scoreboard::default(),
            rack: Rack::new(),
            probe: Probe::default(),
            persist: Persist::default(),
            beyond_window: 0,
            loss_point: Mark::NONE,
            timed_out_at: Mark::NONE,
            resent_below: 0,
            sent_again_at: Stamp::default(),
            undo: Kept::NONE,
            frto: None,
            frto_recover: 0,
            seen_dsack: false,
            rtt_after_spike: Mark::NONE,
            next_release: Time::ZERO,
            usage: (profile.unused_window == UnusedWindow::Validate).then(Box::default),
            peer_closed: false,
            lost_syns: 0,
            config,
        })
    }

    /// There is data to send up to byte `end`.
    pub fn supply(&mut self, end: u64) {
        self.end_of_stream = self.end_of_stream.max(end.saturating_add(self.closing.into()));
    }

    /// Where the data end that there are to send.
    pub fn supplied(&self) -> u64 {
        self.end_of_stream - u64::from(self.closing)
    }

    /// No data beyond what has been sent already, the byte of a window probe included, which the receiver may have taken;
    /// FIN follows it where connections end so.
    pub fn stop(&mut self) {
        let sent = self.max.max(self.persist.taken.get().unwrap_or(0));
        self.end_of_stream = self.end_of_stream.min(sent.saturating_add(self.closing.into()));
        if self.config.profile.teardown {
            self.close();
        }
    }

    /// A segment from the receiver arrives.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) -> Progress {
        match self.handshake {
            Handshake::Established if segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::SYN) => {
                self.on_ack(now, segment)
            }
            Handshake::SynSent if segment.flags.has(Flags::SYN | Flags::ACK) => self.establish(now, segment),
            _ => Progress::default(),
        }
    }

    /// The next segment to send now; to be asked until there is none.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        if self.handshake == Handshake::Established {
            return self.next(now);
        }
        (self.handshake == Handshake::SynDue).then(|| self.syn(now))
    }

    /// When the next timer expires.
    #[inline]
    pub fn next_timeout(&self) -> Option<Time> {
        self.timers.next()
    }

    /// The time of [`next_timeout`](Self::next_timeout) has come.
    pub fn on_timeout(&mut self, now: Time) {
        match self.timers.take_due(now) {
            None | Some(Alarm::Pace) => {}
            Some(Alarm::Reorder) => {
                self.look_for_losses(now, 0);
            }
            Some(Alarm::Probe) => self.probe_timed_out(now),
            Some(Alarm::Persist) => self.persist_timed_out(),
            Some(Alarm::Retransmit) => match self.handshake {
                Handshake::SynSent => self.syn_timed_out(),
                Handshake::Established if self.una < self.max => self.retransmit_all(now),
                _ => self.go_on(),
            },
        }
    }

    /// Something of every cache line that an ACK needs: whoever reads it has them brought near.
    #[doc(hidden)]
    #[inline]
    pub fn nearby(&self) -> u64 {
        let (timers, frto) = (self.timers.pace.nanos(), u64::from(self.frto.is_some()));
        let (rtt, history) = (self.rtt.timeout().nanos(), u64::from(self.history.is_empty()));
        self.una ^ timers ^ self.beyond_window ^ frto ^ u64::from(self.persist.widest) ^ rtt ^ history
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

    /// The smoothed round-trip time; None before the first measurement.
    pub fn smoothed(&self) -> Option<Span> {
        self.rtt.smoothed_s().map(Span::from_seconds)
    }

    /// First byte not acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.una
    }
}
