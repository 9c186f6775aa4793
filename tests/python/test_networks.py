"""Networks in pictures and in sentences."""

import itertools
import json

import matplotlib
import pytest
from matplotlib.figure import Figure

import sojourn as sj
from sojourn.plot import graph, layout, mesh, network
from sojourn.report import setting

HEAD = 'title = "A network"\nduration = "2 s"\n'
LINE = 'rate = "10 Mbit/s"\ndelay = "5 ms"\nbuffer = "50 packets"\nqdisc = "red"\n'
LOT = f"""
[parking_lot]
{LINE}
[[flows]]
name = "long"
count = 3
[[flows]]
name = "back"
from = "r4"
to = "r1"
"""
HOME = """
[home]
up = { rate = "2 Mbit/s", delay = "5 ms", buffer = "50 packets" }
down = { rate = "20 Mbit/s", delay = "5 ms", qdisc = "codel" }
[[flows]]
name = "get"
from = "isp"
to = "lan"
"""


def link(start, end, more=""):
    return f'[[links]]\nfrom = "{start}"\nto = "{end}"\nrate = "1 Mbit/s"\ndelay = "1 ms"\n{more}\n'


@pytest.fixture
def scenario(tmp_path):
    """A scenario as the report reads it."""

    def resolved(text):
        (tmp_path / "network.toml").write_text(HEAD + text)
        return json.loads(sj.load(tmp_path / "network.toml").to_json())

    return resolved


def drawn(scenario, width=5.9):
    """Picture of a network of this width, inches."""
    figure = Figure(figsize=(width, network.height_in(scenario, width)))
    return network.draw(figure.add_axes((0, 0, 1, 1)), scenario)


def texts_of(ax):
    return {text.get_text() for text in ax.texts}


def test_a_chain_is_a_line(scenario):
    places, _ = layout.places(graph.of(scenario(LOT)))
    assert places == {f"r{number + 1}": (number, 0.0) for number in range(5)}
    texts = texts_of(drawn(scenario(LOT)))
    assert {"r1", "r5", "10 Mbit/s, 5 ms", "3 × long (newreno)", "1 × back (newreno)"} <= texts


def test_senders_are_left_of_their_receivers(scenario):
    text = f'[two_bottlenecks]\n{LINE}[[flows]]\n[[flows]]\nfrom = "r5"\nto = "r6"\n'
    places, _ = layout.places(graph.of(scenario(text)))
    columns = {node: column for node, (column, _) in places.items()}
    assert columns == {"r1": 0, "r5": 0, "r2": 1, "r3": 2, "r4": 3, "r6": 3}
    heights = {node: height for node, (_, height) in places.items()}
    assert (heights["r1"], heights["r2"], heights["r5"]) == (0.5, 0.0, -0.5)


def test_both_rates_are_shown(scenario):
    assert {"← 2 Mbit/s, 5 ms", "→ 20 Mbit/s, 5 ms", "lan", "modem", "isp"} <= texts_of(drawn(scenario(HOME)))


SLOW = '[bottleneck]\nrate = "10 Mbit/s"\ndelay = "5 ms"\nbuffer = "50 packets"\n'


def test_a_dumbbell_with_data_both_ways_is_a_graph(scenario):
    rrul = scenario(f'{SLOW}[[flows]]\napp = "rrul"\n')
    assert not graph.is_plain(rrul)
    ways = {one.label: one.steps for one in graph.of(rrul).classes}
    assert ways["4 × rrul-up (newreno)"] == (("left", "right"),)
    assert ways["4 × rrul-down (newreno)"] == (("right", "left"),)
    assert len(ways) == 6
    assert {"left", "right", *ways} <= texts_of(drawn(rrul))
    sentences = setting.sentences(rrul)
    assert (
        "rrul-down: 4 long flows (newreno, without ECN, packets of 1500 B) from right to left." in sentences
    )
    # A queue on the way back is drawn, even without data.
    back = 'back = { buffer = "20 packets", qdisc = "codel" }\n'
    queues = graph.of(scenario(f"{SLOW}{back}[[flows]]\n")).edges[0]
    assert queues.there.queue
    assert queues.back.queue


def test_a_plain_dumbbell_names_its_classes(scenario):
    mice = '[[flows]]\napp = "mice"\narrivals = { poisson = "50 ms" }\n'
    plain = scenario(f'{SLOW}[[flows]]\nname = "long"\ncount = 3\n{mice}')
    assert graph.is_plain(plain)
    assert {"3 × long (newreno)", "at most 10000 receivers"} <= texts_of(drawn(plain))
    assert any(text.startswith("at most 10000 × mice") for text in texts_of(drawn(plain)))


def test_a_ring_has_both_of_its_ways(scenario):
    pairs = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    links = "".join(link(*pair, 'qdisc = "pi"' if pair == ("a", "b") else "") for pair in pairs)
    ring = graph.of(scenario(f'{links}[[flows]]\nfrom = "a"\nto = "c"\n'))
    places, bends = layout.places(ring)
    assert places == {"a": (0, 0.0), "b": (1, 0.0), "c": (2, 0.0), "d": (1, -1.0)}
    assert bends == {}


TRIANGLES = f"""
[[links]]
from = "core"
to = "a"
{LINE}back = {{ rate = "8 Mbit/s", delay = "9 ms", qdisc = "red" }}
[[links]]
from = "core"
to = "b"
{LINE}
[[links]]
from = "a"
to = "b"
{LINE}back = {{ rate = "5 Mbit/s", buffer = "50 packets", qdisc = "pi" }}
{link("a", "leaf", "one_way = true")}
{link("leaf", "core", "one_way = true")}
[[flows]]
name = "down"
from = "core"
to = "leaf"
[[flows]]
name = "detour"
from = "core"
to = "b"
route = ["core", "a", "b"]
back = ["b", "core"]
[[flows]]
name = "up"
from = "a"
to = "core"
"""


def test_nothing_covers_another_in_a_graph_with_triangles(scenario):
    triangles = scenario(TRIANGLES)
    _, bends = layout.places(graph.of(triangles))
    assert set(bends) == {("core", "b"), ("leaf", "core")}, "those that pass the column of a"
    ax = drawn(triangles, 9.0)
    ax.figure.draw_without_rendering()
    queues = [patch for patch in ax.patches if patch.get_zorder() == 3 and patch.get_width() == mesh.QUEUE]
    assert len(queues) == 5
    # A box may touch the next.
    boxes = [one.get_window_extent().padded(-1) for one in (*ax.texts, *queues)]
    assert len(boxes) > 12
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_a_link_with_a_trace_names_it(scenario, tmp_path):
    (tmp_path / "cell.trace").write_text("1\n2\n")
    ends = 'from = "a"\nto = "b"\n'
    cell = f"""
[[links]]
{ends}delay = "9 ms"
qdisc = "red"
buffer = "9 packets"
trace = {{ file = "cell.trace" }}
back = {{ trace = {{ lte = {{ mean = "12 Mbit/s" }} }} }}
"""
    texts = texts_of(drawn(scenario(f"{cell}[[flows]]\n{ends}")))
    assert {"→ cell.trace, 9 ms", "← lte 12 Mbit/s, 9 ms"} <= texts


def test_a_sender_against_the_stream_is_at_its_end(scenario):
    pairs = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("x", "c")]
    links = "".join(link(*pair, 'qdisc = "pi"' if pair == ("b", "c") else "") for pair in pairs)
    flows = "".join(f'[[flows]]\nfrom = "{start}"\nto = "{end}"\n' for start, end in ("ae", "xa"))
    places, _ = layout.places(graph.of(scenario(links + flows)))
    columns = {node: column for node, (column, _) in places.items()}
    assert columns == {"a": 0, "b": 1, "c": 2, "d": 3, "x": 3, "e": 4}


def test_a_large_network_is_drawn_where_its_queues_are(scenario):
    links = "".join(link(f"n{n}", f"n{n + 1}", 'qdisc = "red"' if n == 500 else "") for n in range(1000))
    flows = "".join(f'[[flows]]\nfrom = "n{n}"\nto = "n{n + 900}"\n' for n in range(100))
    large = scenario(links + flows)
    shown = graph.of(large)
    assert {"n500", "n501"} < set(shown.nodes)
    assert len(shown.nodes) == graph.KEPT
    assert shown.note == "14 of 1001 nodes: queues and what is next to them; 6 of 100 classes"
    assert network.height_in(large, 5.9) < 6
    sentences = " ".join(setting.sentences(large))
    assert (
        "A network of 1001 nodes with 1000 links between them; packets wait at n500-n501 (1 Mbit/s"
        in sentences
    )
    assert "from n0 to n900 over 900 links." in sentences
    assert "There are 94 more classes." in sentences
    assert len(sentences) < 2000


@pytest.mark.parametrize("width", [3.0, 5.9, 12.0])
@pytest.mark.parametrize("size", range(2, 9))
def test_texts_stay_in_the_picture(scenario, size, width):
    pairs = [(n, (n * 3) % size if (n * 3) % size != n else (n + 1) % size) for n in range(size)]
    pairs += [(n, n + 1) for n in range(size - 1)]
    pairs = {frozenset(pair): pair for pair in pairs}.values()
    links = "".join(link(f"n{a}", f"n{b}", 'qdisc = "red"' if a % 2 == 0 else "") for a, b in pairs)
    ax = drawn(scenario(f'{links}[[flows]]\nfrom = "n0"\nto = "n{size - 1}"\n'), width)
    ax.figure.draw_without_rendering()
    inside = ax.get_window_extent().padded(2)
    for text in filter(lambda text: text.get_text(), ax.texts):
        box = text.get_window_extent()
        assert inside.x0 <= box.x0 < box.x1 <= inside.x1, text
        assert inside.y0 <= box.y0 < box.y1 <= inside.y1, text
    # No two nodes overlap.
    nodes = [patch.get_window_extent() for patch in ax.patches if patch.get_zorder() == 4]
    assert len(nodes) == size
    assert not any(one.overlaps(other) for one, other in itertools.combinations(nodes, 2))


def test_a_picture_is_the_same_each_time(scenario, tmp_path):
    one = scenario(LOT)
    with matplotlib.rc_context({"svg.hashsalt": "network"}):
        for name in ("first.svg", "second.svg"):
            drawn(one).figure.savefig(tmp_path / name, metadata={"Date": None})
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()


def test_the_setting_describes_any_network(scenario):
    sentences = setting.sentences(scenario(HOME))
    assert sentences == [
        "A network of 3 nodes with 3 links between them; packets wait at up (2 Mbit/s, 5 ms one way, "
        "a buffer of 50 packets) and down (20 Mbit/s, 5 ms one way).",
        "get: 1 long flow (newreno, without ECN, packets of 1500 B) from isp to lan over modem.",
        "The run lasts 2 s.",
    ]


def test_the_setting_lists_keys_without_wording():
    links = [
        {
            "name": "a-b",
            "from": "a",
            "to": "b",
            "trace": {"lte": {"mean": "12 Mbit/s"}},
            "qdisc": {"law": "red"},
            "impairments": {"loss": 0.01},
            "framing": "ethernet",
        }
    ]
    flows = [
        {
            "name": "pages",
            "count": 2,
            "app": {"web": {"size": {"pareto": "10 kB", "shape": 1.2}}},
            "cc": "cubic",
            "arrivals": {"poisson": "50 ms"},
            "route": ["a", "b"],
            "back": ["b", "a"],
        }
    ]
    changes = [{"time": "1 s", "every": "2 s", "until": "9 s", "set": {"pages.count": 4}}]
    assert setting.sentences({"links": links, "flows": flows, "at": changes}) == [
        "A network of 2 nodes with 1 link between them; packets wait at a-b (trace lte "
        "mean 12 Mbit/s, impairments loss 0.01, framing ethernet).",
        "pages: at most 2 web flows (cubic, size pareto 10 kB, shape 1.2, arrivals poisson 50 ms, "
        "without ECN) from a to b.",
        "At 1 s and every 2 s from then on until 9 s, pages.count becomes 4.",
    ]


def test_a_scenario_shows_its_title():
    assert repr(sj.load("dumbbell")) == f'<Scenario "{sj.load("dumbbell").title}">'
