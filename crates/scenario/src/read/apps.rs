//! What groups of flows send.

use super::names::Called;
use super::routes::Hosts;
use super::{Reader, Section};
use crate::app::{App, AppName, apps_with, is_of_an_app};
use crate::keys::{Paper, SHORT};
use crate::scenario::Flows;
use crate::sessions::{Game, Ladder, Mice, Session, Video, Web};
use crate::udp::{Datagrams, PING_EVERY, PING_PACKET, Source};
use sojourn_tcp::Profile;
use sojourn_tcp::cc::Choice;
use sojourn_units::{Bytes, Draw, Rate, SizeDraw, Span, TimeDraw};

impl Reader {
    /// What a group sends. A key that means nothing for it is refused.
    pub(super) fn app(&mut self, group: &Section<'_>, hosts: Option<&Hosts>) -> Option<App> {
        let AppName(name) = group.get("app")?;
        let own = group.given.iter().map(|entry| entry.key.name).filter(|key| is_of_an_app(key));
        for key in own.filter(|key| !App::has_key(name, key)) {
            let apps: Vec<String> = apps_with(key).map(|app| format!("\"{app}\"")).collect();
            let what = format!("is not for app = \"{name}\"; legal: with app = {}", apps.join(", "));
            self.refuse(group, key, &what);
        }
        if App::is_tcp_named(name) {
            return self.tcp_app(group, name);
        }
        for key in TCP_KEYS.iter().chain(SHORT).filter(|key| group.given(key)) {
            let what = format!("is not for app = \"{name}\", which is not TCP; legal: leave it out");
            self.refuse(group, key, &what);
        }
        self.datagrams(group, name, hosts).map(App::Datagrams)
    }

    /// What a group sends over TCP.
    fn tcp_app(&mut self, group: &Section<'_>, name: &str) -> Option<App> {
        if App::is_greedy_named(name) {
            return Some(App::Bulk);
        }
        if group.given("reads") {
            let what = format!(
                "is not for app = \"{name}\", which reads what comes at once; legal: with app = \"bulk\""
            );
            self.refuse(group, "reads", &what);
        }
        let size = if group.given("size") { Some(self.volume(group)?) } else { None };
        let usual = |bytes: f64| Draw::constant(bytes).ok().map(SizeDraw::of_bytes);
        let request =
            |bytes| if group.given("request") { group.get("request") } else { Some(Bytes::new(bytes)) };
        let session = match (name, size) {
            ("transfer", None) => {
                let what = "is missing; legal: a size such as \"100 kB\", or a distribution of sizes";
                self.refuse(group, "size", what);
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
            let what = format!(
                "{chunk}, so that the buffer of {room} holds no two of them; legal: at most half of reservoir + cushion"
            );
            self.refuse(group, "chunk", &what);
            return None;
        }
        Some(Video { ladder, chunk, reservoir, cushion, request })
    }

    /// What is transferred at a time.
    fn volume(&mut self, group: &Section<'_>) -> Option<SizeDraw> {
        let size = group.get::<SizeDraw>("size")?;
        let mean = size.bytes(1.0).mean();
        if mean > 0.0 && mean <= MOST_VOLUME {
            return Some(size);
        }
        self.refuse(group, "size", &format!("{size} is out of range; legal: more than 0, 1 PB at most"));
        None
    }
}

/// The rates of a film where nothing is said of them.
fn usual_ladder() -> Ladder {
    Ladder([300e3, 750e3, 1500e3, 3000e3, 6000e3].map(Rate::from_bits_per_second).to_vec())
}

/// The classes that one of app = "rrul" stands for.
pub(super) fn response_under_load(base: &Flows, given: bool) -> Option<Vec<Flows>> {
    let count = if given { base.count } else { BOTH_WAYS };
    let [up, down, pings @ ..] = RRUL_PARTS;
    let called = Called { name: base.name.clone(), stream: base.stream.clone() };
    let part = |part: &str| {
        let Called { name, stream } = called.part(part);
        Flows { name, stream, ..base.clone() }
    };
    let bulk = |direction: &str| Flows { count, ..part(direction) };
    let other = Flows { route: base.back.clone(), back: base.route.clone(), ..bulk(down) };
    let size = SizeDraw::of_bytes(Draw::constant(PING_PACKET).ok()?);
    let (cc, profile) = (Choice::parse("newreno").ok()?, Profile::default());
    // What is said of TCP is not said of them.
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
/// What the names of the classes end in that RRUL stands for.
pub(super) const RRUL_PARTS: [&str; 6] = ["up", "down", "ping", "ping-be", "ping-bk", "ping-ef"];
/// Bulk flows each way under RRUL.
const BOTH_WAYS: u32 = 4;
/// Bytes of a transfer.
const MOST_VOLUME: f64 = 1e15;
/// Keys of a group of flows that speak of TCP; those of [`SHORT`] do too.
pub(crate) const TCP_KEYS: &[&str] = &["cc", "profile", "tcp", "reads"];
