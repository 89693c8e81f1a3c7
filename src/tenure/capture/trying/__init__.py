"""Changes that `tenure plan --options` makes in a program from outside, one option per file."""
