//! ECN echo: RFC 3168, section 6.1.3, and RFC 8257, section 3.2.

use crate::cc::Feedback;
use crate::segment::{Flags, Segment};
use sojourn_units::Ecn;

/// State of the echo.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    /// ECN is negotiated; before the SYN: ECN may be negotiated.
    pub(super) agreed: bool,
    feedback: Feedback,
    /// Marks on duplicate or out-of-window data count. They do if retransmissions may be marked; if those are not
    /// ECN-capable, such a mark is not from this sender (RFC 3168, section 6.1.5).
    always: bool,
    /// ACKs carry ECE; with feedback per segment, `DCTCP.CE`.
    on: bool,
    /// A segment since the last ACK was marked: its ACK carries ECE even if CWR followed.
    since_ack: bool,
}

impl Echo {
    pub(super) fn new(agreed: bool, feedback: Feedback, always: bool) -> Echo {
        Echo { agreed, feedback, always, on: false, since_ack: false }
    }

    /// Returns whether the segment changes `DCTCP.CE`.
    pub(super) fn changes(self, segment: &Segment) -> bool {
        self.feedback == Feedback::PerSegment && self.agreed && self.on != (segment.ecn == Ecn::Ce)
    }

    /// Takes in the mark and CWR of a segment whose data is accepted.
    pub(super) fn note(&mut self, segment: &Segment) {
        let marked = segment.ecn == Ecn::Ce;
        if !self.agreed {
            return;
        }
        if self.feedback == Feedback::PerSegment {
            self.on = marked;
            return;
        }
        if segment.flags.has(Flags::CWR) {
            self.on = false;
        }
        if marked {
            // A CWR packet that is itself marked starts a new echo.
            self.on = true;
            self.since_ack = true;
        }
    }

    /// The same for a segment without acceptable data; `probe`: it is a window probe.
    pub(super) fn note_outside(&mut self, segment: &Segment, probe: bool) {
        if probe || self.always {
            self.note(segment);
        }
    }

    /// Returns whether the ACK being sent carries ECE.
    pub(super) fn take(&mut self) -> bool {
        std::mem::take(&mut self.since_ack) || self.on
    }
}
