"""A simulation is continued from positions and velocities only: the activations are lost."""

import mujoco
import numpy as np

ARM = """<mujoco><option timestep="0.005"/><worldbody><body pos="0 0 1"><joint name="j" axis="0 1 0"/>
<geom type="capsule" size=".04" fromto="0 0 0 .4 0 0"/></body></worldbody>
<actuator><general joint="j" dyntype="filter" dynprm=".3" gainprm="5"/></actuator></mujoco>"""

model = mujoco.MjModel.from_xml_string(ARM)
whole = mujoco.MjData(model)
rng = np.random.default_rng(0)
for control in rng.uniform(-1, 1, 100):
    whole.ctrl[0] = control
    mujoco.mj_step(model, whole)
restored = mujoco.MjData(model)
restored.qpos[:], restored.qvel[:] = whole.qpos, whole.qvel
for control in rng.uniform(-1, 1, 100):
    for data in (whole, restored):
        data.ctrl[0] = control
        mujoco.mj_step(model, data)
print("equal", bool(np.array_equal(whole.qpos, restored.qpos)))
