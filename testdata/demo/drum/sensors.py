"""A microphone that lives on the host, and what is read off its recordings."""

import jax
import numpy as np

from drum.hosting import on_host


class Microphone:
    def __init__(self, gain, threshold):
        self.gain = gain
        self.threshold = threshold

    def _clip(self, signal):
        signal = np.asarray(signal) * np.float32(self.gain)
        if self.threshold is None:
            return signal
        return np.clip(signal, -self.threshold, self.threshold)

    def record(self, signal):
        """What the microphone makes of a signal, for each sample."""
        return jax.pure_callback(
            callback=self._clip,
            result_shape_dtypes=jax.ShapeDtypeStruct(signal.shape, signal.dtype),
            signal=signal,
            vmap_method="expand_dims",
        )


def _spectrum(signal):
    return {
        "peak": np.argmax(np.abs(np.fft.rfft(signal))).astype(np.int32),
        "power": np.mean(np.square(signal), dtype=np.float32),
    }


def spectrum(signal):
    """The strongest frequency's index, and the mean power."""
    spec = {"peak": jax.ShapeDtypeStruct((), np.int32), "power": jax.ShapeDtypeStruct((), np.float32)}
    return on_host(_spectrum, spec, signal)
