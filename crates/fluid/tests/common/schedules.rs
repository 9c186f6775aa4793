//! Random schedules of changes of one link and its qdisc, for both plants.

use sojourn_scenario::Scenario;

/// A scenario that the check of schedules accepts; None: it refuses this one.
pub(crate) fn accepted(seed: u64) -> Option<Scenario> {
    let mut draws = Draws(seed);
    let (head, keys) = draws.one_of(QDISCS);
    let rate = draws.one_of(RATES);
    let mut text = format!(
        "title = 't'\nduration = '2 s'\n[bottleneck]\nrate = '{rate}'\ndelay = '5 ms'\nbuffer = '60 packets'\n\
         qdisc = '{head}'\n[[flows]]\nname = 'one'\n[[flows]]\nname = 'other'\ncount = 2\n"
    );
    for _ in 0..3 + draws.below(8) {
        let (key, values) = draws.one_of(keys);
        let time = 100 + 50 * draws.below(26);
        let every = ["", "every = '150 ms'\n", "every = '200 ms'\nuntil = '1500 ms'\n"][draws.below(3)];
        let value = draws.one_of(values);
        text += &format!("[[at]]\ntime = '{time} ms'\n{every}set = {{ 'bottleneck.{key}' = '{value}' }}\n");
    }
    match Scenario::parse(text.as_bytes(), "test", &[]) {
        Ok(scenario) => Some(scenario),
        Err(errors) => {
            let errors = errors.to_string();
            assert!(errors.lines().all(|line| line.contains("at[")), "not of the schedule: {errors}\n{text}");
            None
        }
    }
}

type Keys = &'static [(&'static str, &'static [&'static str])];

const RATES: &[&str] = &["5 Mbit/s", "8 Mbit/s", "20 Mbit/s"];
const LINK: (&str, &[&str]) = ("rate", &["0 bit/s", "2 Mbit/s", "5 Mbit/s", "8 Mbit/s", "20 Mbit/s"]);
const SHAPER: (&str, &[&str]) = ("qdisc.rate", &["2 Mbit/s", "3 Mbit/s", "9 Mbit/s", "30 Mbit/s"]);
const RESERVED: &[&str] = &["1 Mbit/s", "4 Mbit/s", "6 Mbit/s", "9 Mbit/s"];
const TARGETS: &[&str] = &["10 ms", "20 ms", "40 ms", "20 packets"];
/// Qdiscs, and the keys that change.
const QDISCS: &[(&str, Keys)] = &[
    ("pi", &[LINK, ("qdisc.target", TARGETS)]),
    ("red", &[LINK, ("qdisc.max", &["20 packets", "45 packets", "30 ms", "90 ms"]), ("qdisc.min", TARGETS)]),
    (
        "drr:law=codel",
        &[LINK, ("qdisc.law.target", &["5 ms", "20 ms", "90 ms"]), ("qdisc.limit", &["20", "60"])],
    ),
    ("shaper:rate=8 Mbit/s,qdisc=pi", &[LINK, SHAPER, ("qdisc.qdisc.target", TARGETS)]),
    (
        "drr:by=class,law=pi,reserved.classes=[one],reserved.rate=3 Mbit/s,reserved.law=pi",
        &[
            LINK,
            ("qdisc.reserved.rate", RESERVED),
            ("qdisc.law.target", TARGETS),
            ("qdisc.reserved.law.target", TARGETS),
        ],
    ),
    (
        "shaper:rate=8 Mbit/s,framing=pppoa_llc,qdisc=wfq,qdisc.by=class,qdisc.law=pi,qdisc.reserved.classes=[one],\
         qdisc.reserved.rate=3 Mbit/s,qdisc.reserved.law=pi",
        &[
            LINK,
            SHAPER,
            ("qdisc.qdisc.reserved.rate", RESERVED),
            ("qdisc.qdisc.law.target", TARGETS),
            ("qdisc.qdisc.reserved.law.target", TARGETS),
        ],
    ),
];

/// Draws of SplitMix64 (Steele, Lea, Flood, 2014).
struct Draws(u64);

impl Draws {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % most as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}
