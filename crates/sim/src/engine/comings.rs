//! Members of classes come, leave, and come again over the same flows.

use super::{Simulation, assert_numbered};
use crate::event::{Event, Kind};
use crate::flow::{State, Timer};
use crate::member::{Class, Errand, Member, NOBODY};
use crate::network::{FlowPlan, SourcePlan};
use crate::probe::Probe;
use sojourn_units::{Span, Stream, Time};
use std::cmp::Reverse;

impl<P: Probe> Simulation<P> {
    /// A class begins: its arrivals, and the schedule of its number.
    pub(super) fn open_class(&mut self, class: u32) {
        let Class { plan, .. } = &self.classes[class as usize];
        for (time, _) in &plan.counts {
            self.events.push(*time, Event::new(Kind::Count, class));
        }
        self.schedule_arrival(class);
    }

    fn schedule_arrival(&mut self, class: u32) {
        let Class { plan, schedule, .. } = &mut self.classes[class as usize];
        let next = schedule.as_mut().and_then(|schedule| schedule.next(self.now));
        if let Some(time) = next.filter(|time| *time < plan.stop.unwrap_or(Time::NEVER)) {
            self.events.push(time, Event::new(Kind::Arrival, class));
        }
    }

    /// Some come, as many as there may be.
    pub(super) fn arrival(&mut self, number: u32) {
        let Some(schedule) = &mut self.classes[number as usize].schedule else { return };
        let (count, bytes) = schedule.come();
        for _ in 0..count {
            let class = &mut self.classes[number as usize];
            // Drawn also for those that are turned away: the others' are the same whatever the network does.
            let bytes = bytes.or_else(|| Some(class.sizes.as_mut()?.draw()));
            let stays = class.plan.lifetime.as_ref().map(|stays| stays.sample(&mut class.lifetimes));
            if class.present >= class.most {
                self.probe.turned_away(self.now, number);
                continue;
            }
            let free = class.free.pop().map(|Reverse(free)| class.members[free as usize]);
            let member = free.unwrap_or_else(|| self.join(number));
            self.begin(member, bytes, stays);
        }
        self.schedule_arrival(number);
    }

    /// The number of members changes: the last ones leave by themselves, further ones come. Who has left is still counted.
    pub(super) fn count(&mut self, number: u32) {
        let class = &mut self.classes[number as usize];
        let now = class.plan.counts.iter().rev().find(|(time, _)| *time == self.now);
        let (before, most) = (class.most, now.map_or(class.most, |(_, most)| *most));
        class.most = most;
        if class.schedule.is_some() {
            return;
        }
        for place in most..before {
            if let Some(member) = self.classes[number as usize].members.get(place as usize) {
                self.members[*member as usize].recalled = false;
            }
        }
        for place in before..most {
            match self.classes[number as usize].members.get(place as usize).copied() {
                Some(member) if self.members[member as usize].present => {
                    let member = &mut self.members[member as usize];
                    member.recalled = member.until <= self.now;
                }
                Some(member) => self.begin(member, None, None),
                None => {
                    let member = self.join(number);
                    self.begin(member, None, None);
                }
            }
        }
    }

    /// A member is made; gives its number among all.
    fn join(&mut self, number: u32) -> u32 {
        let class = &self.classes[number as usize];
        let place = class.members.len() as u32;
        let joining = class.plan.joining.clone().expect("a class that grows has a plan of what joins");
        let (most, stop) = (class.plan.most, class.plan.stop);
        self.swap_layout();
        let legs = self.layout.join(&joining, (place, most), joining.source.flows());
        self.swap_layout();
        assert_numbered(self.links.len().max(self.flows.len() + legs.len()));
        let first = self.flows.len() as u32;
        for legs in legs {
            let plan = FlowPlan {
                class: number,
                member: place,
                source: joining.source.clone(),
                forward: Vec::new(),
                reverse: Vec::new(),
                start: self.now,
                stop,
            };
            self.add_flow(plan, legs);
        }
        self.flows[first as usize].member
    }

    /// The layout has the links and legs while it works on them.
    fn swap_layout(&mut self) {
        std::mem::swap(&mut self.links, &mut self.layout.links);
        std::mem::swap(&mut self.private, &mut self.layout.private);
        std::mem::swap(&mut self.speeds, &mut self.layout.speeds);
        std::mem::swap(&mut self.legs, &mut self.layout.legs);
    }

    /// A new flow belongs to a member, the last one or one more; gives that one's number.
    pub(super) fn add_member(&mut self, plan: &FlowPlan, flow: u32) -> u32 {
        let class = &mut self.classes[plan.class as usize];
        if !matches!(plan.source, SourcePlan::App(..)) && !class.comes_and_goes() {
            return NOBODY;
        }
        if (plan.member as usize) < class.members.len() {
            let member = class.members[plan.member as usize];
            self.members[member as usize].errands.push(Errand::none());
            return member;
        }
        let name = format!("{}/{}", class.plan.name, plan.member);
        class.members.push(self.members.len() as u32);
        self.members.push(Member {
            class: plan.class,
            number: plan.member,
            first: flow,
            errands: vec![Errand::none()],
            app: crate::apps::of_source(&plan.source, self.seed, &name),
            asks: plan.source.asks(),
            source: plan.source.clone(),
            streams: 0,
            present: false,
            recalled: false,
            stop: plan.stop.unwrap_or(Time::NEVER),
            until: Time::ZERO,
            stop_timer: Timer::OFF,
            timer: Timer::OFF,
            lifetimes: Stream::named(self.seed, &format!("{name}/lifetime")),
        });
        self.members.len() as u32 - 1
    }

    /// The start of a member that there is from the beginning, if it is not there already and still wanted.
    pub(super) fn start_member(&mut self, number: u32) {
        let member = &self.members[number as usize];
        let class = &self.classes[member.class as usize];
        if !member.present && member.number < class.most {
            self.begin(number, None, None);
        }
    }

    /// A member comes, to transfer `bytes` and to stay so long, where that is told.
    fn begin(&mut self, number: u32, bytes: Option<u64>, stays: Option<Span>) {
        let now = self.now;
        let member = &mut self.members[number as usize];
        let class = &mut self.classes[member.class as usize];
        let own = class.plan.lifetime.as_ref().filter(|_| class.schedule.is_none());
        let own = own.map(|draw| draw.sample(&mut member.lifetimes));
        let stays = stays.or(own).map_or(Time::NEVER, |stays| now + stays);
        // Where they arrive, the number only says who is let in.
        let fewer = if class.schedule.is_some() { Time::NEVER } else { class.fewer_from(now, member.number) };
        member.until = member.stop.min(stays).min(fewer);
        if member.until <= now {
            if class.schedule.is_some() {
                class.free.push(Reverse(member.number));
            }
            return;
        }
        member.present = true;
        class.present += 1;
        if member.asks {
            for flow in member.flows() {
                let flow = &mut self.flows[flow as usize];
                (flow.state, flow.stop) = (State::Waiting, member.until);
            }
            for errand in &mut member.errands {
                // What was asked for before is not answered any more.
                (errand.awaited, errand.life) = (false, errand.life + 1);
            }
        }
        let until = (member.until < Time::NEVER).then_some(member.until);
        if let Some(time) = member.stop_timer.needs(until) {
            self.events.push(time, Event::new(Kind::Stop, member.first));
        }
        member.app.start(now, bytes);
        self.serve(number);
    }

    /// A member's time is over: its senders send nothing new.
    pub(super) fn leave(&mut self, number: u32) {
        let member = &mut self.members[number as usize];
        if !member.stop_timer.is_due(self.now) {
            return;
        }
        if member.until > self.now {
            if let Some(time) =
                member.stop_timer.needs(Some(member.until).filter(|until| *until < Time::NEVER))
            {
                self.events.push(time, Event::new(Kind::Stop, member.first));
            }
            return;
        }
        for flow in member.flows() {
            self.stop(self.now, flow);
        }
        self.vacate(number);
    }

    /// A member whose time is over is gone as soon as all its senders have everything acknowledged.
    pub(super) fn vacate(&mut self, number: u32) {
        let member = &mut self.members[number as usize];
        let gone = |flow: u32| matches!(self.flows[flow as usize].state, State::Waiting | State::Idle);
        if !member.present || !member.flows().all(gone) {
            return;
        }
        member.present = false;
        let class = &mut self.classes[member.class as usize];
        class.present -= 1;
        if class.schedule.is_some() {
            class.free.push(Reverse(member.number));
        } else if std::mem::take(&mut member.recalled) {
            self.begin(number, None, None);
        }
    }
}

impl Member {
    pub(super) fn flows(&self) -> std::ops::Range<u32> {
        self.first..self.first + self.errands.len() as u32
    }
}
