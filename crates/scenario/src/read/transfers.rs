//! What groups of flows send over TCP now and then.

use super::{Reader, Section};
use crate::arrivals::MOST_BYTES;
use crate::transfers::{
    ANSWER, Game, HTTP_IDLE, LADDER, MOUSE, Mice, OBJECT, QUESTION, REQUEST, Transfers, Video, Web,
};
use sojourn_units::{Bytes, Draw, Rate, SizeDraw, Span, TimeDraw};

impl Reader {
    /// The transfers of the application called `name`.
    pub(super) fn transfers(&mut self, group: &Section<'_>, name: &str) -> Option<Transfers> {
        let size = self.transfer_size(group, name);
        let idle = idle(group, name);
        let request = request(group, name);
        Some(match name {
            "transfer" => Transfers::Once(size?),
            "mice" | "http" => Transfers::Mice(Mice { size: size?, idle: idle? }),
            "web" => Transfers::Web(Web {
                objects: group.get::<u64>("objects")? as u32,
                size: size?,
                connections: group.get::<u64>("connections")? as u32,
                idle: idle?,
                request: request?,
            }),
            "video" => Transfers::Video(self.video(group, request?)?),
            _ => Transfers::Game(Game { every: group.get("every")?, size: size?, request: request? }),
        })
    }

    fn video(&mut self, group: &Section<'_>, request: Bytes) -> Option<Video> {
        let usual = || LADDER.iter().map(|kilo| Rate::from_bits_per_second(1e3 * kilo)).collect();
        let ladder = if group.given("ladder") { group.get("ladder")? } else { usual() };
        let [chunk, reservoir, cushion] = ["chunk", "reservoir", "cushion"].map(|key| group.get::<Span>(key));
        let (chunk, reservoir, cushion) = (chunk?, reservoir?, cushion?);
        let room = reservoir + cushion;
        if room < chunk.saturating_mul(2) {
            let what = format!(
                "{chunk}, two of which are more than reservoir and cushion of {room}; legal: at most half"
            );
            self.refuse(group, "chunk", &what);
            return None;
        }
        Some(Video { ladder, chunk, reservoir, cushion, request })
    }

    /// How much is transferred at a time.
    fn transfer_size(&mut self, group: &Section<'_>, name: &str) -> Option<SizeDraw> {
        let bytes = |size: f64| Draw::constant(size).ok().map(SizeDraw::of_bytes);
        if !group.given("size") {
            return match name {
                "transfer" => {
                    let what = "app = \"transfer\" needs a size; legal: size = \"1 MB\", for example";
                    self.refuse(group, "size", what);
                    None
                }
                "mice" | "http" => Draw::exponential(MOUSE).ok().map(SizeDraw::of_packets),
                "web" => bytes(OBJECT),
                _ => bytes(ANSWER),
            };
        }
        let size = group.get::<SizeDraw>("size")?;
        let mean = size.bytes(1.0).mean();
        if mean > 0.0 && mean <= MOST_BYTES as f64 {
            return Some(size);
        }
        let said =
            if mean == 0.0 { "is a transfer of nothing".into() } else { format!("{size} is out of range") };
        self.refuse(group, "size", &format!("{said}; legal: more than 0 on average, at most 1000 GB"));
        None
    }
}

/// From the end of a transfer to the start of the next.
fn idle(group: &Section<'_>, name: &str) -> Option<TimeDraw> {
    if group.given("idle") {
        return group.get("idle");
    }
    let usual = if name == "http" { Draw::exponential(HTTP_IDLE) } else { Draw::constant(0.0) };
    usual.ok().map(TimeDraw::of_seconds)
}

/// The packet that asks for something.
fn request(group: &Section<'_>, name: &str) -> Option<Bytes> {
    let usual = Bytes::new(if name == "game" { QUESTION } else { REQUEST });
    if group.given("request") { group.get("request") } else { Some(usual) }
}
