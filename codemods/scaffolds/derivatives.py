"""The derivatives of host functions: a table from NumPy's and SciPy's functions to JAX expressions.

Most have a twin in JAX, which JAX differentiates itself. The others have a slope for each argument, whose
text may call further host functions. Decompositions that are unique but for a sign (`eigh`, `svd`, `qr`) have
none: the twin may choose the other sign, and with it the other gradient.
"""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Mapping
from typing import Final

HOST: Final = re.compile(r"\{host:([\w.]+)\}\(([^()]*)\)")


@dataclasses.dataclass(frozen=True, slots=True)
class Twin:
    """A function of JAX with the same arguments and results.

    Attributes:
      origin: its dotted name.
      arrays: how many of its positional arguments are arrays; those behind are constants.
      leading: how many constants are in front of them.
      takes_list: whether the first argument is a list of arrays.
      results: what the elements of the tuple that it gives are called; none for one array.
    """

    origin: str
    arrays: int = 1
    leading: int = 0
    takes_list: bool = False
    results: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether it takes arrays in front and gives one."""
        return not (self.leading or self.takes_list or self.results)


@dataclasses.dataclass(frozen=True, slots=True)
class Formula:
    """An expression with the same value and derivative, of one argument.

    Attributes:
      text: the expression; `{0}` stands for the argument, and `{jnp}` for `jax.numpy`.
    """

    text: str


@dataclasses.dataclass(frozen=True, slots=True)
class Slopes:
    """The partial derivatives of an elementwise function of real arguments.

    Attributes:
      texts: one expression an argument, None where the argument has no derivative. `{0}`, `{1}` stand for the
        arguments, `{result}` for the result, `{jnp}` for `jax.numpy`, `{jax:jax.scipy.special.digamma}` for
        a function of JAX, and `{host:scipy.special.j1}(…)` for a call of a host function whose result has the
        shape and dtype of the result. What that is called with has no brackets.
    """

    texts: tuple[str | None, ...]


Known = Twin | Formula | Slopes


def _twins(host: str, jax: str, names: str, arrays: int = 1, *, takes_list: bool = False) -> dict[str, Known]:
    return {f"{host}.{name}": Twin(f"{jax}.{name}", arrays, takes_list=takes_list) for name in names.split()}


_SQRT_PI: Final = "1.7724538509055159"
# The derivatives of Bessel functions are made of those of the orders below and above.
_BESSEL: Final = (
    "({{host:scipy.special.{0}}}({{0}} - 1, {{1}}) {1} {{host:scipy.special.{0}}}({{0}} + 1, {{1}})) / 2"
)
_FFTS: Final = (
    "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn fftshift ifftshift"
)
_ERF: Final = "{jax:jax.scipy.special.erf}"
# The logarithm of the density of which `betainc` is the integral; X stands for its last argument.
_BETA_DENSITY: Final = (
    "{jax:jax.scipy.special.xlogy}({0} - 1, X) + {jax:jax.scipy.special.xlog1py}({1} - 1, -X) "
    "- {jax:jax.scipy.special.betaln}({0}, {1})"
)
# Of a symmetric matrix the host functions read one half, and so only that half has a derivative.
_FROM_LOWER: Final = "{jnp}.tril({0}) + {jnp}.tril({0}, -1).mT.conj()"
_FROM_UPPER: Final = "{jnp}.triu({0}) + {jnp}.triu({0}, 1).mT.conj()"

_TABLE: Final[dict[str, Known]] = {
    # Ufuncs of NumPy, those without a derivative left out.
    **_twins(
        "numpy",
        "jax.numpy",
        "abs absolute arccos arccosh arcsin arcsinh arctan arctanh cbrt cos cosh deg2rad degrees exp exp2 "
        "expm1 fabs log log10 log1p log2 negative positive rad2deg radians reciprocal sin sinh sqrt square "
        "tan tanh",
    ),
    **_twins(
        "numpy",
        "jax.numpy",
        "add arctan2 divide float_power fmax fmin hypot logaddexp logaddexp2 maximum minimum multiply power "
        "subtract true_divide",
        arrays=2,
    ),
    **_twins("numpy", "jax.numpy", "acos acosh asin asinh atan atanh conj conjugate"),
    **_twins("numpy", "jax.numpy", "atan2 copysign fmod mod pow remainder", arrays=2),
    # Its other functions.
    **_twins("numpy", "jax.numpy", "sinc i0 trace sum mean prod cumsum cumprod max min amax amin ptp"),
    **_twins("numpy", "jax.numpy", "std var median quantile percentile sort diff ediff1d nan_to_num cov"),
    **_twins("numpy", "jax.numpy", "nansum nanprod nancumsum nancumprod nanmean nanmax nanmin"),
    **_twins(
        "numpy", "jax.numpy", "ravel reshape transpose swapaxes moveaxis squeeze expand_dims flip fliplr"
    ),
    **_twins("numpy", "jax.numpy", "flipud rot90 roll tile repeat broadcast_to pad diag diagonal tril triu"),
    **_twins("numpy", "jax.numpy", "matmul dot vdot inner outer cross kron vecdot tensordot", arrays=2),
    **_twins("numpy", "jax.numpy", "convolve correlate polyval trapezoid", arrays=2),
    **_twins("numpy", "jax.numpy", "interp clip", arrays=3),
    **_twins("numpy", "jax.numpy", "concatenate stack hstack vstack dstack column_stack", takes_list=True),
    "numpy.einsum": Twin("jax.numpy.einsum", arrays=32, leading=1),
    **_twins("numpy.fft", "jax.numpy.fft", _FFTS),
    **_twins("numpy.linalg", "jax.numpy.linalg", "det inv norm pinv matrix_power svdvals"),
    "numpy.linalg.multi_dot": Twin("jax.numpy.linalg.multi_dot", takes_list=True),
    "numpy.linalg.slogdet": Twin("jax.numpy.linalg.slogdet", results=("sign", "logabsdet")),
    "numpy.linalg.solve": Twin("jax.numpy.linalg.solve", arrays=2),
    "numpy.linalg.cholesky": Formula(f"{{jnp}}.linalg.cholesky({_FROM_LOWER})"),
    "numpy.linalg.eigvalsh": Formula(f"{{jnp}}.linalg.eigvalsh({_FROM_LOWER})"),
    # Special functions that JAX has as well.
    **_twins(
        "scipy.special",
        "jax.scipy.special",
        "digamma entr erf erfc erfinv expi expit gamma gammaln i0 i0e i1 i1e log_ndtr logit logsumexp ndtr "
        "ndtri softmax log_softmax",
    ),
    **_twins(
        "scipy.special",
        "jax.scipy.special",
        "betaln gammainc gammaincc kl_div poch rel_entr xlog1py xlogy",
        arrays=2,
    ),
    **_twins("scipy.special", "jax.scipy.special", "spence factorial"),
    "scipy.special.zeta": Twin("jax.scipy.special.zeta", arrays=2),
    "scipy.special.polygamma": Twin("jax.scipy.special.polygamma", leading=1),
    "scipy.special.multigammaln": Twin("jax.scipy.special.multigammaln"),
    "scipy.special.loggamma": Twin("jax.scipy.special.gammaln"),
    "scipy.special.log_expit": Twin("jax.nn.log_sigmoid"),
    "scipy.special.psi": Twin("jax.scipy.special.digamma"),
    "scipy.special.log1p": Twin("jax.numpy.log1p"),
    "scipy.special.expm1": Twin("jax.numpy.expm1"),
    "scipy.special.exp2": Twin("jax.numpy.exp2"),
    "scipy.special.cbrt": Twin("jax.numpy.cbrt"),
    # Special functions that it has not.
    "scipy.special.j0": Slopes(("-{host:scipy.special.j1}({0})",)),
    "scipy.special.j1": Slopes(
        ("{host:scipy.special.j0}({0}) - {jnp}.where({0} == 0, 0.5, {result} / {0})",)
    ),
    "scipy.special.y0": Slopes(("-{host:scipy.special.y1}({0})",)),
    "scipy.special.y1": Slopes(("{host:scipy.special.y0}({0}) - {result} / {0}",)),
    "scipy.special.k0": Slopes(("-{host:scipy.special.k1}({0})",)),
    "scipy.special.k1": Slopes(("-{host:scipy.special.k0}({0}) - {result} / {0}",)),
    "scipy.special.jv": Slopes((None, _BESSEL.format("jv", "-"))),
    "scipy.special.jn": Slopes((None, _BESSEL.format("jv", "-"))),
    "scipy.special.yv": Slopes((None, _BESSEL.format("yv", "-"))),
    "scipy.special.iv": Slopes((None, _BESSEL.format("iv", "+"))),
    "scipy.special.kv": Slopes((None, "-" + _BESSEL.format("kv", "+"))),
    "scipy.special.kn": Slopes((None, "-" + _BESSEL.format("kv", "+"))),
    "scipy.special.k0e": Slopes(("{result} - {host:scipy.special.k1e}({0})",)),
    "scipy.special.k1e": Slopes(("{result} - {host:scipy.special.k0e}({0}) - {result} / {0}",)),
    "scipy.special.dawsn": Slopes(("1 - 2 * {0} * {result}",)),
    "scipy.special.erfcx": Slopes((f"2 * {{0}} * {{result}} - 2 / {_SQRT_PI}",)),
    "scipy.special.erfcinv": Slopes((f"-{_SQRT_PI} / 2 * {{jnp}}.exp({{result}} ** 2)",)),
    "scipy.special.erfi": Slopes((f"2 / {_SQRT_PI} * {{jnp}}.exp({{0}} ** 2)",)),
    # By the hypergeometric function, since a quotient of elliptic integrals is 0 / 0 at 0; with pi / 8.
    "scipy.special.ellipk": Slopes(("0.39269908169872414 * {host:scipy.special.hyp2f1}(1.5, 1.5, 2, {0})",)),
    "scipy.special.ellipe": Slopes(("-0.39269908169872414 * {host:scipy.special.hyp2f1}(0.5, 1.5, 2, {0})",)),
    "scipy.special.ellipkm1": Slopes(("-{host:scipy.special.elliprd}(0, 1, {0}) / 6",)),
    "scipy.special.ellipkinc": Slopes(("1 / {jnp}.sqrt(1 - {1} * {jnp}.sin({0}) ** 2)", None)),
    "scipy.special.ellipeinc": Slopes(("{jnp}.sqrt(1 - {1} * {jnp}.sin({0}) ** 2)", None)),
    "scipy.special.exp1": Slopes(("-{jnp}.exp(-{0}) / {0}",)),
    "scipy.special.exprel": Slopes(("{host:scipy.special.hyp1f1}(2, 3, {0}) / 2",)),
    "scipy.special.expn": Slopes((None, "-{host:scipy.special.expn}({0} - 1, {1})")),
    "scipy.special.exp10": Slopes(("2.302585092994046 * {result}",)),
    "scipy.special.cosm1": Slopes(("-{jnp}.sin({0})",)),
    "scipy.special.wrightomega": Slopes(("{result} / (1 + {result})",)),
    "scipy.special.boxcox": Slopes(("{0} ** ({1} - 1)", None)),
    "scipy.special.hyp0f1": Slopes((None, "{host:scipy.special.hyp0f1}({0} + 1, {1}) / {0}")),
    "scipy.special.hyp1f1": Slopes(
        (None, None, "{0} / {1} * {host:scipy.special.hyp1f1}({0} + 1, {1} + 1, {2})")
    ),
    "scipy.special.hyp2f1": Slopes(
        (None, None, None, "{0} * {1} / {2} * {host:scipy.special.hyp2f1}({0} + 1, {1} + 1, {2} + 1, {3})")
    ),
    "scipy.special.betainc": Slopes((None, None, f"{{jnp}}.exp({_BETA_DENSITY.replace('X', '{2}')})")),
    "scipy.special.betaincinv": Slopes(
        (None, None, f"{{jnp}}.exp(-({_BETA_DENSITY.replace('X', '{result}')}))")
    ),
    "scipy.special.gammaincinv": Slopes(
        (
            None,
            "{jnp}.exp({result} + (1 - {0}) * {jnp}.log({result}) + {jax:jax.scipy.special.gammaln}({0}))",
        )
    ),
    "scipy.special.owens_t": Slopes(
        (
            f"-{{jnp}}.exp(-({{0}} ** 2) / 2) * {_ERF}({{0}} * {{1}} / 2**0.5) / (8 * {{jnp}}.pi) ** 0.5",
            "{jnp}.exp(-({0} ** 2) * (1 + {1} ** 2) / 2) / (2 * {jnp}.pi * (1 + {1} ** 2))",
        )
    ),
    "scipy.special.sindg": Slopes(("{jnp}.pi / 180 * {host:scipy.special.cosdg}({0})",)),
    "scipy.special.cosdg": Slopes(("-{jnp}.pi / 180 * {host:scipy.special.sindg}({0})",)),
    "scipy.special.beta": Slopes(
        (
            "{result} * ({jax:jax.scipy.special.digamma}({0}) - {jax:jax.scipy.special.digamma}({0} + {1}))",
            "{result} * ({jax:jax.scipy.special.digamma}({1}) - {jax:jax.scipy.special.digamma}({0} + {1}))",
        )
    ),
    # Linear algebra.
    **_twins("scipy.linalg", "jax.scipy.linalg", "det expm inv"),
    **_twins("scipy.linalg", "jax.scipy.linalg", "solve solve_triangular toeplitz", arrays=2),
    **_twins("scipy.linalg", "jax.numpy.linalg", "norm pinv svdvals"),
    "scipy.linalg.lu": Twin("jax.scipy.linalg.lu", results=("p", "l", "u")),
    **_twins("scipy.fft", "jax.numpy.fft", _FFTS),
    **_twins("scipy.fft", "jax.scipy.fft", "dct idct"),
    **_twins(
        "scipy.signal", "jax.scipy.signal", "convolve correlate fftconvolve convolve2d correlate2d", arrays=2
    ),
    "scipy.linalg.block_diag": Twin("jax.scipy.linalg.block_diag", arrays=32),
    "scipy.linalg.cholesky": Formula(f"{{jnp}}.linalg.cholesky({_FROM_UPPER}).mT.conj()"),
}

DERIVATIVES: Final[Mapping[str, Known]] = types.MappingProxyType(_TABLE)

KEYWORDS: Final = frozenset(
    "axes axis axis1 axis2 ddof k keepdims lower mode n norm offset ord shift trans type "
    "unit_diagonal".split()
)
"""Keywords that twins take with the same meaning."""


def of_higher_order(origin: str) -> list[str] | None:
    """The host functions that the derivatives of one call, whatever their order.

    None if one of these has no known derivative, or is called with something else than the arguments.
    """
    found: list[str] = []
    waiting = [origin]
    while waiting:
        known = DERIVATIVES[waiting.pop()]
        texts = known.texts if isinstance(known, Slopes) else ()
        for name, given in HOST.findall("".join(filter(None, texts))):
            if name not in DERIVATIVES or given.count(",") + 1 != len(texts):
                return None
            if name not in found:
                found.append(name)
                waiting.append(name)
    return found
