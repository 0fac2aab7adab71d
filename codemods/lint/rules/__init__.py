"""One file a rule. Importing this package registers them all."""

from codemods.lint.rules import (
    alias_out_of_range,
    buffer_of_jax,
    command_buffer_with_side_effects,
    differentiated_without_rule,
    input_written_to,
    jax_inside_callback,
    kept_buffer,
    output_not_written,
    output_rebound,
    returned_value,
    view_on_gpu,
    wrong_signature,
)

__all__ = [
    "alias_out_of_range",
    "buffer_of_jax",
    "command_buffer_with_side_effects",
    "differentiated_without_rule",
    "input_written_to",
    "jax_inside_callback",
    "kept_buffer",
    "output_not_written",
    "output_rebound",
    "returned_value",
    "view_on_gpu",
    "wrong_signature",
]
