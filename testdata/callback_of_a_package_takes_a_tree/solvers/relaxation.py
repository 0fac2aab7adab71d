import numpy as np

STEPS = 3


def relax(state, rate):
    """Returns the positions and velocities after a few damped steps."""
    position = np.asarray(state["position"], np.float32)
    velocity = np.asarray(state["velocity"], np.float32)
    for _ in range(STEPS):
        position = position + velocity
        velocity = velocity * np.float32(rate)
    return {"position": position, "velocity": velocity}
