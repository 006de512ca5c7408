"""Reference hot paths of array code and their budgeted tests: ``pytest --pyargs pytest_membudget.suite``.

Every path is shown twice: in the form that runs out of memory, with the line that does it, and in a lean form
that gives the same result. The modules are written to be read and copied; they need numpy and pytest only.
"""
