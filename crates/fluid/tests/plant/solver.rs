//! The same equations, implemented again and solved by another code: Dormand and Prince's method with error control.

use crate::{PACKET, calibrated, class};
use differential_equations::prelude::{DDE, ExplicitRungeKutta, IVP};
use sojourn_fluid::dde::Integrator;
use sojourn_fluid::plant::{Class, Link, Plant, Sender, Window};

/// N, C, T_p and B.
const FLOWS: f64 = 60.0;
const CAPACITY: f64 = 3750.0;
const BASE_RTT: f64 = 0.2;
const BUFFER: f64 = 800.0;
/// p from these times on, s: the buffer fills and overflows, the queue empties, and there is an equilibrium between.
const SCHEDULE: [(f64, f64); 4] = [(0.0, 0.0005), (20.0, 0.03), (40.0, 0.006), (60.0, 0.012)];
const END: usize = 80;

struct Model {
    window: Window,
    drops: bool,
    /// B; none for calibrated windows, whose losses depend on their slopes a round trip ago.
    buffer: f64,
}

impl Model {
    fn p(t: f64) -> f64 {
        SCHEDULE.iter().rev().find(|(since, _)| *since <= t).map_or(0.0, |(_, p)| *p)
    }

    /// Rate that the law admits, packets/s; `growth` is W' where ACKs clock the packets.
    fn admitted(&self, t: f64, [w, q]: [f64; 2], growth: f64) -> f64 {
        let passes = if self.drops { 1.0 - Model::p(t) } else { 1.0 };
        passes * FLOWS * (w.max(1.0) / self.rtt(q) + growth)
    }

    fn rtt(&self, q: f64) -> f64 {
        BASE_RTT + q.clamp(0.0, self.buffer) / CAPACITY
    }

    /// Time over which signals take effect, round trips.
    fn span(&self, window: f64) -> f64 {
        self.window.signal_span(window)
    }

    /// Share that a full buffer loses.
    fn lost(&self, t: f64, state: [f64; 2]) -> f64 {
        let full = state[1] >= self.buffer - 1e-6;
        if full { (1.0 - CAPACITY / self.admitted(t, state, 0.0)).max(0.0) } else { 0.0 }
    }
}

impl DDE<2, f64, Vec<f64>> for Model {
    /// W, q, and the integral of the share of signals a round trip ago.
    fn diff(&self, t: f64, y: &Vec<f64>, delayed: &[Vec<f64>; 2], slope: &mut Vec<f64>) {
        let ([w, q], [w_d, q_d]) = ([y[0].max(1.0), y[1]], [delayed[0][0].max(1.0), delayed[0][1]]);
        let (r, r_d) = (self.rtt(q), self.rtt(q_d));
        let then = t - r;
        let mut s = 1.0 - (1.0 - Model::p(then)) * (1.0 - self.lost(then, [w_d, q_d]));
        slope[2] = s;
        if self.span(w) > 0.0 {
            s = (y[2] - delayed[1][2]) / (self.span(w) * r);
        }
        slope[0] = match self.window {
            Window::Mgt => 1.0 / r - w * w_d * s / (2.0 * r_d),
            Window::Full => w_d / r_d * ((1.0 - s) / w - s * w / 2.0),
            Window::Calibrated(response) => {
                let at = response.at(w, r);
                at.growth * (1.0 / r - w_d / w * s / at.signals / r_d)
            }
        };
        let clocked = if matches!(self.window, Window::Calibrated(_)) { slope[0] } else { 0.0 };
        let grows = self.admitted(t, [w, q], clocked) - CAPACITY;
        let stays = (q <= 0.0 && grows < 0.0) || (q >= self.buffer && grows > 0.0);
        slope[1] = if stays { 0.0 } else { grows };
    }

    fn lags(&self, _t: f64, y: &Vec<f64>, lags: &mut [f64; 2]) {
        let rtt = self.rtt(y[1]);
        let spread = self.span(y[0].max(1.0));
        *lags = [rtt, if spread > 0.0 { spread * rtt } else { rtt }];
    }
}

#[test]
fn another_solver_finds_the_same_trajectories() {
    for window in [Window::Mgt, Window::Full, calibrated()] {
        for drops in [false, true] {
            let times: Vec<f64> = (1..=2 * END).map(|half| 0.5 * half as f64).collect();
            let buffer = if matches!(window, Window::Calibrated(_)) { 1e6 } else { BUFFER };
            let model = Model { window, drops, buffer };
            // Its order suffers at the kinks of the signals' sum, which it does not locate.
            let method = ExplicitRungeKutta::dopri5().max_delay(1.0).h_max(0.002).max_steps(10_000_000);
            let theirs = IVP::dde(&model, 0.0, END as f64, vec![1.0, 0.0, 0.0], |_| vec![1.0, 0.0, 0.0])
                .method(method)
                .rtol(1e-9)
                .atol(1e-9)
                .t_eval(&times)
                .solve()
                .unwrap();
            let ours = model.ours(&times);
            let (mut worst, mut limits) = (0.0_f64, [false; 2]);
            for ((t, [w, q]), (time, theirs)) in times.iter().zip(&ours).zip(theirs.t.iter().zip(&theirs.y)) {
                assert!((t - time).abs() < 1e-9);
                let off = |ours: f64, theirs: f64| (ours - theirs).abs() / theirs.max(1.0);
                worst = worst.max(off(*w, theirs[0])).max(off(*q, theirs[1]));
                limits = [limits[0] || *q == 0.0, limits[1] || *q == BUFFER || buffer > BUFFER];
                assert!(worst < 1e-4, "{window:?} drops {drops} at {t}: {w} {q}, theirs {theirs:?}");
            }
            println!("{window:?} drops {drops}: {worst:.1e}");
            assert_eq!(limits, [true; 2], "it has been empty and full");
        }
    }
}

impl Model {
    /// W and q at these times.
    fn ours(&self, times: &[f64]) -> Vec<[f64; 2]> {
        let sender = Sender::Tcp(self.window, f64::INFINITY);
        let class = Class { sender, ecn: !self.drops, base_rtt: BASE_RTT, ..class(FLOWS, &[0]) };
        let plant = Plant::new(vec![class], vec![Link::new(CAPACITY, self.buffer, PACKET)]);
        let start = plant.start();
        let mut run = Integrator::new(plant, 0.0, start);
        let state = |time: &f64| {
            let now = run.now();
            for (_, p) in SCHEDULE.iter().filter(|(since, _)| *since == now) {
                run.change(|plant, _| plant.set_p(0, now, *p));
            }
            run.advance(*time, 0.001);
            [run.values()[0], run.values()[1]]
        };
        times.iter().map(state).collect()
    }
}
