"""Certificates: the references' numbers, the verdicts against the nonlinear plant, the sentences."""

import json
import math
import re
import signal
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import sojourn as sj
from sojourn import stops
from sojourn.cli import main, printing
from sojourn.plot import style
from sojourn.prove import page as prove_page
from sojourn.prove import words
from sojourn.prove.beside import Beside
from sojourn.prove.several import Proven

#: Hollot et al. (2002): 3750 packets/s, base RTT 0.2 s; a target of 46 ms makes 0.246 s.
HOLLOT = {
    "bottleneck.rate": "30 Mbit/s",
    "bottleneck.delay": "100 ms",
    "bottleneck.buffer": "800 packets",
    "bottleneck.qdisc.target": "46 ms",
    "flows[0].count": 60,
    "flows[0].access": '{ rate = "1 Gbit/s" }',
}
#: The windows of papers, whose numbers these are.
PUBLISHED = {"fluid_window": "mgt"}
#: The other network of CPC's figures: 3 flows, 2 Mbit/s, 1500 B, 0.1 s; the target of 80 ms makes R = 0.18 s.
SMALL = HOLLOT | {
    "bottleneck.rate": "2 Mbit/s",
    "bottleneck.delay": "50 ms",
    "bottleneck.qdisc.target": "80 ms",
    "flows[0].count": 3,
    "flows[0].segment": "1500 B",
    "at": "[]",
}


def network(qdisc, settings=HOLLOT, link=None):
    return sj.prove(sj.load("dumbbell", PUBLISHED | settings), qdisc, link=link)


def margins_of(loop):
    names = ("crossover_rad_s", "phase_margin_deg", "gain_margin", "delay_margin_s")
    return [loop[name] for name in names]


@pytest.mark.parametrize(("target", "rtt"), [("46 ms", "0.246000"), ("175 packets", "0.246667")])
def test_pi_of_hollot(maths, target, rtt):
    found = network(f"pi:target={target.replace(' ', '')}")
    maths(f"hollot.PI.R={rtt}.[wc,pm,gm,dm]", margins_of(found.loop("textbook")))
    assert found.textbook["phase_margin_deg"] == found.loop("textbook")["phase_margin_deg"]
    maths(f"hollot.R={rtt}.p0", found.equilibrium["p"])
    maths(f"hollot.R={rtt}.W0", found.equilibrium["classes"][0]["window_packets"])
    assert found.verdict == "stable"
    judged = found.loop("linearised", sampled=True)
    assert found.margins == {name: judged[name] for name in found.margins}
    assert 0 < found.margins["phase_margin_deg"] < 90


def test_poles_of_pi():
    """laws' page of numbers: -.52879, -.81505, -2.44804, -24.175 +- 18.435 j."""
    found = network("pi:target=46ms").loop("textbook")
    poles = [complex(*root) for root in found["poles"]]
    np.testing.assert_allclose(poles[:3], [-0.52879, -0.81505, -2.44804], rtol=2e-5)
    assert found["nyquist"]["closed_poles"] == 0


@pytest.mark.parametrize(
    ("name", "settings", "target"), [("hollot", HOLLOT, "46ms"), ("small", SMALL, "80ms")]
)
@pytest.mark.parametrize("form", ["paper", "da"])
def test_cpc(maths, name, settings, target, form):
    spec = f"cpc:target={target},form={'paper' if form == 'paper' else 'delay_aware'}"
    found = network(spec, settings)
    for part in ("inner", "outer"):
        maths(f"cpc.{name}.{form}.{part}.[wc,pm_deg,gm,dm]", margins_of(found.loop("textbook", part)))
    poles = sorted(re for re, _ in found.loop("textbook", "outer")["poles"][:2])
    maths(f"cpc.{name}.{form}.poles_re", [poles[0], poles[0], poles[1], poles[1]])
    outer = found.loop("textbook", "outer")
    assert (found.textbook["part"], found.textbook["gain_margin"]) == ("outer", outer["gain_margin"])
    if (name, form) == ("hollot", "paper"):
        undelayed = found.loop("textbook without delay", "outer")
        assert undelayed["phase_margin_deg"] == pytest.approx(65.53, abs=5e-3)
        assert undelayed["gain_margin"] is None


@pytest.mark.parametrize("name", "ABCDEFGHIJKL")
def test_optimal_control(root, maths, name):
    given = json.loads((root / "tests" / "reference" / "maths.json").read_text())
    w, mu, a, r, x0, t_f = given[f"ocq.{name}.params"]["value"]
    found = sj.theorems.ocq(w, mu, a, r, x0=x0, t_f=t_f, control=[w])
    for key, value in (
        ("J", "J"),
        ("xs", "x_s_packets"),
        ("us", "u_s_pps"),
        ("switch_times", "switch_times_s"),
        ("controls", "inputs_pps"),
        ("x_final", "x_final_packets"),
    ):
        maths(f"ocq.{name}.{key}", found[value])
    assert 0 <= found["gap"] <= 1e-9 * max(1, found["J"])
    assert found["given"]["J"] - found["J"] <= found["given"]["gap"] + 1e-12
    if name == "A":
        maths("ocq.A.H", found["hamiltonian_packets"])
        maths("ocq.A.lambda0", found["costate_0_s"])
        maths("ocq.A.norm_Hu_at_optimum", found["gradient_norm"])
        maths("ocq.A.J_of_u=w", found["given"]["J"])
        maths("ocq.A.gap_of_u=w", found["given"]["gap"])


def test_sqm(maths):
    found = sj.theorems.sqm(1000, [1500] * 5 + [1000] * 5, np.linspace(0.1, 0.15, 10))
    for key, value in (
        ("x", "rates_pps"),
        ("p", "prices"),
        ("normA", "lyapunov_norm"),
        ("lmin", "lyapunov_least"),
        ("J", "root_of_condition"),
        ("bound_rho1.01", "bound"),
        ("sigma_thm3", "sigma_theorem_3"),
        ("sigma_perflow", "sigma_per_flow"),
        ("sigma_pm45", "sigma_margin"),
        ("sigma_limit", "sigma_limit"),
    ):
        maths(f"sqm.fig3.{key}", found[value])
    assert all(np.array(found["sigma_printed_limit"]) < found["sigma_limit"])


@pytest.mark.parametrize(
    ("link", "message"),
    [
        (
            (1000, [1500] * 5 + [1000] * 5, np.linspace(0.1, 0.15, 10)),
            "Here its limit is at a sigma 7.0 to 9.5 times smaller than the exact one, sigma_limit; the "
            "model is unstable (phase margin -59 to -58 degrees) there. Theorem 3's sigma is 214 to 481 "
            "times sigma_limit; the model is stable (phase margin 88 to 89 degrees) with it.",
        ),
        ((4166, [1] * 40, [0.005] * 40), "1.6 times smaller"),
        ((100, [1], [1.0]), "Theorem 3's sigma is 20 times sigma_limit"),
        ((2, [1], [1.0]), "Theorem 3's sigma is 3.4 times sigma_limit"),
    ],
)
def test_the_remark_on_sqms_theorem_is_of_the_link(link, message):
    found = sj.theorems.sqm(*link)
    assert message in found["remark"]
    assert max(found["phase_margin_printed_limit_deg"]) < 0 < min(found["phase_margin_theorem_3_deg"])


@pytest.mark.parametrize(
    ("call", "line"),
    [
        ("sqm(1000, [1], [.1], utility=[1, 2])", "utility: 2 are given for 1 weights; expected one a flow"),
        ("sqm(1000, [1, 1], [.1])", "rtts: 1 are given for 2 weights; expected one a flow"),
        ("sqm(1000, 1, .1)", "rtts: 0.1 is no list of numbers; expected "),
        ("sqm(1000, 1, [.1])", "weights: 1 is no list of numbers; expected "),
        ("sqm(1000, [], [])", "rtts: there are none; expected one number or more"),
        ("sqm(1000, [0], [.1])", "weights[0]: 0 is out of range; expected more than 0"),
        ("sqm(1000, [1], [.1], utility=[0])", "utility[0]: 0 is out of range; expected more than 0"),
        ("sqm(1000, [1], [1e-9])", "rtts[0]: 1e-09 s is out of range; expected 1e-06 to 1e+06 s"),
        ("sqm(1000, [1], ['50ms'])", "rtts[0]: '50ms' is not a number; expected such as 0.1"),
        ("sqm('fast', [1], [.1])", "capacity: 'fast' is not a number; expected "),
        ("ocq(60, 50, 1, 0)", "r: 0 is out of range; expected more than 0"),
        (
            "ocq(60, 50, 1, .2, control=[-1])",
            "control[0]: -1 packets/s is out of range; expected 0 to w = 60",
        ),
        ("ocq(60, 50, 1, .2, control=[])", "control: there are none; expected one number or more"),
        ("ocq(60, 50, 1, .2, control=3)", "control: 3 is no list of numbers; expected "),
        ("ocq(None, 50, 1, .2)", "w: None is not a number; expected "),
    ],
)
def test_errors_of_theorems_name_the_arguments(call, line):
    with pytest.raises(sj.InputError) as error:
        eval(f"sj.theorems.{call}")
    (message,) = error.value.lines
    assert message.startswith(line)


def test_fb_ocqs_equilibrium_is_that_of_its_optimum(maths):
    found = sj.prove(sj.load("scenarios/fb_ocq/forty.toml"))
    best = found.optimality
    maths(
        "ocq.aqm.params_R_us_eps(xs=40,a=1,mu=1250,tc=.2)",
        [best["R_s"], best["u_s_pps"], 0.000997676296231156],
    )
    assert best["x0_packets"] == pytest.approx(best["x_s_packets"])
    assert best["gap"] <= 1e-9 * best["J"]


@pytest.mark.parametrize(
    ("qdisc", "verdict"),
    [
        ("pi", "stable"),
        ("pi2:rtt_max=250ms", "stable"),
        ("fb_ocq", "stable"),
        ("fb_ocq:load=virtual", "unstable"),
    ],
)
def test_the_verdict_is_that_of_the_nonlinear_plant(qdisc, verdict):
    scenario = sj.load("dumbbell", {"duration": "200 s", "warmup": "150 s", "at": "[]"})
    found = sj.prove(scenario, qdisc)
    assert found.verdict == verdict
    run = sj.run(scenario, qdisc, plants="fluid").runs[0]
    swing = run.metrics["queue_std_packets"]
    assert (swing < 0.5) == (verdict == "stable"), swing


def test_a_map_s_boundary_parts_stable_from_unstable():
    region = network("pi:target=46ms").region((30, 120), (0.1, 1.2), points=24)
    (curve,) = region.boundary
    order = np.argsort(curve[0])
    border = np.interp(60, curve[0][order], curve[1][order])
    for factor, verdict in ((0.99, "stable"), (1.01, "unstable")):
        # The law keeps its design: its gains are given.
        delay = f"{factor * border / 2:.9f} s"
        moved = network(
            "pi:target=46ms,a=0.00001852780906338255,b=0.000018466677319079454",
            HOLLOT | {"bottleneck.delay": delay},
        )
        assert moved.verdict == verdict
    assert region.shares()["stable"] + region.shares()["unstable"] == pytest.approx(1)


def test_a_map_reports_its_counted_points(tmp_path):
    certificate = sj.prove(sj.load("dumbbell"), "pi")
    region = certificate.region((40, 80), (0.05, 0.1), points=17)
    assert region.counted < region.cells.size
    document = region.to_dict()
    assert document["counted_points"] == region.counted
    assert "4 by 4 meshes" in document["filled_in"]
    assert region.filled_in() in certificate.report(tmp_path / "page.html", region).read_text()


def test_pi_pd_is_not_proven():
    found = sj.prove(sj.load("dumbbell"), "pi_pd")
    assert found.verdict == "not proven"
    assert "no slope" in found.reason
    assert found.margins["phase_margin_deg"] is not None
    assert not any("verdict" in note for note in words.notes(found))
    assert words.notes(sj.prove(sj.load("dumbbell"), "pi"))[0].endswith("The verdict is that of this loop.")


def test_a_map_s_round_trips_may_have_units():
    found = sj.prove(sj.load("dumbbell"), "pi")
    texts = found.region((40, 60), ("50ms", "1 s"), 3)
    assert (texts.rtt_s == found.region((40, 60), (0.05, 1.0), 3).rtt_s).all()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            {"flows": (1, 2, 3)},
            "flows: (1, 2, 3) is no range; expected two values above 0, the smaller first",
        ),
        ({"flows": (1, float("inf"))}, "flows: (1, inf) is no range; expected "),
        ({"flows": ("1", "2")}, "flows: ('1', '2') is no range; expected "),
        ({"flows": 4}, "flows: 4 is no range; expected "),
        ({"rtt_s": (1,)}, "rtt_s: (1,) is no range; expected "),
        ({"rtt_s": ("1s", "50ms")}, "rtt_s: ('1s', '50ms') is no range; expected "),
        ({"rtt_s": ("50", "100")}, "rtt_s: ('50', '100') is no range; expected "),
        ({"points": 2.5}, "points: 2.5 is not a number of points; expected whole numbers from 2 to 2000"),
        ({"points": "9"}, "points: '9' is not a number of points; expected "),
    ],
)
def test_an_invalid_map_is_one_line(arguments, line):
    with pytest.raises(sj.InputError) as error:
        sj.prove(sj.load("dumbbell"), "pi").region(**arguments)
    (message,) = error.value.lines
    assert message.startswith(line)


def test_an_invalid_map_is_refused_by_the_page(tmp_path):
    with pytest.raises(sj.InputError, match=r"^region: 'foo' is no map; expected what Certificate.region"):
        sj.prove(sj.load("dumbbell"), "pi").report(tmp_path / "page.html", "foo")


def test_a_map_has_the_reason_of_points_without_equilibrium():
    region = sj.prove(sj.load("dumbbell")).region((10, 5000), (0.02, 0.4), points=12)
    assert any("p = 1" in reason or "window" in reason for reason in region.reasons)


@pytest.mark.parametrize(
    ("settings", "qdisc", "line"),
    [
        ({"flows[0].count": 5000}, None, "expected "),
        ({"flows[0].count": 2000, "fluid_window": "full"}, None, "window of"),
        ({"flows[0].cc": "cubic"}, None, 'flows[0].cc: "cubic" has no linear model; expected reno, newreno'),
        (
            {"flows[0].count": 10},
            "pi:target=1packets,rate=2Hz,a=0.001,b=0.0009",
            "shorter than the law's period",
        ),
    ],
)
def test_a_missing_equilibrium_is_one_line(settings, qdisc, line):
    with pytest.raises(sj.InputError) as error:
        sj.prove(sj.load("dumbbell", PUBLISHED | settings), qdisc)
    assert len(error.value.lines) == 1
    assert line in error.value.lines[0]


def test_laws_that_judge_packets_are_not_proven():
    found = sj.prove(sj.load("dumbbell"), "codel")
    assert (found.verdict, found.loops) == ("not proven", [])
    assert "arm_pfc" in found.reason
    assert "pi, pid" in str(found)


def test_the_command(tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["prove", "dumbbell", "--qdisc", "pi", "-o", str(page)]) == 0
    assert capsys.readouterr().out.startswith("Stable: pi at bottleneck")
    text = page.read_text()
    assert "<script" not in text
    assert "http://" not in text.replace("http://www.w3.org/", "")
    HTMLParser().feed(text)
    assert main(["prove", "dumbbell", "--set", "flows[0].cc=cubic", "--set", "plant.fluid.model=mgt"]) == 2
    assert main(["prove", "dumbbell", "--flows", "1..2"]) == 2


def test_json_is_one_document(tmp_path, capsys):
    arguments = [
        "prove",
        "dumbbell",
        "--qdisc",
        "pi",
        "--qdisc",
        "arm_pfc",
        "--json",
        "--out",
        str(tmp_path / "out"),
    ]
    assert main([*arguments, "--map", "N,R", "--flows", "40..60", "--rtt", "100ms..300ms"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert [one["law"].partition(":")[0] for one in found["certificates"]] == ["pi", "arm_pfc"]
    for one in found["certificates"]:
        assert one["schema"] == 1
        assert {"phase_margin_deg", "gain_margin", "delay_margin_s", "crossover_rad_s", "poles"} <= set(one)
        assert one["verdict"] == "stable"
        assert len(one["map"]["cells"]) == 200
        assert len(one["margin_map"]["phase_margin_deg"]) == 24
    page = (tmp_path / "out" / "certificate.html").read_text()
    assert page.count('<h3 class="over">Stability regions</h3>') == 1, "both borders over each other"
    assert page.count('<h3 class="over">Stability region</h3>') == 2
    assert page.count('<figcaption class="note">Contours: phase margin, degrees.') == 2


#: On the dumbbell nothing can be proven of this qdisc: it has no equilibrium.
NO_REST = "pi:target=1packets,rate=2Hz,a=0.001,b=0.0009"
TEN = ("--set", "flows[0].count=10")


def test_a_refused_qdisc_does_not_stop_the_others(tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["prove", "dumbbell", *TEN, "--qdisc", NO_REST, "--qdisc", "codel:nothing=1", "--qdisc", "pi"]
    assert main([*arguments, "--json", "--out", str(out)]) == 2
    output = capsys.readouterr()
    (only,) = json.loads(output.out)["certificates"]
    assert only["law"] == "pi"
    assert json.loads((out / "certificate.json").read_text()) == json.loads(output.out)
    assert "<svg" in (out / "certificate.html").read_text()
    of_spec, of_rest = output.err.splitlines()
    assert of_spec.startswith("sojourn prove: --qdisc: ")
    assert "nothing" in of_spec
    assert of_rest.startswith("pi:target=1 packets,")
    assert ": the round trip of " in of_rest
    assert main(arguments) == 2
    assert capsys.readouterr().out.startswith("Stable: pi at bottleneck")


def test_an_only_qdisc_is_named_when_refused(refused, tmp_path):
    (line,) = refused("prove", "dumbbell", *TEN, "--qdisc", NO_REST, "--out", tmp_path / "out")
    assert line.startswith("pi:target=1 packets,")
    assert not (tmp_path / "out").exists()
    (line,) = refused("prove", "dumbbell", "--set", "flows[0].cc=cubic", "--set", "fluid_window=mgt")
    assert line.startswith('pi:target=100 packets: flows[0].cc: "cubic" has no linear model; expected ')


@pytest.mark.parametrize("command", ["prove", "run"])
def test_each_qdisc_is_named_once(refused, command):
    (line,) = refused(command, "dumbbell", "--qdisc", "pi", "--qdisc", "codel", "--qdisc", "pi")
    assert line == f"sojourn {command}: --qdisc: pi is given twice; expected each qdisc once"


def test_an_unknown_link_names_the_flag(refused):
    (line,) = refused("prove", "dumbbell", "--link", "nolink", "--qdisc", "pi", "--qdisc", "codel")
    assert line == 'sojourn prove: --link: "nolink" is no link with a qdisc (expected bottleneck)'
    with pytest.raises(sj.InputError, match=r'^link: "nolink" is no link'):
        sj.prove(sj.load("dumbbell"), link="nolink")


MAPPED = ["prove", "dumbbell", "--qdisc", "pi", "--qdisc", "codel", "--qdisc", "arm_pfc", "--map", "N,R"]


def interrupt(*_):
    raise KeyboardInterrupt


def test_ctrl_c_in_a_map_keeps_the_certificates(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sj.Certificate, "region", interrupt)
    out = tmp_path / "out"
    assert main([*MAPPED, "--out", str(out), "-o", str(tmp_path / "page.html"), "--json"]) == 130
    output = capsys.readouterr()
    assert output.err == (
        "sojourn prove: interrupted; 3 of 3 certificates and 0 of 3 maps had finished: "
        f"printed and written to {out / 'certificate.json'}, {tmp_path / 'page.html'}, "
        f"{out / 'certificate.html'}\n"
    )
    kept = json.loads((out / "certificate.json").read_text())
    assert kept == json.loads(output.out)
    assert [one["law"] for one in kept["certificates"]] == ["pi", "codel", "arm_pfc"]
    assert (out / "certificate.html").read_text() == (tmp_path / "page.html").read_text()


def test_ctrl_c_before_the_first_certificate_keeps_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sojourn.prove.several.certify", interrupt)
    assert main([*MAPPED, "--out", str(tmp_path / "out")]) == 130
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "sojourn prove: interrupted; none of 3 certificates had finished\n"
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_the_page_is_drawn_leaves_it_whole(tmp_path, capsys, monkeypatch):
    draw = prove_page.page

    def interrupted(*given):
        signal.raise_signal(signal.SIGINT)
        return draw(*given)

    monkeypatch.setattr(prove_page, "page", interrupted)
    # A process started in the background ignores it from the first.
    before = signal.getsignal(signal.SIGINT)
    out = tmp_path / "out"
    assert main(["prove", "dumbbell", "--qdisc", "pi", "--out", str(out)]) == 0
    assert {one.name for one in out.iterdir()} == {"certificate.json", "certificate.html"}
    assert capsys.readouterr().err == ""
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_leaves_a_map_behind():
    """A map of many points takes seconds in the compiled half; Ctrl-C does not wait for it."""
    code = (
        "import os, signal, sys, threading, time, sojourn as sj\n"
        "from sojourn.__main__ import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from sojourn import Certificate, stops\n"
        "region, begun = Certificate.region, []\n"
        "def stop():\n"
        "    while not stops.left_behind():\n"
        "        time.sleep(0.01)\n"
        "    time.sleep(0.3)\n"
        "    begun.append(time.monotonic())\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "def slow(self, *ends):\n"
        "    threading.Thread(target=stop, daemon=True).start()\n"
        "    return region(self, *ends, points=2000)\n"
        "Certificate.region, leave = slow, os._exit\n"
        "def left(code):\n"
        "    print(time.monotonic() - begun[0], file=sys.stderr, flush=True)\n"
        "    leave(code)\n"
        "os._exit = left\n"
        "sys.argv = ['sojourn', 'prove', 'dumbbell', '--qdisc', 'pi', '--map', 'N,R']\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    # The second line is that of a map which is left behind, and none of one that has just ended.
    line, *reaction = done.stderr.splitlines()
    assert done.returncode == 130
    assert line == ("sojourn prove: interrupted; 1 of 1 certificates and 0 of 1 maps had finished: printed")
    assert all(float(one) < 10 for one in reaction)


def test_borders_of_a_map_are_followed_to_their_ends():
    assert not sj.prove(sj.load("dumbbell"), "arm_pfc").region(points=40).cut


def test_what_is_interruptible_passes_on_results_and_errors():
    assert stops.interruptible(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        stops.interruptible(lambda: 1 / 0)


def test_the_loop_of_a_part_of_a_law_is_named_so():
    """PI-PD's equation has no slope across its target: the loop of one side is stable, the law not proven."""
    certificate = sj.prove(sj.load("dumbbell"), "pi_pd")
    assert (certificate.verdict, certificate.loops[-1]["verdict"]) == ("not proven", "stable")
    note = words.notes(certificate)[0]
    assert note.startswith(
        "* the part of the law that has a transfer function, as it runs: that loop is stable,"
    )
    assert "The verdict is" not in " ".join([*words.notes(certificate), *certificate.assumptions])
    large = str(certificate.deviations(iterations=1))
    assert "The part of the law with a transfer function declares one slope" in large


def test_drops_at_windows_with_the_response_to_marks_are_warned_of():
    """PIE marks up to p = 0.1: DCTCP needs more, and p of packets is a quarter of what its marks would be."""
    scenario = sj.load("dumbbell", {"at": [], "flows[0].cc": "dctcp"})
    warning = "The law drops at this p, and the windows of bulk have the response to marks"
    found = sj.prove(scenario, "pie")
    assert found.equilibrium["signal"] == "drop"
    assert any(one.startswith(warning) for one in found.warnings)
    marking = sj.prove(scenario, "pie:mark_below_p=1")
    assert marking.equilibrium["signal"] == "mark"
    assert not any(one.startswith(warning) for one in marking.warnings)


@pytest.mark.parametrize("cc", ["cubic", "dctcp", "scalable", "newreno"])
def test_the_textbook_is_that_of_reno(cc):
    """Hollot's plant halves windows at each signal: no other control has a row of it."""
    certificate = sj.prove(sj.load("dumbbell", {"flows[0].cc": cc}), "pi")
    models = {one["model"] for one in certificate.loops}
    assert ("textbook" in models) == (certificate.textbook is not None) == (cc == "newreno")


ASKED = ["--map", "N,R", "--check", "--deviations"]


def test_what_is_requested_and_not_there_has_its_reason(capsys, tmp_path):
    page = tmp_path / "page.html"
    assert main(["prove", "dumbbell", "--qdisc", "codel", *ASKED, "-o", str(page)]) == 4
    text = " ".join(capsys.readouterr().out.split())
    line = (
        "Not shown: the map, the map of margins, large deviations, the check and the map of the check, "
        "as there is no loop: no model: codel declares"
    )
    assert line in text
    assert line in page.read_text()
    assert main(["prove", "dumbbell", "--qdisc", "codel", *ASKED, "--json"]) == 4
    document = json.loads(capsys.readouterr().out)
    assert set(document["not_shown"]) == {"map", "margin_map", "check", "check_map", "deviations"}
    assert document["not_shown"]["check"] == f"there is no loop: {document['reason']}"
    assert main(["prove", "dumbbell", "--qdisc", "codel", "--json"]) == 4
    assert "not_shown" not in json.loads(capsys.readouterr().out)


def test_ctrl_c_is_no_error_of_a_law_in_python():
    class Patient(Line):
        def linear(self, point):  # noqa: ARG002
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        network(Patient())


@pytest.mark.parametrize(("spec", "named"), [("pi", "textbook"), ("cpc", "textbook, outer")])
def test_the_sentence_and_the_table_name_the_loops(spec, named):
    found = network(spec)
    margin = found.margins["phase_margin_deg"]
    assert margin == found.loops[-1]["phase_margin_deg"]
    assert f"; phase margin {margin:.1f} degrees, gain margin " in str(found)
    (marked,) = (row for row in words.rows(found) if row[0].endswith("*"))
    assert marked == ("linearised, sampled-data *", marked[1])
    assert marked[1][0] == words.short(margin)
    assert found.headline == ("linearised", "whole")
    beside = dict(words.rows(found))[named]
    assert beside[0] == words.short(found.textbook["phase_margin_deg"]) != words.short(margin)


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_no_word_and_no_number_of_the_table_is_broken(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["prove", "dumbbell", "--qdisc", "cpc", "--qdisc", "pi"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= columns
    for qdisc in ("cpc", "pi"):
        for name, numbers in words.rows(sj.prove(sj.load("dumbbell"), qdisc)):
            assert name in text
            assert {*numbers} <= {*text.split()}
    heads = {word for title, unit, *_ in words.COLUMNS for word in f"{title} {unit}".split()}
    assert heads <= {*text.split()}
    parts = sum(line.startswith("─") for line in text.splitlines())
    assert parts == (4 if columns == 60 else 2)


def test_the_reason_of_a_loop_without_numbers_is_under_the_table(tmp_path):
    found = sj.prove(sj.load("dumbbell"), "cpc")
    found._document["loops"][4] |= {"verdict": "not proven", "reason": "its poles cannot be had", "poles": []}
    note = "textbook, no delay, outer: not proven, its poles cannot be had."
    assert note in printing.certificate(found, Beside())
    assert note in found.report(tmp_path / "page.html").read_text()


def test_a_map_in_words():
    region = sj.prove(sj.load("dumbbell"), "pi").region((10, 2000), (0.02, 3.0), points=10)
    whole = region.cells.size
    cells = np.zeros_like(region.cells)
    cells[0, :4], cells[1, :1] = 1, 3
    text = words.of_map(replace(region, cells=cells, reasons=["p = 1 lets in too much"]))
    assert whole == 100
    assert text == (
        "Of the map: 95 % stable, 4 % unstable; at 1 % of the points there is no verdict: "
        "p = 1 lets in too much."
    )
    assert words.of_map(replace(region, cells=cells.clip(0, 1))) == "Of the map: 95 % stable, 5 % unstable."


def test_pictures():
    found = sj.prove(sj.load("dumbbell"))
    for draw in (found.plot.bode, found.plot.nyquist, found.plot.poles, found.plot.step):
        assert draw().lines


def test_the_slowest_poles_fill_their_picture():
    found = network("pi:target=46ms")
    ax = found.plot.poles()
    slowest = found.poles[0].real
    left, right = ax.get_xlim()
    assert 11 * slowest < left < right < 1
    dominant, faster, _ = ax.lines
    assert dominant.get_xdata()[0] == slowest
    assert max(faster.get_xdata()) < slowest
    assert dominant.get_label().startswith("dominant poles −")


def test_axes_have_plain_numbers():
    found = sj.prove(sj.load("dumbbell"))
    wide = found.plot.map(found.region((10, 200), (0.05, 0.8), 4))
    narrow = found.plot.map(found.region((40, 60), (0.1, 0.12), 4))
    labels = [
        [[text.get_text() for text in axis.get_ticklabels(which="both")] for axis in (ax.xaxis, ax.yaxis)]
        for ax in (wide, narrow, found.plot.bode())
    ]
    assert {"10", "20", "50", "100", "200"} <= {*labels[0][0]}
    assert {"0.1", "0.2", "0.5"} <= {*labels[0][1]}
    assert {"40", "45", "50", "55", "60"} <= {*labels[1][0]}
    assert all(float(text) > 0 for axis in (*labels[0], *labels[1], labels[2][0]) for text in axis if text)
    assert {"0", "20", "40"} <= {*labels[2][1]}, "the gain, in dB"


def test_axes_have_no_offset():
    drawn, (ax,) = style.figure((3, 2))
    ax.plot([0, 1], [99.991, 99.992])
    style.quieten(ax)
    drawn.canvas.draw()
    assert ax.yaxis.get_offset_text().get_text() == ""


def test_the_areas_of_a_map_hold_the_points_of_their_verdicts():
    found = sj.prove(sj.load("dumbbell"))
    region = found.region((10, 2000), (0.02, 3.0), points=12)
    areas = found.plot.map(region).patches
    codes = sorted(set(region.cells.flat))
    assert len(areas) == len(codes) > 2
    inner = [(n, rtt) for rtt in region.rtt_s[1:-1] for n in region.flows[1:-1]]
    for code, area in zip(codes, areas, strict=True):
        held = area.get_path().contains_points(inner)
        assert (held == (region.cells[1:-1, 1:-1] == code).ravel()).all()


class Line(sj.Controller):
    """PI of Hollot et al."""

    period = "6.25 ms"
    target_packets = 172.5
    a = 1.852780906338255e-5
    b = 1.8466677319079454e-5
    declared_b = 1.8466677319079454e-5

    def reset(self):
        self.p, self.last = 0.0, 0.0

    def update(self, seen):
        error = seen.backlog_packets - self.target_packets
        self.p = min(max(self.p + self.a * error - self.b * self.last, 0.0), 1.0)
        self.last = error
        return self.p

    def linear(self, point):
        assert point.rtt_s == pytest.approx(0.246)
        return [self.a, -self.declared_b], [1.0, -1.0]


def test_a_law_in_python_has_the_certificate_of_the_same_law():
    own, built_in = network(Line()), network("pi:target=46ms")
    assert (own.law, own.verdict) == ("Line", "stable")
    assert own.poles == pytest.approx(built_in.poles)
    for name in ("phase_margin_deg", "gain_margin", "delay_margin_s"):
        assert own.margins[name] == pytest.approx(built_in.margins[name])
    given = "pi:target=46ms,a=0.00001852780906338255,b=0.000018466677319079454"
    own, built_in = (network(law).region((30, 120), (0.1, 1.2), 9) for law in (Pliant(), given))
    assert (own.cells == built_in.cells).all()
    assert own.filled_in() == built_in.filled_in()[:-1] + (
        ". The law's declared model was verified at the scenario's own point alone; elsewhere it is assumed."
    )


class Pliant(Line):
    """The same at every equilibrium."""

    def linear(self, point):  # noqa: ARG002
        return [self.a, -self.declared_b], [1.0, -1.0]


class Bent(Line):
    """A smaller slope above its target than below."""

    def update(self, seen):
        error = seen.backlog_packets - self.target_packets
        error *= 0.2 if error > 0 else 1.8
        self.p = min(max(self.p + self.a * error - self.b * self.last, 0.0), 1.0)
        self.last = error
        return self.p


class Uncancelled(Line):
    """The same ratio, numerator and denominator times 1 - 1.05 z^-1."""

    def linear(self, point):  # noqa: ARG002
        return np.polymul([self.a, -self.b], [1, -1.05]).tolist(), np.polymul([1, -1], [1, -1.05]).tolist()


@pytest.mark.parametrize(
    ("law", "message"),
    [(Bent(), "a law with one slope at its equilibrium"), (Uncancelled(), "a common factor")],
)
def test_a_law_in_python_with_two_slopes_or_a_common_factor_is_refused(law, message):
    with pytest.raises(sj.InputError, match=message):
        network(law)


def test_the_declared_model_of_a_law_in_python_is_verified():
    with pytest.raises(
        sj.InputError,
        match=r"^Line:declared_b=1e-05\.linear: declared slope 8.5e-6, measured 6.1e-8 \(of p, a packet, 1 ",
    ):
        network(Line(declared_b=1e-5))

    class Silent(Line):
        def linear(self, point):  # noqa: ARG002
            return None

    assert network(Silent()).verdict == "not proven"
    assert network(Silent()).reason.startswith("no model: Silent declares no transfer function: its `linear`")


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ("[1], [0, 1]", r"test_prove.py:\d+: linear gave .*; expected None, or the coefficients in z\^-1"),
        ("1 / 0", r"test_prove.py:\d+: ZeroDivisionError: division by zero, in"),
    ],
)
def test_an_invalid_declaration_is_one_line(answer, line):
    class Wrong(Line):
        def linear(self, point):  # noqa: ARG002
            return ([1], [0, 1]) if answer.startswith("[") else 1 / 0

    with pytest.raises(sj.InputError, match=rf"^qdisc: Wrong: .*{line}") as error:
        network(Wrong())
    assert len(error.value.lines) == 1
    assert "of the run" not in error.value.lines[0]


def test_a_law_in_python_may_stand_in_a_file(tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(
        "import sojourn as sj\n\n\nclass Mine(sj.Controller):\n    period = '10 ms'\n\n"
        "    def update(self, seen):\n        return self.steady_state_p(seen.backlog_packets)\n\n"
        "    def steady_state_p(self, backlog_packets):\n        return min(1.0, 2e-4 * backlog_packets)\n\n"
        "    def linear(self, point):\n        return [2e-4], [1]\n"
    )
    assert main(["prove", "dumbbell", "--qdisc", f"{path}:Mine", "--json"]) in (0, 1)
    found = json.loads(capsys.readouterr().out)
    assert found["equilibrium"]["p"] == pytest.approx(2e-4 * found["equilibrium"]["backlog_packets"])
    assert found["verdict"] in ("stable", "unstable")


def test_wires_that_lose_count_as_a_signal():
    clean, lossy = (
        network("pi:target=46ms", HOLLOT | {"bottleneck.impairments": f"{{ loss = {loss} }}"})
        for loss in (0, 0.004)
    )
    assert clean.equilibrium["p"] == pytest.approx(2 / 15.375**2)
    p = lossy.equilibrium["p"]
    assert p + 0.004 * (1 - p) == pytest.approx(clean.equilibrium["p"])
    assert lossy.loops[0]["model"] == "linearised", "the textbook's plant knows of no losses"
    assert any("Links lose 0.4 % of the packets" in warning for warning in lossy.assumptions)
    with pytest.raises(sj.InputError, match="arrive even at p = 0, since links lose packets too"):
        network("pi:target=46ms", HOLLOT | {"bottleneck.impairments": "{ loss = 0.02 }"})
    with pytest.raises(
        sj.InputError, match=r"^bottleneck.impairments.jitter: a delay .* has no linear model; expected "
    ):
        network("pi:target=46ms", HOLLOT | {"bottleneck.impairments": '{ jitter = "1 ms" }'})


def test_traffic_marked_and_dropped_has_the_equilibrium_of_the_fluid() -> None:
    # UDP without ECN beside TCP with it: p is that of the running fluid, and its drops are no marks.
    scenario = sj.load("arm_pfc/exp8", PUBLISHED)
    rest = sj.prove(scenario, "pi").equilibrium
    assert rest is not None
    assert rest["signal"] == "both"
    found = sj.run(scenario, qdiscs=["pi"], plants=["fluid"]).runs[0].metrics
    assert found["queue_mean_packets"] == pytest.approx(rest["backlog_packets"], rel=0.01)
    assert found["mark_ratio"] + found["drop_ratio"] == pytest.approx(rest["p"], rel=1e-5)
    assert "declares no transfer function" in str(sj.prove(scenario, "rem"))


#: Cases that took from twenty seconds to minutes.
FAR = [
    ({"bottleneck.rate": "1 bit/s"}, None, "unstable"),
    ({"flows[0].access": '{ rate = "1 Gbit/s", delay = "10 s" }'}, None, "stable"),
    ({"flows[0].access": '{ rate = "1 Gbit/s", delay = "100 s" }'}, None, "stable"),
    ({"flows[0].access": '{ rate = "1 Gbit/s", delay = "1000 s" }'}, None, "stable"),
    ({"bottleneck.buffer": "1000000 packets"}, "pi:target=500000packets", "stable"),
]


@pytest.mark.parametrize(("settings", "qdisc", "verdict"), FAR)
def test_a_plant_far_slower_than_its_period_has_a_quick_answer(settings, qdisc, verdict):
    found = sj.prove(sj.load("dumbbell", settings), qdisc)
    assert found.verdict == verdict
    assert found.loops[-1]["evaluations"] < 10_000
    assert None not in (found.margins["phase_margin_deg"], found.margins["crossover_rad_s"])
    if verdict == "stable":
        # The continuous loop is the same: a period is negligible there.
        assert found.margins["phase_margin_deg"] == pytest.approx(
            found.loop("linearised")["phase_margin_deg"], abs=1e-3
        )


def test_a_map_over_nine_decades_is_bounded():
    region = sj.prove(sj.load("dumbbell", PUBLISHED), "pi").region(rtt_s=("1us", "1000s"))
    shares = region.shares()
    assert shares["stable"] > 0.3
    assert 10_000_000 < region.evaluations <= region.most_evaluations == 40_000_000
    assert ("Evaluations ran out before" in region.filled_in()) == region.cut
    # Points without a count have a reason.
    assert 0 < shares["its share of the evaluations is spent"] < 0.15
    assert shares.get("not proven", 0.0) < 1e-3
    # An ordinary map has enough evaluations.
    region = sj.prove(sj.load("dumbbell"), "pi").region()
    assert region.evaluations < 5_000_000
    assert set(region.shares()) <= {"stable", "unstable", "no equilibrium: saturated at p = 1"}


def test_evaluations_that_run_out_are_the_reason():
    # Many classes with long and unlike round trips, their law at a millisecond.
    delays = [f"{100 + 37 * number} ms" for number in range(80)]
    ways = ", ".join(
        f'{{ name = "c{number}", count = 2, cc = "newreno", ecn = true, segment = "1000 B", '
        f'access = {{ rate = "1 Gbit/s", delay = "{delay}" }} }}'
        for number, delay in enumerate(delays)
    )
    settings = {"flows": f"[{ways}]", "at": "[]"}
    found = sj.prove(sj.load("dumbbell", PUBLISHED | settings), "cpc:period=1ms")
    assert found.verdict == "not proven"
    assert found.reason == "40000000 evaluations spent at its rightmost poles"
    assert max(one["evaluations"] for one in found.loops) == 40_000_000


def test_no_verdict_without_enough_evaluations():
    ways = ", ".join(
        f'{{ name = "c{number}", count = 2, cc = "newreno", ecn = true, segment = "1000 B", '
        f'access = {{ rate = "1 Gbit/s", delay = "{5 + 7 * number} ms" }} }}'
        for number in range(40)
    )
    found = sj.prove(sj.load("dumbbell", {"flows": f"[{ways}]", "at": "[]"}), "arm_pfc")
    assert found.loops[-1]["evaluations"] == 40_000_000
    assert found.verdict == found.loops[-1]["verdict"] == "not proven"
    assert re.fullmatch("40000000 evaluations spent at (its rightmost poles|its margins)", found.reason)
    assert set(found.margins.values()) == {None}
    assert found.reason in " ".join(words.notes(found))


def test_an_unstable_loop_lacks_whole_turns():
    far = {"flows[0].count": 1, "flows[0].access": '{ rate = "1 Gbit/s", delay = "300 ms" }', "at": "[]"}
    for law in ("fb_ocq:load=virtual", "red", "arm_pfc", "pie"):
        found = sj.prove(sj.load("dumbbell", PUBLISHED | far), law)
        loop = found.loops[-1]
        assert found.verdict == "unstable"
        lacking = found.margins["phase_margin_deg"]
        if loop["nyquist"]["open_poles"]:
            assert lacking is None
        elif len(loop["gain_crossovers"]) == 1:
            # Each turn of the phase at the crossover brings a pair of poles to the right.
            assert loop["nyquist"]["closed_poles"] == 2 * math.ceil(-lacking / 360)
    virtual = sj.prove(sj.load("dumbbell", PUBLISHED | far), "fb_ocq:load=virtual")
    assert virtual.margins["phase_margin_deg"] < -360


@pytest.mark.parametrize("rate", ["22 Mbit/s", "23 Mbit/s"])
def test_pie_between_marking_and_dropping_has_an_answer(rate):
    settings = {
        "flows[0].count": 80,
        "bottleneck.rate": rate,
        "flows[0].access": '{ rate = "1 Gbit/s", delay = "27.5 ms" }',
    }
    found = sj.prove(sj.load("dumbbell", PUBLISHED | settings), "pie")
    assert found.verdict == "not proven"
    assert found.reason.startswith(
        "the law marks below p = 0.05556 and drops from there on; the flows need p = "
    )


def test_a_destabilising_lead_is_given_beside_the_lag():
    settings = {"flows[0].count": 100, "flows[0].access": '{ rate = "1 Gbit/s", delay = "2 ms" }'}
    settings["flows[0].ecn"] = "false"
    law = "arm_pfc:target=100packets,least_window=1,delay=5,coincidence=10"
    found = sj.prove(sj.load("dumbbell", PUBLISHED | settings), law)
    angles = [at["phase_margin_deg"] for at in found.loops[-1]["gain_crossovers"]]
    assert len(angles) == 3
    assert min(angles) < -90
    assert found.margins["phase_margin_deg"] == pytest.approx(min(angle % 360 for angle in angles))
    assert found.margins["phase_lead_margin_deg"] == pytest.approx(min(-angle % 360 for angle in angles))
    assert " degrees of lag, " in str(found)
    assert any("degrees of lead destabilise it, too" in note for note in words.notes(found))


def test_weak_certificates_have_warnings(capsys):
    red = sj.prove(sj.load("dumbbell", PUBLISHED), "red").warnings
    assert "The gain margin of 1.344 is small: below 2 a change of load may make the loop unstable." in red
    assert any(
        "the gain of red is 6 times as large above 150 packets, 38.9 % above its equilibrium" in warning
        for warning in red
    )
    # RFC 8033 divides its steps by 8 below p = 0.01 and by 2 from there on.
    twenty = sj.load("dumbbell", PUBLISHED | {"flows[0].count": 20})
    pie = sj.prove(twenty, "pie:target=60ms,derandomize=false").warnings
    assert any("the gain of pie is 4 times as large above p = 0.01" in warning for warning in pie)
    assert not sj.prove(sj.load("dumbbell"), "pi").warnings
    shallow = sj.prove(sj.load("dumbbell"), "pi:target=10packets").warnings
    assert any("within the noise of an empty queue" in warning for warning in shallow)
    full = sj.prove(sj.load("dumbbell"), "pi:target=290packets").warnings
    assert any("within the noise of a full queue" in warning for warning in full)
    assert main(["prove", "dumbbell", "--set", "fluid_window=mgt", "--qdisc", "red"]) == 0
    assert "Warning: The gain margin of 1.344 is small" in capsys.readouterr().out


class Fixed(sj.Controller):
    """The same p always: signals are random, and the law ignores the queue."""

    period = "10 ms"
    p = 0.01

    def update(self, seen):  # noqa: ARG002
        return self.p


@pytest.mark.parametrize("flows", [20, 50, 100])
def test_the_noise_of_a_queue_is_that_of_packets(flows):
    capacity = 60.0 * flows
    settings = {
        "flows[0].count": flows,
        "flows[0].access": '{ rate = "1 Gbit/s", delay = "20 ms" }',
        "bottleneck.rate": f"{capacity * 8e3:.0f} bit/s",
        "bottleneck.delay": "20 ms",
        "bottleneck.buffer": "100000 packets",
        "at": "[]",
        "duration": "400 s",
        "warmup": "60 s",
    }
    runs = sj.run(
        sj.load("dumbbell", settings), type("Drawn", (Fixed,), {"p": 0.004})(), seeds=range(1, 5)
    ).runs
    ratios = []
    for run in runs:
        assert run.metrics["utilization"] > 0.999, "the queue never empties"
        window = run.metrics["queue_mean_packets"] / flows + 0.12 * 60.0
        ratios.append(run.metrics["queue_std_packets"] / (flows**0.5 * window))
    assert sum(ratios) / len(ratios) == pytest.approx(0.4072, rel=0.3), ratios


@pytest.mark.parametrize(
    ("qdiscs", "code", "line"),
    [
        (["pi"], 0, None),
        (["fb_ocq:load=virtual"], 1, "1 of 1 unstable"),
        (["tail_drop"], 4, "1 of 1 not proven (no model)"),
        (["pi_pd"], 4, "1 of 1 not proven"),
        (
            ["tail_drop", "pi", "pi_pd", "fb_ocq:load=virtual"],
            1,
            "1 of 4 unstable, 1 not proven, 1 not proven (no model)",
        ),
    ],
)
def test_unstable_and_not_proven_have_exit_codes_of_their_own(capsys, qdiscs, code, line):
    assert main(["prove", "dumbbell", *(word for qdisc in qdiscs for word in ("--qdisc", qdisc))]) == code
    output = capsys.readouterr()
    assert output.err == ("" if line is None else f"sojourn prove: {line}\n")
    assert "not stable" not in output.out
    assert ("no model: tail_drop declares no transfer function" in " ".join(output.out.split())) == (
        "tail_drop" in qdiscs
    )


def test_a_form_without_a_model_is_named() -> None:
    found = sj.prove(sj.load("fb_ocq/forty"), "fb_ocq:target=40packets,form=receding")
    assert found.verdict == "not proven"
    assert found.reason.startswith("no model: fb_ocq declares no transfer function with form = receding")
    assert " do" not in found.reason


def test_an_unproven_law_in_python_has_the_true_reason():
    class Aimless(Line):
        target_packets = None

    reason = network(Aimless()).reason
    assert reason.startswith(
        "no model: Aimless declares no `target_packets`, nor `steady_state_p` in its place"
    )

    class Steep(sj.Controller):
        period = "10 ms"
        target_packets = 172.5

        def reset(self):
            self.p = 0.0

        def update(self, seen):
            self.p = min(max(self.p + 0.15 * (seen.backlog_packets - self.target_packets), 0.0), 1.0)
            return self.p

        def linear(self, point):  # noqa: ARG002
            return [1.2e-4], [1, -1]

    with pytest.raises(sj.InputError, match=r"^Steep\.linear: declared slope 1.2e-4, measured 1.5e-1 "):
        network(Steep())


def test_a_law_in_python_need_not_have_a_model_off_its_equilibrium():
    class Near(Line):
        def linear(self, point):
            if not 0.8 * self.p0 < point.p < 1.3 * self.p0:
                raise ValueError("not designed there")
            return [self.a, -self.declared_b], [1.0, -1.0]

        p0 = 2 / 15.375**2

    found = network(Near())
    assert found.verdict == "stable"
    assert len(found.warnings) == 2
    assert all("Near declares no transfer function" in warning for warning in found.warnings)

    class Short(sj.Controller):
        period = "10 ms"

        def update(self, seen):
            return min(1.0, 2e-4 * seen.backlog_packets)

        def steady_state_p(self, backlog_packets):
            return min(1.0, 2e-4 * backlog_packets)

        def linear(self, point):
            if point.backlog_packets > 1.5 * self.backlog_packets:
                raise KeyboardInterrupt
            return [2e-4], [1]

    Short.backlog_packets = 1e9
    Short.backlog_packets = network(Short()).equilibrium["backlog_packets"]
    with pytest.raises(KeyboardInterrupt):
        network(Short())


def test_maps_of_checks_are_counted_at_an_interrupt():
    certificate = sj.prove(sj.load("dumbbell"), "pi")
    found = Proven(1, mapped=True, checked=True, certificates=[certificate], beside=[Beside()])
    assert found.progress == (
        "1 of 1 certificates, 0 of 1 maps, 0 of 1 checks and 0 of 1 maps of checks had finished"
    )
