import numpy as np
from program import A


class B(A):
    def host(self, x):
        return [np.negative(np.asarray(x))]
