"""What is known of libraries: which functions differentiate, which protect, and how others call theirs.

A name behind `()` belongs to what calling the name in front gives; `optax.().update` is that of any object
that optax makes.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from codemods.gradients.levels import Mode


class Applied(enum.Enum):
    """When a transform calls the function that it differentiates."""

    LATER = "it gives a function that takes the same arguments"
    TO_REST = "at once, with the arguments that follow"
    TO_TUPLE = "at once, with a tuple of arguments that follows"
    INSIDE = "at once or later, with values of its own"


@dataclasses.dataclass(frozen=True, slots=True)
class Transform:
    """A function that differentiates one that it is given.

    Attributes:
      modes: how it differentiates, the outermost level first; `hessian` has two.
      function: position and name of the parameter that takes the function; -1 for one without a position.
      arguments: the positions of the arguments that are differentiated; None for all of them.
      argnums: the position of a parameter `argnums` that says otherwise.
      with_value: whether it gives the value in front of the derivative.
      parameters: whether what is differentiated are the parameters that the function asks its library for.
      order: position of a parameter `order` that says how often it is differentiated.
      needs: strings of which the argument `modes` must hold the first, if it is given.
      given: library objects of which one must be among the arguments.
      unless: a keyword argument that, set to True, says that the function gives its derivative itself.
    """

    modes: tuple[Mode, ...]
    applied: Applied = Applied.LATER
    function: tuple[int, str] = (0, "fun")
    arguments: frozenset[int] | None = frozenset({0})
    argnums: int | None = None
    with_value: bool = False
    parameters: bool = False
    order: int | None = None
    needs: str = ""
    given: frozenset[str] = frozenset()
    unless: str = ""


Table = Mapping[str, tuple[Transform, ...]]

_BY_NAME: Final = -1

_R, _F, _T = Mode.REVERSE, Mode.FORWARD, Mode.TRANSPOSE


def _rows(prefix: str, names: str, *transforms: Transform) -> Iterator[tuple[str, tuple[Transform, ...]]]:
    yield from ((f"{prefix}.{name}", transforms) for name in names.split())


def _later(
    *modes: Mode, argnums: int | None = 1, function: str = "fun", with_value: bool = False
) -> Transform:
    return Transform(modes, function=(0, function), argnums=argnums, with_value=with_value)


def _rest(mode: Mode, function: str = "fun") -> Transform:
    return Transform((mode,), Applied.TO_REST, (0, function), None)


def _tuple(mode: Mode, function: str = "fun", order: int | None = None, needs: str = "") -> Transform:
    return Transform((mode,), Applied.TO_TUPLE, (0, function), None, order=order, needs=needs)


def _inside(mode: Mode, function: str, position: int = 0, unless: str = "") -> Transform:
    return Transform((mode,), Applied.INSIDE, (position, function), unless=unless)


def _model(function: str, position: int = 0) -> Transform:
    return Transform((_R,), Applied.INSIDE, (position, function), frozenset(), parameters=True)


def _jax() -> Iterator[tuple[str, tuple[Transform, ...]]]:
    yield from _rows("jax", "grad jacrev jacobian fwd_and_bwd", _later(_R))
    yield from _rows("jax", "value_and_grad", _later(_R, with_value=True))
    yield from _rows("jax", "jacfwd", _later(_F))
    yield from _rows("jax", "hessian", _later(_F, _R))
    yield from _rows("jax", "vjp", _rest(_R))
    yield from _rows("jax", "linearize", _rest(_F))
    yield from _rows("jax", "linear_transpose", _rest(_T))
    yield from _rows("jax", "jvp", _tuple(_F))
    yield from _rows("jax.experimental.jet", "jet", _tuple(Mode.TAYLOR))
    yield from _rows(
        "jax.test_util",
        "check_grads",
        _tuple(_R, "f", order=2, needs="rev"),
        _tuple(_F, "f", order=2, needs="fwd"),
    )
    yield from _rows("jax.experimental.sparse", "grad jacrev jacobian", _later(_R))
    yield from _rows("jax.experimental.sparse", "value_and_grad", _later(_R, with_value=True))
    yield from _rows("jax.experimental.sparse", "jacfwd", _later(_F))
    yield from _rows("jax.scipy.optimize", "minimize", _inside(_R, "fun"))
    # The solvers of systems that need not be symmetric transpose the matrix, gradient or not.
    yield from _rows("jax.scipy.sparse.linalg", "bicgstab gmres", _inside(_T, "A"))


def _neural_networks() -> Iterator[tuple[str, tuple[Transform, ...]]]:
    yield from _rows("equinox", "filter_grad filter_jacrev", _later(_R, argnums=None))
    yield from _rows("equinox", "filter_value_and_grad", _later(_R, argnums=None, with_value=True))
    yield from _rows("equinox", "filter_jacfwd", _later(_F, argnums=None))
    yield from _rows("equinox", "filter_hessian", _later(_F, _R, argnums=None))
    yield from _rows("equinox", "filter_vjp", _rest(_R))
    yield from _rows("equinox", "filter_jvp", _tuple(_F, "fn"))
    yield from _rows("flax.nnx", "grad", _later(_R, function="f"))
    yield from _rows("flax.nnx", "value_and_grad", _later(_R, function="f", with_value=True))
    yield from _rows("flax.nnx", "vjp", _rest(_R, "f"))
    yield from _rows("flax.nnx", "jvp", _tuple(_F, "f"))
    linen = Transform((_R,), Applied.TO_REST, (0, "fn"), None, parameters=True)
    yield from _rows("flax.linen", "grad value_and_grad vjp", linen)
    yield from _rows("flax.linen", "jvp", dataclasses.replace(linen, modes=(_F,)))
    yield from _rows("haiku", "grad", _later(_R))
    yield from _rows("haiku", "value_and_grad", _later(_R, with_value=True))


def _solvers() -> Iterator[tuple[str, tuple[Transform, ...]]]:
    from_state = _later(_R, argnums=None, function="value_fn", with_value=True)
    yield from _rows("optax", "value_and_grad_from_state", from_state)
    yield from _rows("optax.()", "update", _inside(_R, "value_fn", _BY_NAME))
    yield from _rows("optax.second_order", "hvp hessian_diag", _of_loss("loss", _F, _R))
    yield from _rows("optax.second_order", "fisher_diag", _of_loss("negative_log_likelihood", _R))
    yield from _rows(
        "jaxopt",
        "GradientDescent LBFGS BFGS LBFGSB NonlinearCG ProximalGradient ProjectedGradient MirrorDescent "
        "BlockCoordinateDescent ArmijoSGD PolyakSGD OptaxSolver BacktrackingLineSearch ZoomLineSearch "
        "HagerZhangLineSearch",
        _inside(_R, "fun", unless="value_and_grad"),
    )
    of_scipy = _inside(_R, "fun", _BY_NAME, unless="value_and_grad")
    yield from _rows("jaxopt", "ScipyMinimize ScipyBoundedMinimize", of_scipy)
    yield from _rows("jaxopt", "GaussNewton LevenbergMarquardt", *_both("residual_fun"))
    yield from _rows("jaxopt", "ScipyLeastSquares ScipyBoundedLeastSquares", *_both("fun", _BY_NAME))
    yield from _rows("jaxopt", "ScipyRootFinding", *_both("optimality_fun", _BY_NAME))
    yield from _rows("optimistix", "minimise", _inside(_R, "fn"))
    yield from _rows("optimistix", "least_squares", *_both("fn"))
    yield from _rows("optimistix", "root_find", _inside(_F, "fn"))
    yield from _rows("optimistix.compat", "minimize", _inside(_R, "fun"))
    yield from _rows("lineax", "JacobianLinearOperator", *_both("fn"))
    implicit = "ImplicitEuler Kvaerno3 Kvaerno4 Kvaerno5 KenCarp3 KenCarp4 KenCarp5 Sil3"
    given = frozenset(f"diffrax.{name}()" for name in implicit.split())
    stiff = Transform((_F,), Applied.INSIDE, (0, "terms"), None, given=given)
    yield from _rows("diffrax", "diffeqsolve", stiff)


def _both(function: str, position: int = 0) -> tuple[Transform, Transform]:
    return _inside(_R, function, position), _inside(_F, function, position)


def _of_loss(function: str, *modes: Mode) -> Transform:
    return Transform(modes, Applied.INSIDE, (0, function), None)


def _samplers() -> Iterator[tuple[str, tuple[Transform, ...]]]:
    potential = _inside(_R, "potential_fn", 1)
    yield from _rows("numpyro.infer", "NUTS HMC BarkerMH", _model("model"), potential)
    yield from _rows("numpyro.infer", "SVI", _model("model"), _model("guide", 1))
    yield from _rows("numpyro.infer", "initialize_model", _model("model", 1))
    yield from _rows("numpyro.infer.util", "initialize_model", _model("model", 1))
    yield from _rows("numpyro.contrib.einstein", "SteinVI", _model("model"), _model("guide", 1))
    yield from _rows("numpyro.infer.hmc", "hmc", _inside(_R, "potential_fn"))
    yield from _rows(
        "blackjax",
        "nuts hmc mala ghmc dhmc dmhmc mhmc dynamic_hmc multinomial_hmc rmhmc orbital_hmc periodic_orbital "
        "barker barker_proposal mclmc mclmc_lrd_warmup adjusted_mclmc adjusted_mclmc_dynamic mgrad_gaussian "
        "marginal_latent_gaussian gist_step_size gist_trajectory_length meads_adaptation chees_adaptation "
        "meanfield_vi fullrank_vi pathfinder multipathfinder schrodinger_follmer",
        _inside(_R, "logdensity_fn"),
    )
    yield from _rows(
        "blackjax",
        "window_adaptation window_adaptation_low_rank pathfinder_adaptation staged_adaptation "
        "adjusted_mclmc_find_L_and_step_size",
        _inside(_R, "logdensity_fn", 1),
    )
    yield from _rows("blackjax", "mclmc_find_L_and_step_size", _inside(_R, "logdensity_fn", 4))
    joint = _of_loss("log_joint_fn", _R)
    yield from _rows("blackjax", "laplace_hmc laplace_mhmc laplace_dhmc laplace_dmhmc", joint)
    estimator = (_inside(_R, "logprior_fn"), _inside(_R, "loglikelihood_fn", 1))
    yield from _rows("blackjax.sgmcmc.gradients", "grad_estimator", *estimator)


TRANSFORMS: Final[Table] = dict([*_jax(), *_neural_networks(), *_solvers(), *_samplers()])


def extended(rows: Iterable[str]) -> Table:
    """The table with rows such as `mylib.grad=jax.grad`, which behaves as the second name does.

    A bare name differentiates whatever function it is given, in reverse mode and by all arguments.

    Raises:
      ValueError: the second name has no row.
    """
    table = dict(TRANSFORMS)
    for row in rows:
        name, _, like = row.partition("=")
        if like and like not in table:
            raise ValueError(f"{like!r} is no known transform, such as jax.grad, jax.jvp or jaxopt.LBFGS.")
        table[name] = table[like] if like else (Transform((_R,), Applied.INSIDE, ANY_ARGUMENT, None),)
    return table


def words(table: Table) -> frozenset[str]:
    """Names of which a file that takes a transform from anywhere spells one: its own, or its library's."""
    split = [(name.partition(".")[0], name.rpartition(".")[2]) for name in table]
    return frozenset(root if root in _DIFFERENTIATING else name for root, name in split)


ANY_ARGUMENT: Final = (-1, "")

# Libraries of whose users most differentiate something, by names that others use for something else.
_DIFFERENTIATING: Final = frozenset("blackjax diffrax jaxopt lineax numpyro optax optimistix".split())


def _names(prefix: str, names: str) -> frozenset[str]:
    return frozenset(f"{prefix}.{name}" for name in names.split())


_INTEGERS: Final = "bool bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 int uint"

INTEGER_TYPES: Final = (
    _names("jax.numpy", _INTEGERS) | _names("numpy", _INTEGERS) | {"builtins.int", "builtins.bool"}
)
INTEGER_NAMES: Final = frozenset(_INTEGERS.split())

_FLAT: Final = (
    "floor ceil round around rint trunc sign signbit isnan isinf isfinite isposinf isneginf isclose allclose "
    "argmax argmin argsort nanargmax nanargmin argwhere nonzero flatnonzero count_nonzero searchsorted "
    "digitize equal not_equal greater greater_equal less less_equal logical_and logical_or logical_xor "
    "logical_not any all isin lexsort floor_divide zeros_like ones_like empty_like shape ndim size "
    "result_type iscomplexobj isrealobj array_equal bitwise_and bitwise_or bitwise_xor invert"
)
STOPS: Final = (
    _names("jax.numpy", _FLAT)
    | _names("jax.lax", "stop_gradient floor ceil round sign is_finite argmax argmin eq ne gt ge lt le")
    | _names(
        "builtins", "len range isinstance issubclass int bool str repr hash id type callable hasattr print"
    )
    | {"jax.nn.one_hot", "equinox.internal.nondifferentiable", "jax.eval_shape", "haiku.eval_shape"}
    | {"equinox.filter_eval_shape", "flax.nnx.eval_shape"}
    | {"bufcb.finite_difference_jvp", "bufcb.finite_difference_vjp"}
    | INTEGER_TYPES
)
"""Functions whose result is not differentiated, whatever its arguments are."""

CASTS: Final[Mapping[str, int]] = {
    "jax.numpy.asarray": 1,
    "jax.numpy.array": 1,
    "jax.numpy.astype": 1,
    "jax.lax.convert_element_type": 1,
}
"""Functions with a dtype among their arguments, at this position or as `dtype` or `new_dtype`."""

NOT_DIFFERENTIATED: Final = frozenset({"shape", "dtype", "ndim", "size", "itemsize", "nbytes", "sharding"})
"""Attributes of an array that stay the same under differentiation."""

CUSTOM: Final[Mapping[str, str]] = {
    "jax.custom_vjp": "vjp",
    "jax.custom_derivatives.custom_vjp": "vjp",
    "flax.nnx.custom_vjp": "vjp",
    "jax.custom_jvp": "jvp",
    "jax.custom_derivatives.custom_jvp": "jvp",
    "jax.custom_gradient": "gradient",
    "jax.custom_derivatives.custom_gradient": "gradient",
    "equinox.filter_custom_vjp": "filter_vjp",
    "equinox.filter_custom_jvp": "jvp",
    "flax.linen.custom_vjp": "linen_vjp",
}
"""Functions that give another one rules of its own."""

RULE_SETTERS: Final = frozenset({"defvjp", "defjvp", "defjvps", "def_fwd", "def_bwd", "def_jvp"})

SEE_THROUGH: Final = (
    _names("jax", "jit vmap pmap checkpoint remat named_call shard_map")
    | _names("jax.ad_checkpoint", "checkpoint remat")
    | _names("equinox", "filter_jit filter_vmap filter_pmap filter_checkpoint")
    | _names("flax.nnx", "jit vmap pmap remat")
    | _names("flax.linen", "jit remat checkpoint compact nowrap named_call")
    | _names("haiku", "remat vmap")
    | {"functools.cache", "functools.lru_cache", "contextlib.contextmanager"}
)
"""Functions that give a function that does the same, seen from a single call."""

CONTROL_FLOW: Final = (
    _names("jax.lax", "scan cond switch while_loop fori_loop map")
    | _names("haiku", "scan cond switch while_loop fori_loop map")
    | _names("equinox.internal", "scan while_loop")
    | _names("flax.nnx", "cond switch while_loop fori_loop")
)
"""Functions that call others on what these give, told by the last part of the name."""

LINEAR_SOLVES: Final[Mapping[str, str]] = {
    "jax.lax.custom_root": "root",
    "jax.lax.custom_linear_solve": "linear_solve",
    "jax.custom_derivatives.linear_call": "linear_call",
    "jax.scipy.sparse.linalg.cg": "cg",
}

ON_THE_HOST: Final = frozenset(
    {
        "jax.pure_callback",
        "jax.experimental.io_callback",
        "jax.debug.callback",
        "bufcb.pure_callback",
        "bufcb.adapt",
    }
)
"""Functions whose function argument runs on the host, where nothing is differentiated."""

STATEFUL: Final[Mapping[str, int]] = {"haiku.transform": 2, "haiku.transform_with_state": 3}
"""Functions that turn another into `init` and `apply`, and how many arguments of `apply` come first."""

GIVES_PARAMETERS: Final = frozenset({"haiku", "flax", "numpyro"})
"""Libraries whose functions give parameters that are differentiated with those of a model."""

PLAIN: Final = frozenset(
    "builtins functools itertools operator contextlib dataclasses collections typing abc enum math time "
    "timeit logging warnings threading multiprocessing concurrent asyncio unittest atexit signal copy types "
    "random jax jaxlib numpy scipy equinox flax haiku optax chex einops jaxtyping beartype typeguard "
    "typing_extensions jaxopt optimistix lineax diffrax numpyro blackjax distrax orbax pytest hypothesis "
    "click typer absl fire hydra tqdm joblib rich matplotlib bufcb".split()
)
"""Packages that differentiate what they are given only where a row says so."""

NAMED_OBJECTS: Final = PLAIN - {
    "builtins",
    "functools",
    "jax",
    "jaxlib",
    "numpy",
    "scipy",
    "math",
    "operator",
}
"""Packages whose objects are known by what made them."""
