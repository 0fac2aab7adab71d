from unittest import mock

import program


@mock.patch("program._inner", lambda x: -x)
def test_main():
    program.main()
