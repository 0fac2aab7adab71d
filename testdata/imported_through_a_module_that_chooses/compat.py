import jax

pure_callback = getattr(jax, "pure_callback", None) or (lambda f, spec, *args: f(*args))
