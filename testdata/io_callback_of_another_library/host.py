def io_callback(function, *args):
    return function(*args)
