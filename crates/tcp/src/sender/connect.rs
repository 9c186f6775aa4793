//! Connection setup: the SYN, its options, and their negotiation.

use super::timers::Timers;
use super::{Progress, Scheme, Sender};
use crate::cc::{Recovery, Signal};
use crate::segment::{Flags, Segment, Stamp};
use sojourn_units::{Span, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handshake {
    Closed,
    SynDue,
    SynSent,
    Established,
}

impl Sender {
    /// Opens the connection; the SYN is the next segment.
    pub fn open(&mut self) {
        if self.handshake == Handshake::Closed {
            self.handshake = Handshake::SynDue;
        }
    }

    pub(super) fn syn(&mut self, now: Time) -> Segment {
        self.handshake = Handshake::SynSent;
        self.last_sent = now;
        self.timers.retransmit = now + self.rtt.timeout();
        let flags = Flags::SYN
            .with(Flags::ECE | Flags::CWR, self.ecn.requested)
            .with(Flags::SACK, self.algorithm == Recovery::Sack)
            .with(Flags::TIMESTAMP, self.timestamps)
            .with(Flags::SCALE, self.config.profile.window_scaling);
        Segment { flags, stamp: Stamp::at(now), ..Segment::default() }
    }

    pub(super) fn syn_timed_out(&mut self) {
        self.rtt.back_off(&self.config.profile);
        self.handshake = Handshake::SynDue;
        if self.config.profile.syn_counts {
            self.signal(&Signal::Timeout { flight: 0, again: false });
        }
        self.lost_syns = self.lost_syns.saturating_add(1);
    }

    pub(super) fn establish(&mut self, now: Time, answer: &Segment) -> Progress {
        self.handshake = Handshake::Established;
        self.ecn.agreed = self.ecn.requested && answer.flags.has(Flags::ECE) && !answer.flags.has(Flags::CWR);
        self.timestamps &= answer.flags.has(Flags::TIMESTAMP);
        if self.algorithm == Recovery::Sack && !answer.flags.has(Flags::SACK) {
            self.algorithm = Recovery::NewReno;
            self.scheme = Scheme::of(self.algorithm, &self.config.profile);
            self.probes = false;
        }
        self.timers = Timers::OFF;
        self.snd_edge = u64::from(answer.window);
        self.persist.widest = answer.window;
        // Data carries the ACK of the SYN; without data it is sent alone.
        self.ack_due = self.end_of_stream == 0;
        if self.lost_syns > 0 && self.config.profile.syn_counts {
            return Progress::default();
        }
        if self.lost_syns > 1 {
            // RFC 5681, section 3.1, as relaxed by RFC 6928, section 2.
            self.set_window(self.mss);
        }
        if self.lost_syns > 0 {
            // RFC 6298 (5.7); no sample from a retransmitted segment (Karn).
            self.rtt.restart_at_least(&self.config.profile, RTO_AFTER_LOST_SYN);
            return Progress::default();
        }
        let rtt = now.since(self.last_sent);
        self.rtt.sample(&self.config.profile, now, rtt);
        self.probe.measured();
        Progress { acked: 0, rtt: Some(rtt) }
    }
}

/// Least initial timeout of data after a lost SYN (RFC 6298, 5.7).
const RTO_AFTER_LOST_SYN: Span = Span::from_secs(3);
