"""An arm of three joints in MuJoCo that is pushed about; each actuator has its own noise."""

import mujoco
import numpy as np

XML = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <body pos="0 0 1"><joint name="shoulder" type="hinge" axis="0 1 0" damping="0.4"/>
      <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.04" mass="1"/>
      <body pos="0.4 0 0"><joint name="elbow" type="hinge" axis="0 1 0" damping="0.3"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="0.6"/>
        <body pos="0.3 0 0"><joint name="wrist" type="hinge" axis="0 1 0" damping="0.2"/>
          <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.02" mass="0.3"/></body></body></body>
  </worldbody>
  <actuator>
    <motor name="m_shoulder" joint="shoulder" gear="3"/><motor name="m_elbow" joint="elbow" gear="2"/>
    <motor name="m_wrist" joint="wrist" gear="1"/>
  </actuator>
</mujoco>
"""


class Arm:
    def __init__(self):
        self.model = mujoco.MjModel.from_xml_string(XML)
        self.data = mujoco.MjData(self.model)
        self.motors = {self.model.actuator(k).name: k for k in range(self.model.nu)}  # innocent

    def command(self, target, gain):
        for name, k in self.motors.items():  # innocent
            self.data.ctrl[k] = gain * (target[k] - self.data.qpos[k])

    def disturb(self, names, rng):
        """Noise for those motors that are said to be worn."""
        for name in names:  # guilty
            self.data.ctrl[self.motors[name]] += rng.normal(0.0, 0.5)

    def step(self, count):
        for _ in range(count):
            mujoco.mj_step(self.model, self.data)

    def state(self):
        return {"qpos": self.data.qpos.copy(), "qvel": self.data.qvel.copy(), "time": float(self.data.time)}

    def restore(self, state):
        self.data.qpos[:], self.data.qvel[:] = state["qpos"], state["qvel"]
        self.data.time = state["time"]
        mujoco.mj_forward(self.model, self.data)


class Wear:
    """Motors that have moved enough are worn."""

    def __init__(self, motors):
        self.moved = dict.fromkeys(motors, 0.0)

    def add(self, speeds):
        for name, speed in zip(self.moved, speeds):
            self.moved[name] += abs(float(speed))

    def worn(self, limit):
        return {name for name, moved in self.moved.items() if moved > limit}


def main(run):
    arm = run.track("arm", Arm())
    wear = run.track("wear", Wear(sorted(arm.motors)))  # innocent
    noise, targets = run.rng("noise"), run.rng("targets")
    target = np.zeros(3)
    for tick in run.ticks(40):
        if tick % 8 == 0:
            target = targets.uniform(-1.0, 1.0, size=3)
        arm.command(target, 2.0)
        arm.disturb(wear.worn(6.0), noise)
        arm.step(10)
        wear.add(arm.data.qvel)
