//! Laws on the fluid plant, against trajectories and equilibria computed elsewhere.

#[path = "common/bench.rs"]
mod bench;
#[path = "../../aqm/tests/common/reference.rs"]
mod reference;

#[path = "laws/arm_pfc.rs"]
mod arm_pfc;
#[path = "laws/cpc.rs"]
mod cpc;
#[path = "laws/fb_ocq.rs"]
mod fb_ocq;
#[path = "laws/hopf.rs"]
mod hopf;
#[path = "laws/pi.rs"]
mod pi;
#[path = "laws/pi_pd.rs"]
mod pi_pd;
#[path = "laws/pid.rs"]
mod pid;
#[path = "laws/targets.rs"]
mod targets;
#[path = "laws/transfers.rs"]
mod transfers;
#[path = "laws/undeclared.rs"]
mod undeclared;
