"""Stability of PI on a link, redrawn as its sliders move: `marimo run stability.py`."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")


@app.cell
def _():
    import marimo as mo
    import matplotlib.figure as mpl

    import sojourn as sj

    return mo, mpl, sj


@app.cell
def _(mo):
    mo.md("""
    # Is this link stable?

    N flows of NewReno share a link of 10 Mbit/s, whose queue PI holds at 100 packets. The margins are those
    of the linearised loop, with its exact delay and with p held between samples.
    """)


@app.cell
def _(mo):
    flows = mo.ui.slider(5, 150, 5, value=50, label="flows N", show_value=True)
    rtt = mo.ui.slider(50, 500, 10, value=200, label="base RTT, ms", show_value=True)
    gain = mo.ui.slider(
        steps=[1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 2.4e-4, 5e-4, 1e-3, 2e-3],
        value=2.4e-4,
        label="gain a, 1/packet",
        show_value=True,
    )
    ratio = mo.ui.slider(
        steps=[0.98, 0.99, 0.993, 0.995, 0.998, 0.999], value=0.993, label="ratio b/a", show_value=True
    )
    mo.hstack([mo.vstack([flows, rtt]), mo.vstack([gain, ratio])], justify="start", gap=4)
    return flows, gain, ratio, rtt


@app.cell
def _(flows, gain, ratio, rtt, sj):
    # Each way has 20 ms on the link, and an access link at either end.
    changes = {
        "flows[0].count": flows.value,
        "flows[0].access.delay": f"{(rtt.value - 40) / 4:g} ms",
    }
    law = sj.laws.Pi(target="100 packets", a=gain.value, b=gain.value * ratio.value)
    try:
        certificate = sj.prove(sj.load("dumbbell", changes), law)
        refused = None
    except sj.InputError as error:
        certificate, refused = None, str(error)
    return certificate, refused


@app.cell
def _(certificate, mo, refused):
    mo.md(f"**No verdict:** {refused}") if certificate is None else certificate


@app.cell
def _(certificate, mo, mpl, refused):
    mo.stop(refused is not None)
    figure = mpl.Figure(figsize=(10, 4.4))
    left, right = figure.subplots(1, 2, gridspec_kw={"top": 0.8})
    certificate.plot.nyquist(ax=left)
    certificate.plot.step(ax=right)
    for ax in (left, right):
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False, fontsize=8)
    figure
    return


if __name__ == "__main__":
    app.run()
