//! Applications of groups of flows.

use super::names::ClassName;
use super::reader::{Reader, Section};
use super::routes::Hosts;
use crate::app::{App, RRUL_PARTS, TCP_KEYS, apps_with, is_of_an_app};
use crate::keys::{AppName, Paper, SHORT};
use crate::scenario::Flows;
use crate::sessions::{Game, Ladder, Mice, Session, Video, Web};
use crate::udp::{Datagrams, PING_EVERY, PING_PACKET, Source};
use sojourn_params::{SizeDraw, TimeDraw};
use sojourn_random::Draw;
use sojourn_tcp::Profile;
use sojourn_tcp::cc::Choice;
use sojourn_units::{Bytes, Rate, Span};

impl Reader {
    /// Application of a group; rejects keys that it does not have.
    pub(super) fn app(&mut self, group: &Section<'_>, hosts: Option<&Hosts>) -> Option<App> {
        let AppName(name) = group.get("app")?;
        let own = group.given.iter().map(|entry| entry.key.name).filter(|key| is_of_an_app(key));
        for key in own.filter(|key| !App::has_key(name, key)) {
            let apps: Vec<String> = apps_with(key).map(|app| format!("\"{app}\"")).collect();
            let message = format!("is not for app = \"{name}\"; expected app = {}", apps.join(", "));
            self.refuse(group, key, &message);
        }
        if App::is_tcp_named(name) {
            return self.tcp_app(group, name);
        }
        for key in TCP_KEYS.iter().chain(SHORT).filter(|key| group.given(key)) {
            let message = format!("is not for app = \"{name}\", which is not TCP; leave it out");
            self.refuse(group, key, &message);
        }
        self.datagrams(group, name, hosts).map(App::Datagrams)
    }

    /// Application of a group over TCP.
    fn tcp_app(&mut self, group: &Section<'_>, name: &str) -> Option<App> {
        if App::is_greedy_named(name) {
            return Some(App::Bulk);
        }
        let size = if group.given("size") { Some(self.volume(group)?) } else { None };
        let usual = |bytes: f64| Draw::constant(bytes).ok().map(SizeDraw::of_bytes);
        let request =
            |bytes| if group.given("request") { group.get("request") } else { Some(Bytes::new(bytes)) };
        let session = match (name, size) {
            ("transfer", None) => {
                let message = "is missing; expected a size such as \"100 kB\", or a distribution of sizes";
                self.refuse(group, "size", message);
                return None;
            }
            ("transfer", Some(size)) => Session::Transfer(size),
            ("web", size) => Session::Web(Web {
                objects: group.get::<u64>("objects")? as u32,
                size: size.or_else(|| usual(OBJECT))?,
                connections: group.get::<u64>("connections")? as u32,
                idle: if group.given("idle") {
                    group.get("idle")?
                } else {
                    TimeDraw::of_seconds(Draw::constant(0.0).ok()?)
                },
                request: request(400)?,
            }),
            ("video", _) => Session::Video(self.video(group, request(200)?)?),
            ("game", size) => Session::Game(Game {
                every: if group.given("every") { group.get("every")? } else { TICK },
                size: size.or_else(|| usual(ANSWER))?,
                request: request(100)?,
            }),
            (_, size) => {
                let Mice { size: usual, idle } = Mice::of_paper(group.get::<Paper>("preset")?.0)?;
                let idle = if group.given("idle") { group.get("idle")? } else { idle };
                Session::Mice(Mice { size: size.unwrap_or(usual), idle })
            }
        };
        Some(App::Session(session))
    }

    fn video(&mut self, group: &Section<'_>, request: Bytes) -> Option<Video> {
        let ladder = if group.given("ladder") { group.get("ladder")? } else { usual_ladder() };
        let [chunk, reservoir, cushion] = ["chunk", "reservoir", "cushion"].map(|key| group.get::<Span>(key));
        let (chunk, reservoir, cushion) = (chunk?, reservoir?, cushion?);
        let room = reservoir + cushion;
        if chunk.saturating_mul(2) > room {
            let message = format!(
                "{chunk} is too long: the buffer of {room} holds no two chunks; expected at most half of reservoir + cushion"
            );
            self.refuse(group, "chunk", &message);
            return None;
        }
        Some(Video { ladder, chunk, reservoir, cushion, request })
    }

    /// Size of a transfer.
    fn volume(&mut self, group: &Section<'_>) -> Option<SizeDraw> {
        let size = group.get::<SizeDraw>("size")?;
        let mean = size.bytes(1.0).mean();
        if mean > 0.0 && mean <= MOST_VOLUME {
            return Some(size);
        }
        self.refuse(group, "size", &format!("{size} is out of range; expected more than 0, 1 PB at most"));
        None
    }
}

/// Default ladder of a video.
fn usual_ladder() -> Ladder {
    Ladder([300e3, 750e3, 1500e3, 3000e3, 6000e3].map(Rate::from_bits_per_second).to_vec())
}

/// The classes that app = "rrul" expands into.
pub(super) fn response_under_load(base: &Flows, given: bool) -> Option<Vec<Flows>> {
    let count = if given { base.count } else { BOTH_WAYS };
    let [up, down, pings @ ..] = RRUL_PARTS;
    let class_name = ClassName { name: base.name.clone(), stream: base.stream.clone() };
    let part = |part: &str| {
        let ClassName { name, stream } = class_name.part(part);
        Flows { name, stream, ..base.clone() }
    };
    let bulk = |direction: &str| Flows { count, ..part(direction) };
    let other = Flows { route: base.back.clone(), back: base.route.clone(), ..bulk(down) };
    let size = SizeDraw::of_bytes(Draw::constant(PING_PACKET).ok()?);
    let (cc, profile) = (Choice::parse("newreno").ok()?, Profile::default());
    // Settings of TCP do not apply to pings.
    let ping = |kind: &str| Flows {
        count: 1,
        app: App::Datagrams(Datagrams { source: Source::Ping(PING_EVERY), size: size.clone() }),
        segment: Bytes::new(PING_PACKET as u64),
        cc: cc.clone(),
        profile: profile.clone(),
        reads: None,
        ..part(kind)
    };
    Some([bulk(up), other].into_iter().chain(pings.map(ping)).collect())
}

/// Payload of an object of a page, bytes.
const OBJECT: f64 = 10_000.0;
/// Payload of an answer in a game, bytes, and the time from tick to tick.
const ANSWER: f64 = 200.0;
const TICK: Span = Span::from_millis(50);
/// Bulk flows each way under RRUL.
const BOTH_WAYS: u32 = 4;
/// Bytes of a transfer.
const MOST_VOLUME: f64 = 1e15;
