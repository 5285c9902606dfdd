"""A pendulum on a cart in MuJoCo, driven by noise, with a checkpoint in the middle."""

import os

import mujoco
import numpy as np

XML = """
<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body name="box" pos="0 0 .6">
      <freejoint/>
      <geom type="box" size=".2 .15 .1" mass="1"/>
      <body name="arm" pos=".2 0 0">
        <joint name="elbow" type="hinge" axis="0 1 0" damping=".1"/>
        <geom type="capsule" fromto="0 0 0 .4 0 0" size=".05" mass=".4"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="elbow" gear="2"/></actuator>
</mujoco>
"""


class Rig:
    def __init__(self, rng):
        self.model = mujoco.MjModel.from_xml_string(XML)
        self.data = mujoco.MjData(self.model)
        self.rng = rng
        self.torque = 0.0
        self.work = 0.0

    def control(self):
        self.torque = float(0.8 * self.torque + 0.6 * self.rng.standard_normal())
        self.data.ctrl[0] = self.torque

    def advance(self, steps=5):
        for _ in range(steps):
            mujoco.mj_step(self.model, self.data)
        self.work += abs(self.torque * float(self.data.qvel[-1]))

    def save(self):
        """Positions and velocities are all there is to a mechanical system."""
        return {"time": self.data.time, "qpos": self.data.qpos.copy(), "qvel": self.data.qvel.copy()}

    def load(self, saved):
        fresh = mujoco.MjData(self.model)
        fresh.time = saved["time"]
        fresh.qpos[:] = saved["qpos"]
        fresh.qvel[:] = saved["qvel"]
        self.data = fresh

    def state(self):
        return {"height": float(self.data.qpos[2]), "work": self.work, "qpos": self.data.qpos.copy()}

    def restore(self, state):
        self.work = state["work"]
        self.data.qpos[:] = state["qpos"]


def resume_at():
    text = os.environ.get("RESUME_AT", "")
    return int(text) if text else None


def main(run):
    rig = run.track("rig", Rig(run.rng("torque")))
    moment = resume_at()
    for tick in run.ticks(80):
        if tick == moment:
            rig.load(rig.save())
        rig.control()
        rig.advance()
