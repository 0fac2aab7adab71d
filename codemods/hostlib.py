"""What is known of the host libraries' functions: data, no logic.

Each name was tried on `jax.Array` arguments; `tests/codemods/test_hostlib.py` repeats that on the installed
releases: a function of `FRESH` or `VIEWING` converts its arrays to NumPy before it computes, whereas one that
calls the argument's own method (`np.sum`, `np.argsort`) computes in JAX and stands in no table.
"""

from __future__ import annotations

from typing import Final


def _qualified(prefix: str, names: str) -> frozenset[str]:
    return frozenset(f"{prefix}.{name}" for name in names.split())


UFUNCS: Final = _qualified(
    "numpy",
    "abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan "
    "atan2 atanh bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or "
    "bitwise_right_shift bitwise_xor cbrt ceil conj conjugate copysign cos cosh deg2rad degrees "
    "divide divmod equal exp exp2 expm1 fabs float_power floor floor_divide fmax fmin fmod frexp gcd "
    "greater greater_equal heaviside hypot invert isfinite isinf isnan lcm ldexp left_shift less "
    "less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or "
    "logical_xor matmul maximum minimum mod modf multiply negative nextafter not_equal positive pow "
    "power rad2deg radians reciprocal remainder right_shift rint sign signbit sin sinh spacing sqrt "
    "square subtract tan tanh true_divide trunc vecdot",
)

BINARY: Final = _qualified(
    "numpy",
    "add arctan2 atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor "
    "copysign divide divmod equal float_power floor_divide fmax fmin fmod gcd greater greater_equal "
    "heaviside hypot lcm ldexp left_shift less less_equal logaddexp logaddexp2 logical_and logical_or "
    "logical_xor matmul maximum minimum mod multiply nextafter not_equal pow power remainder "
    "right_shift subtract true_divide vecdot",
)
# Ufuncs of one operand or two, with one result: of the operands' dtype, or of one that `casting="no"` and the
# strict write refuse alike.
ELEMENTWISE: Final = _qualified(
    "numpy",
    "abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 "
    "atanh cbrt ceil conj conjugate copysign cos cosh deg2rad degrees divide exp exp2 expm1 fabs floor "
    "floor_divide fmax fmin fmod heaviside hypot log log10 log1p log2 logaddexp logaddexp2 maximum minimum "
    "mod multiply negative nextafter positive pow power rad2deg radians reciprocal remainder rint sign sin "
    "sinh sqrt square subtract tan tanh true_divide trunc",
)
# Write into their first argument.
WRITES_FIRST: Final = _qualified(
    "numpy", "copyto put place putmask fill_diagonal put_along_axis random.shuffle"
) | {f"{name}.at" for name in UFUNCS}

# Make an array of their first argument, as it is; the others may give it one more axis or another order.
MAKING: Final = frozenset({"numpy.asarray", "numpy.array"})
CONVERTING: Final = MAKING | {"numpy.ascontiguousarray", "numpy.asfortranarray"}

FRESH: Final = (
    UFUNCS
    | _qualified(
        "numpy",
        "allclose angle append array_equal average bincount block column_stack concat concatenate "
        "convolve copy corrcoef correlate count_nonzero cov cross dot dstack ediff1d flatnonzero full_like "
        "geomspace gradient hstack i0 inner insert interp intersect1d isclose isin "
        "isneginf isposinf kron lexsort linspace logspace median nan_to_num nanargmax nanargmin nancumprod "
        "nancumsum nanmean nanmedian nanpercentile nanprod nanquantile nanstd nansum nanvar "
        "ones_like outer pad partition percentile poly polyadd polyfit polymul polysub polyval "
        "quantile roll roots select setdiff1d setxor1d sinc sort sort_complex stack tensordot trapezoid tril "
        "triu union1d unique unwrap vander vdot vstack where zeros_like empty_like",
    )
    | _qualified(
        "numpy.linalg",
        "cholesky cond det eig eigh eigvals eigvalsh inv lstsq matrix_norm matrix_rank multi_dot "
        "norm pinv qr slogdet solve svd svdvals vector_norm",
    )
    | _qualified(
        "numpy.fft",
        "fft fftshift hfft ifft ifftshift ihfft irfft irfft2 irfftn rfft rfft2 rfftn",
    )
)

SCALAR_TYPES: Final = _qualified(
    "numpy",
    "bool_ bool int8 int16 int32 int64 intp uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
    "complex128 double single half",
)

# Some for certain arguments alone: a power of one, a derivative of order zero, given bin edges, no axes.
VIEWING: Final = _qualified(
    "numpy",
    "asarray_chkfinite atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_to diag diagonal einsum "
    "expand_dims fft.fft2 fft.fftn fft.ifft2 fft.ifftn fliplr flipud histogram histogram2d "
    "linalg.matrix_power polyder ravel real_if_close rot90 tile",
)

# Make arrays of their own, unless asked for objects; the first take a shape or numbers and no array.
FRESH_MAKERS: Final = _qualified("numpy", "zeros ones empty full arange eye identity linspace tri")
ARRAY_MAKERS: Final = FRESH_MAKERS | _qualified(
    "numpy",
    "sum prod max min amax amin mean std var cumsum cumprod argmax argmin argsort searchsorted clip round "
    "around take repeat any all choose compress digitize trace take_along_axis",
)

# Defers to the argument's own method or indexing, with the same values whoever computes.
NEUTRAL: Final = _qualified("numpy", "flip moveaxis permute_dims reshape squeeze swapaxes transpose")

INQUIRIES: Final = _qualified("numpy", "shape ndim size")

# Of the functions above that are no ufuncs, those whose positional arguments are all arrays.
SEVERAL_ARRAYS: Final = _qualified(
    "numpy",
    "allclose append array_equal convolve correlate cross dot einsum inner interp intersect1d "
    "isclose isin kron lexsort outer polyadd polymul polysub polyval select setdiff1d setxor1d tensordot "
    "union1d vdot where broadcast_arrays linalg.solve linalg.lstsq",
)

# Whole modules whose functions convert their arguments and keep nothing.
SAFE_MODULES: Final = ("scipy.special.", "scipy.linalg.")
# These write into their arguments without being asked, read-only or not.
WRITING_MODULES: Final = ("scipy.linalg.blas.", "scipy.linalg.lapack.")


def is_safe(origin: str) -> bool:
    """Whether a function of SciPy converts its arguments and keeps nothing."""
    return origin.startswith(SAFE_MODULES) and not origin.startswith(WRITING_MODULES)


# Of these modules, the functions that take a function, and so hand arrays to code of the user's.
TAKES_FUNCTION: Final = frozenset(
    {"numpy.vectorize", "numpy.frompyfunc", "numpy.apply_along_axis", "numpy.piecewise"}
)

ARRAY_INQUIRIES: Final = frozenset({"shape", "dtype", "ndim", "size", "itemsize", "nbytes"})
# Tell a copy from the read-only view that NumPy has of an array of JAX.
MEMORY_ATTRIBUTES: Final = frozenset({"flags", "base"})
JAX_ATTRIBUTES: Final = frozenset(
    {
        *("at", "device", "devices", "sharding", "block_until_ready", "is_ready", "weak_type", "aval"),
        *("addressable_data", "addressable_shards", "global_shards", "is_fully_addressable", "committed"),
        *("is_fully_replicated", "copy_to_host_async", "delete", "is_deleted", "unsafe_buffer_pointer"),
    }
)
ARRAY_ATTRIBUTES: Final = frozenset({"T", "mT", "real", "imag"})
NEUTRAL_METHODS: Final = frozenset(
    {"reshape", "ravel", "flatten", "copy", "transpose", "squeeze", "swapaxes"}
)
PYTHON_METHODS: Final = frozenset({"item", "tolist"})
MAPPING_METHODS: Final = frozenset({"items", "keys", "values"})
# Of NumPy's methods, those whose result may share the array's memory.
VIEWING_METHODS: Final = frozenset(
    {
        "reshape",
        "ravel",
        "transpose",
        "squeeze",
        "swapaxes",
        "view",
        "diagonal",
        "getfield",
        "conj",
        "conjugate",
        "byteswap",
        "to_device",
        "__array__",
    }
)
WRITING_METHODS: Final = frozenset(
    {"sort", "fill", "put", "resize", "partition", "setfield", "itemset", "setflags"}
)
LIST_METHODS: Final = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "appendleft"})

# Calls `__float__`, `__int__` or `__complex__` of the argument.
SCALAR_BUILTINS: Final = frozenset({"int", "float", "complex"})
MATH_ON_FLOATS: Final = _qualified(
    "math",
    "acos acosh asin asinh atan atan2 atanh cbrt copysign cos cosh degrees erf erfc exp exp2 expm1 fabs fmod "
    "gamma hypot isfinite isinf isnan ldexp lgamma log log10 log1p log2 modf pow radians sin sinh sqrt tan "
    "tanh",
)
# Look at an argument's elements or truth, and keep nothing.
READING_BUILTINS: Final = frozenset({"len", "bool", "any", "all", "range"})
UNPACKING_BUILTINS: Final = frozenset(
    {"list", "tuple", "iter", "reversed", "enumerate", "zip", "next", "sorted", "max", "min", "dict", "set"}
)
SAFE_BUILTINS: Final = (
    READING_BUILTINS
    | SCALAR_BUILTINS
    | UNPACKING_BUILTINS
    | frozenset(
        {"sum", "abs", "round", "print", "repr", "str", "isinstance", "divmod", "pow", "type", "slice", "id"}
    )
)
ASKS_TYPE: Final = frozenset(
    {"isinstance", "issubclass", "type", "hasattr", "getattr", "callable", "id", "hash"}
)
READS_FRAME: Final = frozenset({"locals", "vars", "globals", "eval", "exec", "dir", "super"})

# Map a function over a pytree's leaves.
TREE_MAPS: Final = frozenset({"jax.tree.map", "jax.tree_util.tree_map", "jax.tree_map"})

FRAME_READERS: Final = frozenset(
    {"sys._getframe", "inspect.currentframe", "inspect.stack", "inspect.getsource"}
)

JAX_DTYPES: Final = _qualified(
    "jax.numpy",
    "bool_ int4 uint4 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128 float8_e4m3fn float8_e5m2 pi e inf nan newaxis",
)

# Hold no argument back and suppress no exception, so that a write may follow the block.
PLAIN_CONTEXTS: Final = frozenset(
    {
        "numpy.errstate",
        "numpy.printoptions",
        "warnings.catch_warnings",
        "contextlib.nullcontext",
        "contextlib.closing",
        "threading.Lock",
        "threading.RLock",
        "open",
        "tempfile.TemporaryDirectory",
        "tempfile.NamedTemporaryFile",
    }
)
