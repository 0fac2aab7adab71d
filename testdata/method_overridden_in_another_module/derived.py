import numpy as np
from program import Base


class Derived(Base):
    def _host(self, x):
        return np.negative(x)
