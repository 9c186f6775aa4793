"""Laws in Python for several tests: the README's, and built-in ones as a user would write them."""

from math import sqrt

import sojourn as sj


class TenLines(sj.Controller):
    """The law of the README."""

    period = "10 ms"
    gain = 1e-4

    def update(self, seen):
        return min(1.0, self.gain * seen.backlog_packets)


class PiInPython(sj.Controller):
    """The built-in PI, its floating-point operations in the same order (crates/aqm/src/laws/pi.rs)."""

    period = "6.25 ms"  # 160 Hz
    target_packets = 100.0
    a = 1.822e-5
    b = 1.816e-5

    def reset(self):
        self.p, self.error = 0.0, -self.target_packets

    def update(self, seen):
        error = seen.backlog_packets - self.target_packets
        p = self.p + self.a * error - self.b * self.error
        self.p, self.error = min(max(p, 0.0), 1.0), error
        return self.p


class Silent(sj.Controller):
    """Never acts: tail drop."""

    period = "10 ms"

    def update(self, seen):  # noqa: ARG002
        return 0


class PiByPackets(sj.Law):
    """The same PI, judging single packets."""

    period = "6.25 ms"
    target_packets = 100.0
    a = PiInPython.a
    b = PiInPython.b

    def reset(self):
        self.p, self.error = 0.0, -self.target_packets

    def on_update(self, seen):
        error = seen.backlog_packets - self.target_packets
        p = self.p + self.a * error - self.b * self.error
        self.p, self.error = min(max(p, 0.0), 1.0), error

    def on_arrival(self, arrival):
        if arrival.u[0] >= self.p:
            return None
        return sj.Verdict.MARK if arrival.ecn_capable else sj.Verdict.DROP

    def gauges(self):
        return {"p": self.p}


class MyCoDel(sj.Law):
    """Section 5: act when the smallest sojourn time of an interval is the target or longer."""

    target_s = 0.005
    interval_s = 0.1
    ecn = True
    mtu_bytes = 0  # 0: the largest packet so far

    @property
    def target_packets(self):
        return self.link.rate_bps / 8 / self.link.packet_bytes * self.target_s

    def reset(self):
        self.target, self.interval = nanoseconds(self.target_s), nanoseconds(self.interval_s)
        self.maxpacket = self.mtu_bytes or 512
        self.first_above = None
        self.dropping = False
        self.drop_next = self.count = self.lastcount = 0
        self.condemned = None  # verdict on the last packet of this pull: "first" on entry, "another" later

    def on_departure(self, packet):
        now = nanoseconds(packet.time_s)
        if not self.mtu_bytes:
            self.maxpacket = max(self.maxpacket, packet.len_bytes)
        if not self.acts(now, self.ok_to_drop(now, packet)):
            self.condemned = None
            return sj.Verdict.PASS
        condemned = "another" if self.dropping else "first"
        self.count += self.dropping
        if not (self.ecn and packet.ecn_capable):
            self.condemned = condemned
            return sj.Verdict.DROP
        if condemned == "first":
            self.enter(now)
        else:
            self.drop_next = self.control_law(self.drop_next)
        self.condemned = None
        return sj.Verdict.MARK

    def on_idle(self, time_s):
        self.first_above = None
        self.acts(nanoseconds(time_s), False)
        self.condemned = None

    def ok_to_drop(self, now, packet):
        if nanoseconds(packet.sojourn_s) < self.target or packet.backlog_bytes <= self.maxpacket:
            self.first_above = None
            return False
        if self.first_above is None:
            self.first_above = now + self.interval
        return now >= self.first_above

    def acts(self, now, ok_to_drop):
        if self.condemned == "first":
            self.enter(now)
            return False
        if self.condemned == "another" and ok_to_drop:
            self.drop_next = self.control_law(self.drop_next)
        if self.dropping:
            self.dropping = ok_to_drop
            return ok_to_drop and now >= self.drop_next
        return ok_to_drop

    def enter(self, now):
        delta = self.count - self.lastcount
        recent = now - self.drop_next < 16 * self.interval
        self.dropping = True
        self.count = self.lastcount = delta if delta > 1 and recent else 1
        self.drop_next = self.control_law(now)

    def control_law(self, time):
        return time + int(self.interval / sqrt(self.count))


def nanoseconds(seconds):
    """The run's own clock in whole nanoseconds: exact."""
    return round(seconds * 1e9)


def in_the_users_folder(folder, text):
    """Write mylaw.py into the folder of small.toml."""
    (folder / "mylaw.py").write_text("import sojourn as sj\n" + text)
