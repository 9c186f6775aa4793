//! A voice call's one direction: ITU-T G.711; RFC 3551, section 4.5.14; ITU-T P.59.

use sojourn_params::{Described, EntryParams, Page, params};
use sojourn_units::Span;

params! {
    /// Parameters of voice.
    pub struct Voip {
        /// the speaker pauses, with talk spurts of 1.004 s and pauses of 1.587 s on average
        spurts: bool = false, "G.711 codes silence as speech", "ITU-T G.711; ITU-T P.59, table 1";
    }
}

/// A frame of speech: RFC 3551, section 4.5.14 and table 1.
pub const VOICE_FRAME: Span = Span::from_millis(20);
/// Its packet, bytes: 64 kbit/s for that time, and 40 B of headers of RTP, UDP and IP.
pub(super) const PACKET: f64 = 200.0;
/// The mean talk spurt, s: ITU-T P.59 (03/93), table 1.
pub const SPURT: f64 = 1.004;
/// The mean pause between talk spurts, s: ITU-T P.59 (03/93), table 1.
pub const PAUSE: f64 = 1.587;

impl EntryParams for Voip {
    const PAGE: Page = Page {
        stem: "voip",
        summary: "a voice call's one direction: G.711 in packets of 200 B each 20 ms, over UDP",
        idea: "160 B of speech and 40 B of headers (RTP, UDP, IP) each 20 ms, 80 kbit/s on the wire. The first packet leaves \
               when its 20 ms have been spoken. With `spurts` the speaker pauses: talk spurts and pauses are exponential with \
               means of 1.004 s and 1.587 s, and a frame that a spurt fills in part is sent whole. Its metrics are delay, \
               loss and R-factor.",
        equation: "",
        source: "ITU-T G.711; RFC 3551, section 4.5.14; ITU-T P.59, table 1",
        fields: <Voip as Described>::fields,
    };
}
