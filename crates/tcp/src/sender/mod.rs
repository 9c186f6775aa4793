//! The sending side: what may be sent, loss recovery, and the response to ECN.
//!
//! RFC 5681 (congestion control), RFC 6298 (timer), RFC 7323 (timestamps). Four schemes detect losses, each in a file
//! of its own: `rack` (RFC 8985), `selective` (RFC 6675), `fast` (RFC 5681, 6582 and 3042, without SACK) and `counted`
//! (ns-2's). Around them: `reduce` (every reduction of the window), `spurious` (RFC 3522, 5682) and `undo` (RFC 4015),
//! `probe` (RFC 8985, section 7), `prr` (RFC 9937), `persist` and `close` (RFC 9293), `cwnd_validation` (RFC 5681,
//! 7661), `pace`. After a timeout RACK retransmits what is overdue; the other schemes retransmit everything
//! outstanding as the window allows (go-back-N).

mod acknowledge;
mod close;
mod connect;
mod counted;
mod cwnd_validation;
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
mod retransmitted;
mod selective;
mod sharing;
mod snapshot;
mod spurious;
mod timers;
mod transmit;
mod undo;

use crate::cc::{Choice, CongestionControl, Curve, Recovery};
use crate::lazy_box::LazyBox;
use crate::opt_seq::OptSeq;
use crate::profile::{LossDetection, Pipe, Profile, UnusedWindow};
use crate::rtt::RttEstimator;
use crate::scoreboard::{DUP_THRESH, Scoreboard};
use crate::segment::{Flags, Segment, Stamp, TIMESTAMPS};
use connect::Handshake;
use counted::CountedRecovery;
use cwnd_validation::PipeAck;
use ecn::EcnState;
use fast::FastRecovery;
use history::History;
use persist::Persist;
use probe::Probe;
use prr::PrrState;
use rack::{Rack, RackRecovery};
use selective::SackRecovery;
pub use snapshot::Snapshot;
use sojourn_units::{Bytes, Rate, Span, Time};
use spurious::Frto;
use std::sync::Arc;
use timers::{Alarm, Timers};
use undo::Undo;

/// Configuration of a sender.
#[derive(Clone, Debug)]
pub struct Config {
    /// Choices of the implementation.
    pub profile: Profile,
    /// The congestion control.
    pub cc: Choice,
    /// Payload of a full-sized segment without options, bytes; options reduce it (RFC 6691).
    pub mss: u32,
    /// Request ECN.
    pub ecn: bool,
    /// ECN-capable packets carry ECT(1), the identifier of scalable senders (RFC 9331), in place of ECT(0).
    pub ect1: bool,
    /// Reading rate of the application at the receiver; None: reads at once.
    pub reads: Option<Rate>,
}

impl Config {
    /// Payload of a full-sized segment, bytes.
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

/// Effects of an arriving segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes newly acknowledged.
    pub acked: u64,
    /// RTT sample.
    pub rtt: Option<Span>,
}

/// Sender: one direction of a connection, from its SYN on.
///
/// Fields are laid out in this order, those first that every ACK and every segment needs: with thousands of flows
/// little fits in the caches.
#[derive(Clone)]
#[repr(C)]
pub struct Sender {
    handshake: Handshake,
    algorithm: Recovery,
    scheme: Scheme,
    timestamps: bool,
    /// Every segment is timed, instead of one at a time.
    times_all: bool,
    /// Tail loss probes are enabled.
    probes: bool,
    /// Segments are paced.
    paces: bool,
    /// Retransmit the first lost segment next, regardless of the window.
    resend: bool,
    /// An ACK of the peer's FIN is due.
    ack_due: bool,
    closing: bool,
    /// An ACK has arrived since the handshake.
    ack_seen: bool,
    seen_dsack: bool,
    peer_closed: bool,
    lost_syns: u8,
    dup_acks: u32,
    /// Time of the earliest outstanding retransmission.
    retransmit_ts: Stamp,
    /// SND.UNA: first byte not acknowledged.
    una: u64,
    /// SND.NXT: next byte to send.
    nxt: u64,
    /// First byte never sent.
    max: u64,
    /// End of the sequence numbers: after the supplied data, and FIN.
    end_of_stream: u64,
    /// Congestion window, bytes; copied from the congestion control.
    cwnd: u64,
    /// Right edge of the send window (SND.UNA + SND.WND).
    snd_edge: u64,
    mss: u64,
    timers: Timers,
    /// End of the segment being timed, and its time of transmission (RFC 6298, section 3).
    timed: OptSeq,
    timed_at: Time,
    /// Time of the last transmission of data or SYN.
    last_sent: Time,
    /// Start of the last segment sent for the first time, or of its new part.
    last_segment: u64,
    /// State of loss recovery.
    recovery: LazyBox<RecoveryState>,
    /// SACKed data above `una`; empty without SACK.
    board: Scoreboard,
    /// Bytes sent by limited transmit since the last ACK of new data.
    beyond_window: u64,
    /// SND.UNA at the last timeout, until new data is acknowledged.
    timed_out_at: OptSeq,
    frto: Option<Frto>,
    ecn: EcnState,
    persist: Persist,
    probe: Probe,
    /// State that few profiles need.
    rare: Option<Box<Rare>>,
    config: Arc<Config>,
    rtt: RttEstimator,
    cc: Curve,
    /// First transmissions of the outstanding data; empty if not needed.
    history: History,

    rack: Rack,
    /// `recover` of RFC 6582 and `RecoveryPoint` of RFC 6675: end of the data outstanding at the last loss.
    recovery_point: OptSeq,
    /// Upper bound of the retransmitted data.
    retransmitted_below: u64,
    /// State to restore if the last reduction proves spurious.
    undo: LazyBox<Undo>,
    /// `RecoveryPoint` of RFC 5682, section 3.1.
    frto_recover: u64,
    /// After a spurious timeout: end of the data sent before; later data samples the path anew.
    spurious_timeout_end: OptSeq,
    /// Earliest time of the next paced segment.
    next_release: Time,
}

/// Scheme of loss detection and recovery.
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

/// State that few profiles need.
#[derive(Clone, Debug, Default)]
struct Rare {
    /// Use of the window, for congestion window validation.
    pipe_ack: Option<PipeAck>,
    /// The reduction by an echo that is in progress.
    ecn_prr: Option<PrrState>,
}

impl Rare {
    fn of(profile: &Profile) -> Option<Box<Rare>> {
        let validates = profile.unused_window == UnusedWindow::Validate;
        let pipe_ack = validates.then(PipeAck::default);
        (validates || profile.ecn_prr).then(|| Box::new(Rare { pipe_ack, ecn_prr: None }))
    }
}

/// State of loss recovery, by scheme.
#[derive(Clone, Copy, Debug)]
enum RecoveryState {
    Fast(FastRecovery),
    Sack(SackRecovery),
    Counted(CountedRecovery),
    Rack(RackRecovery),
}

impl Scheme {
    fn of(algorithm: Recovery, profile: &Profile) -> Scheme {
        match (algorithm, profile.pipe, profile.loss_detection) {
            (Recovery::Reno | Recovery::NewReno, ..) => Scheme::Fast,
            (Recovery::Sack, Pipe::Counted, _) => Scheme::Counted,
            (Recovery::Sack, _, LossDetection::Rack) => Scheme::Rack,
            (Recovery::Sack, _, LossDetection::Dupacks) => Scheme::Selective,
        }
    }
}

impl Sender {
    /// Creates a sender without data, before its SYN.
    ///
    /// Flows of one kind may share their configuration.
    pub fn new(config: impl Into<Arc<Config>>) -> Sender {
        let config = config.into();
        let mss = config.payload();
        let Config { profile, cc, ecn, .. } = &*config;
        let curve = cc.build(profile, mss);
        let algorithm = cc.recovery(profile.sack);
        let scheme = Scheme::of(algorithm, profile);
        Sender {
            handshake: Handshake::Closed,
            algorithm,
            scheme,
            timestamps: profile.timestamps,
            // RACK needs the transmission time of each segment.
            times_all: profile.time_all || scheme == Scheme::Rack,
            probes: scheme == Scheme::Rack && profile.tail_loss_probe,
            paces: profile.pacing,
            resend: false,
            ack_due: false,
            closing: false,
            ack_seen: false,
            dup_acks: 0,
            una: 0,
            nxt: 0,
            max: 0,
            end_of_stream: 0,
            cwnd: curve.window().get(),
            snd_edge: 0,
            mss: u64::from(mss),
            timers: Timers::OFF,
            timed: OptSeq::NONE,
            timed_at: Time::ZERO,
            history: History::default(),
            cc: curve,
            ecn: EcnState::new(*ecn),
            rtt: RttEstimator::new(profile),
            last_sent: Time::ZERO,
            last_segment: 0,
            recovery: LazyBox::NONE,
            board: Scoreboard::default(),
            rack: Rack::new(),
            probe: Probe::default(),
            persist: Persist::default(),
            beyond_window: 0,
            recovery_point: OptSeq::NONE,
            timed_out_at: OptSeq::NONE,
            retransmitted_below: 0,
            retransmit_ts: Stamp::default(),
            undo: LazyBox::NONE,
            frto: None,
            frto_recover: 0,
            seen_dsack: false,
            spurious_timeout_end: OptSeq::NONE,
            next_release: Time::ZERO,
            rare: Rare::of(profile),
            peer_closed: false,
            lost_syns: 0,
            config,
        }
    }

    /// Supplies data up to byte `end`.
    pub fn supply(&mut self, end: u64) {
        self.end_of_stream = self.end_of_stream.max(end.saturating_add(self.closing.into()));
    }

    /// End of the supplied data.
    pub fn supplied(&self) -> u64 {
        self.end_of_stream - u64::from(self.closing)
    }

    /// End of the data already sent, including the byte of a window probe that the receiver may have taken.
    pub fn sent(&self) -> u64 {
        self.max.max(self.persist.taken.get().unwrap_or(0))
    }

    /// Ends the stream after the data already sent, including the byte of a window probe that the receiver may have
    /// taken; FIN follows if connections end with one.
    pub fn stop(&mut self) {
        self.end_of_stream = self.end_of_stream.min(self.sent().saturating_add(self.closing.into()));
        if self.config.profile.teardown {
            self.close();
        }
    }

    /// Processes a segment from the receiver.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) -> Progress {
        match self.handshake {
            Handshake::Established if segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::SYN) => {
                self.on_ack(now, segment)
            }
            Handshake::SynSent if segment.flags.has(Flags::SYN | Flags::ACK) => self.establish(now, segment),
            _ => Progress::default(),
        }
    }

    /// Returns the next segment to send at `now`; to be called until None.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        if self.handshake == Handshake::Established {
            return self.next(now);
        }
        (self.handshake == Handshake::SynDue).then(|| self.syn(now))
    }

    /// Earliest expiry of a timer.
    #[inline]
    pub fn next_timeout(&self) -> Option<Time> {
        self.timers.next()
    }

    /// Handles the timers that have expired; see [`next_timeout`](Self::next_timeout).
    pub fn on_timeout(&mut self, now: Time) {
        match self.timers.take_due(now) {
            None | Some(Alarm::Pace) => {}
            Some(Alarm::Reorder) => {
                self.detect_losses(now, 0);
            }
            Some(Alarm::Probe) => self.probe_timed_out(now),
            Some(Alarm::Persist) => self.persist_timed_out(),
            Some(Alarm::Retransmit) => match self.handshake {
                Handshake::SynSent => self.syn_timed_out(),
                Handshake::Established if self.una < self.max => self.retransmit_all(now),
                _ => self.resume(),
            },
        }
    }

    /// Reads a word of every cache line that an ACK needs, as a prefetch.
    #[doc(hidden)]
    #[inline]
    pub fn nearby(&self) -> u64 {
        let (timers, frto) = (self.timers.pace.nanos(), u64::from(self.frto.is_some()));
        let (rtt, history) = (self.rtt.timeout().nanos(), u64::from(self.history.is_empty()));
        self.una ^ timers ^ self.beyond_window ^ frto ^ u64::from(self.persist.widest) ^ rtt ^ history
    }

    /// Congestion window, without the inflation of recovery.
    pub fn window(&self) -> Bytes {
        Bytes::new(self.cwnd)
    }

    /// Payload of a full-sized segment, bytes.
    pub fn mss(&self) -> u32 {
        self.mss as u32
    }

    /// Slow-start threshold.
    pub fn ssthresh(&self) -> Bytes {
        self.cc.ssthresh()
    }

    /// FlightSize, bytes.
    pub fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// Retransmission timeout in force.
    pub fn timeout(&self) -> Span {
        self.rtt.timeout()
    }

    /// Smoothed round-trip time; None before the first sample.
    pub fn smoothed(&self) -> Option<Span> {
        self.rtt.smoothed_s().map(Span::from_seconds)
    }

    /// SND.UNA: first byte not acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.una
    }
}
