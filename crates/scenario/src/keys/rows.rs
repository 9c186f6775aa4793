//! The rows of the table, by the file's tables.

use super::key::Key;
use super::key::Preset::{Number, Required, Text, Times, Whole, Words};
use super::kinds::{
    Anything, AppName, Control, Name, Names, Paper, ProfileName, Qdisc, Section, Sections, StreamName, Title,
};
use crate::arrivals::Arrivals;
use crate::fluid::Window;
use crate::links::{Framing, Impairments, Trace};
use crate::sessions::Ladder;
use crate::times::{Spread, Start};
use crate::udp::{SEGMENT, UDP_HEADER};
use sojourn_aqm::DEFAULT_LAW;
use sojourn_params::Quantity;
use sojourn_params::{SizeDraw, TimeDraw};
use sojourn_units::{Amount, Bytes, LinkRate, Span};
use std::ops::RangeInclusive;

/// One row of the table: name, type, default; range; meaning.
macro_rules! key {
    ($table:literal, $name:literal: $type:ty = $preset:expr, $rule:literal if $in_range:expr, $about:expr) => {
        Key {
            table: $table,
            name: $name,
            preset: $preset,
            rule: $rule,
            about: $about,
            source: "",
            bounds: None,
            kind: <$type as Quantity>::kind,
            in_range: |value| {
                let in_range: fn(&$type) -> bool = $in_range;
                <$type as Quantity>::read(value).map(|read| in_range(&read))
            },
        }
    };
    ($table:literal, $name:literal: $type:ty = $preset:expr, $about:expr) => {
        key!($table, $name: $type = $preset, "" if |_| true, $about)
    };
}

/// A row whose value is a whole number between two bounds.
macro_rules! whole {
    ($table:literal, $name:literal = $preset:expr, $low:literal to $high:literal, $about:expr) => {
        Key {
            bounds: Some(($low, $high)),
            ..key!($table, $name: u64 = $preset,
                   "the bounds included" if |value| ($low..=$high).contains(value), $about)
        }
    };
}

/// The keys of one direction of a link.
pub(super) static LINK: &[Key] = &[
    key!("", "rate": LinkRate = Required, "1 bit/s to 1 Tbit/s" if |_| true,
        "rate of the link, bits on its wire; in packets/s of the flows' segment (their mean where they differ)"),
    key!("", "trace": Trace = Words("a constant rate"),
        "instead of rate; { file = NAME }, a file beside the scenario; { model = \"lte\", mean, volatility, outage } or \
         { model = \"satellite\", mean, interval, gap, spread, frame }" if |_| true,
        "when the link may send: a recording as Mahimahi's, or a model that draws one, see `sojourn explain trace`; \
         laws get its mean rate, and framing is tun by default"),
    key!("", "delay": Span = Required, "at most 1000 s" if |delay| *delay <= LONGEST_DELAY, "propagation delay, one way"),
    key!("", "buffer": Amount = Words("no limit"),
        "whole packets, at least one; or bytes or a time at the link's rate, one packet or more"
            if |_| true,
        "what the qdisc may hold; the packet on the wire is not in it"),
    key!("", "qdisc": Qdisc = Text(DEFAULT_LAW),
        "a law of the catalogue with its parameters" if |_| true,
        "the qdisc: { law = NAME, KEY = VALUE } or \"NAME:KEY=VALUE,KEY=VALUE\"; see `sojourn list laws`"),
    key!("", "framing": Framing = Text("ip"),
        "ip, ethernet, pppoe, docsis, ptm, pppoe_ptm, ipoa_vcmux, ipoa_llc, pppoa_vcmux, pppoa_llc, bridged_vcmux, \
         bridged_llc, pppoe_vcmux, pppoe_llc or tun; or { overhead = SIZE, least = SIZE, cells = true } (ATM cells), \
         with blocks = true instead for PTM" if |_| true,
        "size of packets on the wire, see `sojourn explain framing`; buffers and laws count IP packets"),
    key!("", "impairments": Impairments = Words("none"),
        "any of loss, corrupt, bleach, duplicate (probabilities), bursts = { enter, leave, good, bad }, jitter = TIME \
         (uniform up to it) or a distribution, reorder = { probability, late = TIME (always this) or a distribution }" if |_| true,
        "effects of the wire on packets that have been sent, see `sojourn explain impairments`"),
];

/// All keys but those of [`LINK`] and the settings of TCP.
pub(super) static ROWS: &[Key] = &[
    key!("", "title": Title = Required, "one line, not empty, at most 200 letters" if |_| true,
        "title of the scenario"),
    key!("", "duration": Span = Required, "more than 0" if |span| *span > Span::ZERO,
        "simulated time"),
    key!("", "warmup": Span = Text("0 s"), "below duration" if |_| true,
        "time at the start that the metrics leave out"),
    key!("", "sample": Span = Words("chosen by the plant from the duration"),
        "more than 0, from a millionth of duration to duration" if |span| *span > Span::ZERO,
        "step of the series over time"),
    key!("", "fluid_window": Window = Text("mgt"),
        "response of windows in the fluid plant: mgt: Misra, Gong and Towsley (2000); full: the same, where a signal \
        replaces an acknowledgment that would open the window"),
    key!("", "fluid_step": Span = Words("a twentieth of the shortest base RTT"),
        "1 us to 1 s" if |span| (Span::from_micros(1)..=Span::from_secs(1)).contains(span),
        "the longest step of the fluid plant's integration"),
    key!("", "bottleneck": Section = Words("a network is given in one of these tables"),
        "a dumbbell: its congested link, from node left to node right; `bottleneck.back` is its other direction"),
    key!("", "parking_lot": Section = Words("a network is given in one of these tables"),
        "a chain of routers r1, r2, ... with links r1-r2, r2-r3, ..., each with its qdisc"),
    key!("", "two_bottlenecks": Section = Words("a network is given in one of these tables"),
        "the network of the SQM paper, its figure 2: routers r1 to r6, bottlenecks r2-r3 and r3-r4; \
         r1 is at r2, r5 at r2, r6 at r3"),
    key!("", "home": Section = Words("a network is given in one of these tables"),
        "a home: nodes lan, modem, isp; links lan-modem (fast), up (modem to isp) and down (isp to modem)"),
    key!("", "links": Sections = Words("a network is given in one of these tables"),
        "any graph, link by link; one [[links]] each"),
    key!("", "flows": Sections = Required, "groups of like flows; one [[flows]] each"),
    key!("", "at": Sections = Words("no changes"), "changes during the run; one [[at]] each"),
    key!("parking_lot", "routers": u64 = Whole(5), "3 to 1000" if |count| (3..=1000).contains(count), "number of routers"),
    key!("parking_lot", "back": Section = Words("the same rate and delay, no qdisc"), "the other direction of each of them"),
    key!("two_bottlenecks", "back": Section = Words("the same rate and delay, no qdisc"),
        "the other direction of the two bottlenecks"),
    key!("two_bottlenecks", "fast": LinkRate = Words("ten times the rate"), "1 bit/s to 10 Tbit/s" if |_| true,
        "rate of the links r1-r2, r5-r2 and r3-r6, which are no bottlenecks"),
    key!("bottleneck", "back": Section = Words("the same rate and delay, no qdisc"), "the other direction, which carries the ACKs"),
    key!("home", "lan": LinkRate = Text("1 Gbit/s"), "1 bit/s to 10 Tbit/s" if |_| true,
        "rate of the link between the hosts and the modem, both ways; its delay is nothing"),
    key!("home", "up": Section = Required, "the way from the modem to the ISP"),
    key!("home", "down": Section = Required, "the way from the ISP to the modem"),
    key!("links", "from": Name = Required, "letters, digits, - and _, at most 32" if |_| true, "the node where it begins"),
    key!("links", "to": Name = Required, "letters, digits, - and _, at most 32" if |_| true, "the node where it ends"),
    key!("links", "name": Name = Words("FROM-TO"), "letters, digits, - and _, at most 32" if |_| true,
        "its name in results and in [[at]]; its other direction is NAME.back"),
    key!("links", "one_way": bool = Words("false"), "it has no other direction"),
    key!("links", "back": Section = Words("the same rate and delay, no qdisc"), "the other direction"),
    key!("flows", "name": Name = Words("the app's name; with a number behind it where that is taken"),
        "letters, digits, - and _, at most 32" if |_| true, "name of the class in results and in [[at]], and of its random streams"),
    key!("flows", "stream": StreamName = Words("the name; without one the app, with the ends that are given, as in \"bulk a-b\", numbered where that is \
    another class's too"),
        "letters, digits, -, _ and spaces, at most 120" if |_| true,
        "name of the class's random streams: draws depend on it and the seed, not on other classes"),
    key!("flows", "from": Name = Words("left, r1, lan; in a network of [[links]] it must be given"), "a node" if |_| true,
        "the node where the senders are"),
    key!("flows", "to": Name = Words("right, the last router, isp; in a network of [[links]] it must be given"), "a node" if |_| true,
        "the node where the receivers are"),
    key!("flows", "route": Names = Words("the shortest, by delay, then by links"), "nodes, each with a link to the next" if |_| true,
        "the nodes that data pass, both ends included"),
    key!("flows", "back": Names = Words("the shortest, by delay, then by links"), "nodes, each with a link to the next" if |_| true,
        "the nodes that acknowledgments pass, both ends included"),
    whole!("flows", "count" = Whole(1), 1 to 1_000_000,
        "number of flows, a million in all groups, where each connection of web and each source of lrd is one; of rrul the \
        bulk flows each way, 4 by default"),
    key!("flows", "app": AppName = Text("bulk"),
        "the application; bulk: TCP that always has data to send; transfer, mice, web, video, game: TCP with data at \
        times; rrul: several classes; cbr, poisson, on_off, lrd, voip and ping: UDP datagrams; see `sojourn list apps`"),
    key!("flows", "rate": LinkRate = Words("for cbr, poisson, on_off and lrd it must be given"),
        "1 bit/s to the access link's rate" if |_| true,
        "for cbr, poisson, on_off and lrd: the rate of each flow, in whole IP packets; of on_off while it is on, of the \
         others the mean"),
    key!("flows", "size": SizeDraw = Words("of transfer it must be given; of mice the preset's; of web 10 kB; of game 200 B; of datagrams as segment; of ping 84 B"),
        "of datagrams 28 B to 65535 B on average" if |_| true,
        "of transfer, mice, web (an object) and game (an answer): payload, or a distribution of it, in bytes or in full packets; of cbr, poisson, on_off, lrd \
         and ping: the size of a datagram, headers (28 B) included, or a distribution; draws are clamped to 28 B and 65535 B. \
         See `sojourn explain distribution`"),
    key!("flows", "idle": TimeDraw = Words("of mice the preset's; of web 0 s"),
        "a time, or a distribution of times, see `sojourn explain distribution`" if |_| true,
        "of mice and web: the pause from the end of one transfer, or page, to the start of the next"),
    whole!("flows", "objects" = Whole(50), 1 to 10_000, "of web: objects of a page"),
    whole!("flows", "connections" = Whole(6), 1 to 64, "of web: number of connections that fetch them"),
    key!("flows", "ladder": Ladder = Words("300, 750, 1500, 3000 and 6000 kbit/s"),
        "1 to 20 rates in rising order" if |_| true, "of video: the available rates"),
    key!("flows", "chunk": Span = Text("4 s"), "10 ms to 10 min" if |span| CHUNK.contains(span), "of video: play time of a chunk"),
    key!("flows", "reservoir": Span = Text("8 s"), "of video: buffer level up to which the lowest rate is requested"),
    key!("flows", "cushion": Span = Text("20 s"), "of video: buffer above the reservoir from which the highest rate is requested"),
    key!("flows", "request": Bytes = Words("400 B of web, 200 B of video, 100 B of game"), "28 B to 1500 B" if |size| (u64::from(UDP_HEADER)..=1500).contains(&size.get()),
        "of web, video and game: size of a request as an IP packet"),
    key!("flows", "preset": Paper = Text("pi_pd"), "pi_pd or arm_pfc" if |_| true,
        "of mice: those of a paper, see `sojourn explain mice`"),
    key!("flows", "on": TimeDraw = Words("{ exponential = \"500 ms\" }; for lrd 500 ms"),
        "more than 0 on average" if |on| on.seconds().mean() > 0.0,
        "for on_off: length of an on-period, TIME or a distribution; for lrd: its mean"),
    key!("flows", "off": TimeDraw = Words("{ exponential = \"500 ms\" }; for lrd 500 ms"),
        "for on_off: length of a pause, TIME or a distribution; for lrd: its mean"),
    key!("flows", "hurst": f64 = Number(0.8), "0.55 to 0.95" if |hurst| (0.55..=0.95).contains(hurst),
        "for lrd: the Hurst parameter; the tail index of the periods is 3 - 2 hurst"),
    whole!("flows", "sources" = Whole(50), 1 to 10_000, "for lrd: number of on/off sources of a flow"),
    key!("flows", "spurts": bool = Words("false"),
        "for voip: the speaker pauses, with talk spurts of 1.004 s and pauses of 1.587 s on average"),
    key!("flows", "every": Span = Words("200 ms of ping, 50 ms of game"), "1 us to 1 h" if |every| EVERY.contains(every),
        "of ping: the time from one datagram to the next; of game: from tick to tick"),
    key!("flows", "cc": Control = Text("newreno"),
        "a congestion control of the catalogue with its parameters" if |_| true,
        "the congestion control, with the recovery that its RFC pairs with it: { name = NAME, KEY = VALUE } \
         or \"NAME:KEY=VALUE,KEY=VALUE\"; see `sojourn list ccs`"),
    key!("flows", "profile": ProfileName = Text("default"),
        "the implementation of TCP: default (the RFCs, with the values of deployed systems), ns2 or ns3 (as \
         those simulators have it); `sojourn explain default` shows its settings"),
    key!("flows", "tcp": Section = Words("as the profile"),
        "settings of TCP that differ from the profile: tcp = { prr = false }"),
    key!("flows", "reads": LinkRate = Words("all data at once"), "1 bit/s to 10 Tbit/s" if |_| true,
        "read rate of the application at each receiver, payload; the window closes where it is slow"),
    key!("flows", "ecn": bool = Words("false; true with a congestion control that needs marks, such as dctcp"),
        "they negotiate ECN (RFC 3168); UDP datagrams are ECN-capable"),
    key!("flows", "segment": Bytes = Text("1500 B"),
        "100 B to 65535 B" if |size| SEGMENT.contains(&size.get()),
        "the IP packet on the wire, headers (40 B) and options included; ACKs have 40 B and their options"),
    key!("flows", "access": Section = Words("of a dumbbell the defaults of its keys; else none: the hosts are at the nodes"),
        "links that each flow has to itself between its hosts and the network, one on each side; their buffers are \
         unlimited"),
    key!("flows", "start": Start = Times("random", ["0 s", "1 s"]), "before the end of the run" if |_| true,
        "start times: all at TIME; { spread = [TIME, TIME] } evenly from the first flow to the last; \
         { random = [TIME, TIME] } at times drawn uniformly by the run's seed (the default, which ends \
         with the run where that is shorter)"),
    key!("flows", "arrivals": Arrivals = Words("none: `count` flows from their starts"),
        "{ poisson = TIME }, { every = TIME, batch = [LEAST, MOST] } or { file = NAME }" if |_| true,
        "flows that arrive during the run instead of at `start`: at random with TIME between them on average; in even \
        steps, in batches; or from a file, SECONDS or SECONDS,BYTES a line. `count` is then the most at a time (10000); \
        further ones are rejected"),
    key!("flows", "lifetime": TimeDraw = Words("none"), "more than 0 on average" if |life| life.seconds().mean() > 0.0,
        "lifetime of each flow, after which it stops sending"),
    key!("flows", "stop": Span = Words("never"), "after every start" if |_| true, "time at which they stop sending"),
    key!("flows.access", "rate": LinkRate = Words("ten times the rate of the fastest link on the way"),
        "1 bit/s to 10 Tbit/s" if |_| true, "rate of each access link"),
    key!("flows.access", "delay": Spread = Text("0 s"), "at most 1000 s" if |delay| delay.latest() <= LONGEST_DELAY,
        "propagation delay of each access link, one way: TIME, or { spread = [TIME, TIME] } evenly from the \
         first flow to the last; base RTT = 2 (bottleneck delay + 2 access delay)"),
    key!("at", "time": Span = Required, "before duration" if |_| true, "its time, or first time"),
    key!("at", "every": Span = Words("it happens once"), "1 us or more" if |span| *span >= Span::from_micros(1),
        "its period"),
    key!("at", "until": Span = Words("the end of the run"), "time or later, with every" if |_| true,
        "its last time at most"),
    key!("at", "set": Section = Required, "at least one key" if |_| true,
        "the change: { \"KEY\" = VALUE }; LINK is the name of a link, or NAME.back, and CLASS that of a class"),
    key!("at.set", "LINK.rate": LinkRate = Words("as it was"), "1 bit/s to 1 Tbit/s" if |_| true,
        "the link's new rate, and that of its other direction where the two start equal; the packet being sent is \
         finished at the old one; a buffer given as a time stays as it was"),
    key!("at.set", "LINK.delay": Span = Words("as it was"),
        "the link's new propagation delay, and that of its other direction where the two start equal; packets on the \
         wire keep theirs"),
    key!("at.set", "LINK.qdisc.KEY": Anything = Words("as it was"), "as in the qdisc" if |_| true,
        "a parameter of the link's law, NAME.back.qdisc.KEY of that of the other direction; the law keeps its state; \
        values derived from the parameters are computed with the link's rate at that time, and with the flows and the \
        round trip of the start"),
    whole!("at.set", "CLASS.count" = Words("as it was"), 0 to 1_000_000,
        "number of flows of the class: the last ones leave, further ones start, and restarted ones connect anew; a flow \
        that has ended or left by itself counts and does not restart"),
];

/// Play times of a video chunk.
const CHUNK: RangeInclusive<Span> = Span::from_millis(10)..=Span::from_secs(600);
/// The longest propagation delay.
pub(crate) const LONGEST_DELAY: Span = Span::from_secs(1000);
/// Times between datagrams.
const EVERY: RangeInclusive<Span> = Span::from_micros(1)..=Span::from_secs(3600);
