"""The same results in every form. Everything here turns data into text or bytes and prints nothing."""
