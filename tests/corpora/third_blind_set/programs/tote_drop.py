"""Parcels dropped into a tote with randomised contact properties, in MuJoCo."""

import mujoco
import numpy as np

PARCELS = {"book": 0.05, "mug": 0.04, "brick": 0.06, "plush": 0.07, "tin": 0.045}
STEPS = 12


def scene():
    bodies = []
    for place, (name, size) in enumerate(PARCELS.items()):
        bodies.append(
            f'<body name="{name}" pos="{0.3 * place - 0.6:.2f} 0 {0.9 + 0.1 * place:.2f}" euler="12 {7 * place} 0">'
            f'<freejoint/><geom name="{name}" type="box" size="{size} {size} {size}" mass="{0.4 + size:.3f}"/></body>'
        )
    return (
        '<mujoco><option timestep="0.004"/><worldbody>'
        '<geom name="floor" type="plane" size="4 4 0.1" euler="0 9 0"/>' + "".join(bodies) + "</worldbody></mujoco>"
    )


class Randomiser:
    """Draws contact properties anew for everything that takes part."""

    def __init__(self, model, rng):
        self.model, self.rng = model, rng
        self.rigid = {name for name in PARCELS if name != "plush"}

    def surfaces(self):
        for name in self.rigid:
            geom = self.model.geom(name)
            geom.friction[0] = self.rng.uniform(0.2, 1.2)
            geom.solref[0] = self.rng.uniform(0.01, 0.03)

    def masses(self):
        for name in sorted(PARCELS):
            body = self.model.body(name)
            scale = self.rng.uniform(0.9, 1.1)
            body.mass[0] *= scale
            body.inertia[:] *= scale


class Drop:
    """The simulation: what lies where, and how often things touched."""

    def __init__(self, model):
        self.model = model
        self.data = mujoco.MjData(model)
        self.touches = 0

    def forward(self, gust):
        self.data.qfrc_applied[0::6] = gust
        for _ in range(STEPS):
            mujoco.mj_step(self.model, self.data)
            self.touches += self.data.ncon

    def state(self):
        return {
            "qpos": self.data.qpos.copy(),
            "qvel": self.data.qvel.copy(),
            "warm": self.data.qacc_warmstart.copy(),
            "time": float(self.data.time),
            "touches": self.touches,
        }

    def restore(self, state):
        self.data.qpos[:], self.data.qvel[:] = state["qpos"], state["qvel"]
        self.data.qacc_warmstart[:] = state["warm"]
        self.data.time, self.touches = state["time"], state["touches"]
        mujoco.mj_forward(self.model, self.data)


class Inspector:
    """Counts parcels that have come to rest on the floor."""

    def __init__(self):
        self.resting, self.lowest = 0, 9.0

    def look(self, data):
        heights = {name: float(data.body(name).xpos[2]) for name in PARCELS}
        still = {name for name, z in heights.items() if z < PARCELS[name] * 1.4}
        self.resting = len(still)
        self.lowest = min(self.lowest, min(heights.values()))

    def state(self):
        return {"resting": self.resting, "lowest": round(self.lowest, 9)}

    def restore(self, state):
        self.resting, self.lowest = state["resting"], state["lowest"]


def main(run):
    model = mujoco.MjModel.from_xml_string(scene())
    randomiser = Randomiser(model, run.rng("domain"))
    randomiser.masses()
    randomiser.surfaces()
    drop = run.track("drop", Drop(model))
    inspector = run.track("inspector", Inspector())
    wind = run.rng("wind")
    for tick in run.ticks(30):
        drop.forward(0.02 * wind.standard_normal())
        inspector.look(drop.data)
