"""Buffer callbacks tested without a device.

`dry_run` runs one with every check there is, `check_callback` looks for what goes wrong in some calls alone,
and `assert_same_results` compares one with the function that it was made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bufcb.adapted import Adapted
from bufcb.callables import describe
from bufcb.callback import adapt, check_vmap_method
from bufcb.dry_runs import first_difference, run
from bufcb.properties import Checks

__all__ = ["assert_same_results", "check_callback", "dry_run"]


def dry_run(
    callback: Callable[..., None],
    result_shape_dtypes: Any,
    *args: Any,
    input_output_aliases: Mapping[int, int] | None = None,
    **kwargs: Any,
) -> Any:
    """Call a buffer callback on buffers in host memory, outside JAX, with every check that there is.

    Example:
      >>> def add_one(ctx, out, x):
      ...     out[...] = np.asarray(x) + 1
      >>> bufcb.testing.dry_run(add_one, jax.ShapeDtypeStruct((2,), np.float32), np.zeros(2, np.float32))
      array([1., 1.], dtype=float32)

    The call is checked as `bufcb.buffer_callback(callback, result_shape_dtypes)(*args, **kwargs)` would be,
    and so is what the callback does: it returns None, writes every element of its outputs, changes no input
    and keeps no buffer. An exception of the callback comes through as it is. It may be called once more, to
    tell a value from the pattern that stands for an element that was not written.

    Args:
      callback: the buffer callback.
      result_shape_dtypes: a pytree whose leaves have a shape and a dtype.
      *args: arrays, scalars and pytrees of them; the callback gets copies.
      input_output_aliases: as for `buffer_callback`; such an output holds the input's values.
      **kwargs: likewise, by keyword.

    Returns:
      The outputs, as NumPy arrays in the structure of `result_shape_dtypes`.

    Raises:
      RuntimeError: if an output was not written, an input was changed, a buffer was kept, or a strict write
        did not match its output.
      ValueError: if the callback returned a value.
      TypeError, ValueError: if the call is one that `buffer_callback` refuses.
    """
    return run(callback, result_shape_dtypes, args, kwargs, input_output_aliases)


def assert_same_results(
    original: Callable[..., Any],
    migrated: Callable[..., None],
    result_shape_dtypes: Any,
    *args: Any,
    rtol: float = 0.0,
    atol: float = 0.0,
    **kwargs: Any,
) -> None:
    """Check that a migrated callback writes, bit for bit, what the original returns.

    Example:
      >>> spec = jax.ShapeDtypeStruct((2,), np.float32)
      >>> bufcb.testing.assert_same_results(np.negative, add_one, spec, np.ones(2, np.float32), atol=3)

    Args:
      original: a callback of `jax.pure_callback`, called with `jax.Array`s; its results follow the rules
      there.
      migrated: a buffer callback, called as `dry_run` does.
      result_shape_dtypes: the specification that both are called with.
      *args: arrays, scalars and pytrees of them.
      rtol: how far floats may differ, as a part of what is expected. 0 for it and `atol` asks for every bit.
      atol: how far they may differ beside that.
      **kwargs: likewise, by keyword.

    Raises:
      AssertionError: if a leaf differs; names the first one, and where it differs first.
      Exception: whatever either callback, or a check of `dry_run`, raises.
    """
    if not isinstance(original, Adapted):
        original = adapt(original, arrays="jax")
    expected = dry_run(original, result_shape_dtypes, *args, **kwargs)
    actual = dry_run(migrated, result_shape_dtypes, *args, **kwargs)
    if (found := first_difference(expected, actual, rtol, atol)) is not None:
        raise AssertionError(f"{describe(migrated)} and {describe(original)} differ in {found}")


def check_callback(
    callback: Callable[..., None],
    result_shape_dtypes: Any,
    *args: Any,
    vmap_method: str | None = None,
    input_output_aliases: Mapping[int, int] | None = None,
    any_order: bool = True,
    rtol: float = 1e-5,
    atol: float = 1e-6,
    **kwargs: Any,
) -> None:
    """Check a buffer callback in calls of every kind that JAX may make of this one.

    Each call is a `dry_run`: results have the shapes and dtypes of the specification and are written in full,
    arguments are not written to, and nothing is kept. Beside that,

    - the same arguments give the same results, bit for bit, whatever was called in between;
    - they do so in any order in memory;
    - a batch, of the shapes that `jax.vmap` makes by `vmap_method`, gives what its elements give one by one:
      with all arguments batched, and with each of them alone.

    Example:
      >>> def add_one(ctx, out, x):
      ...     out[...] = np.asarray(x) + 1
      >>> spec = jax.ShapeDtypeStruct((3,), np.float32)
      >>> bufcb.testing.check_callback(add_one, spec, np.zeros(3, np.float32), vmap_method="expand_dims")

    Args:
      callback: the buffer callback, whose results depend on its arguments alone.
      result_shape_dtypes: a pytree whose leaves have a shape and a dtype.
      *args: arrays, scalars and pytrees of them. Other calls are made up from them: floats are halved.
      vmap_method: as for `buffer_callback`. None, and the methods that call once for each element, make no
        batches.
      input_output_aliases: as for `buffer_callback`.
      any_order: whether arguments may be column-major, which XLA's are not.
      rtol: how far the floats of a batch may differ from those of its elements, as a part of the latter.
      atol: how far they may differ beside that.
      **kwargs: likewise, by keyword.

    Raises:
      AssertionError: if results differ; says between which calls, and where first.
      Exception: whatever the callback, or a check of `dry_run`, raises, with a note on the call.
      ValueError: for a `vmap_method` that does not exist.
    """
    check_vmap_method(callback, vmap_method)
    checks = Checks(callback, result_shape_dtypes, args, kwargs, input_output_aliases)
    checks.repeated()
    if any_order:
        checks.in_column_major_order()
    if vmap_method is not None:
        checks.batched(vmap_method, rtol, atol)
