"""A marker that cannot be read fails its own test at setup with a sentence; the session goes on."""

from __future__ import annotations

import pytest

from tests.project import Project

UNITS = "known units: B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB, KB"
WRITE = 'write bytes as an int, or a string such as "64MiB", "1.5 GB" or "50%"'
TOLERANCE = 'write "5%", "1MiB", "5%+64KiB" or, by resource, "ram=5%+64KiB, rss=20%"'
KEYWORDS = "ram, rss, vram, retained, tolerance, isolate, children, vram_total, scope, python_allocators"

CALLS = [
    ("()", 'membudget marker {at}: it says nothing: give a budget, as in membudget("64MiB")'),
    (
        '("1MiB", "2MiB")',
        "membudget marker {at}: it takes one positional argument, the RAM budget, and got 2: "
        "name the others, as in vram=...",
    ),
    ('("1MiB", vran="1GiB")', "membudget marker {at}: unknown keyword 'vran': did you mean 'vram'?"),
    ('("1MiB", colour=1)', f"membudget marker {{at}}: unknown keyword 'colour': known keywords: {KEYWORDS}"),
    ('("1MiB", ram="1GiB")', "membudget marker {at}: the RAM budget is given twice, by position and as ram="),
    ('("10 MBfoo")', f"ram budget {{at}}: '10 MBfoo' has the unknown unit 'MBfoo': {UNITS}"),
    ('("10 mb")', "ram budget {at}: '10 mb' has the unknown unit 'mb': did you mean \"MB\"?"),
    ('("10M")', "ram budget {at}: '10M' has the unknown unit 'M': did you mean \"MB\"?"),
    ('("10")', 'ram budget {at}: \'10\' has no unit: write "10B" for bytes, or "10MiB"'),
    ('("-1MiB")', "ram budget {at}: '-1MiB' is negative: a size is zero or more bytes"),
    ("(-1)", "ram budget {at}: -1 is negative: a size is zero or more bytes"),
    ('("nan")', f"ram budget {{at}}: 'nan' is not a size: {WRITE}"),
    ('("inf")', f"ram budget {{at}}: 'inf' is not a size: {WRITE}"),
    ('(float("nan"))', f"ram budget {{at}}: nan is not a size: {WRITE}"),
    ("(1.5)", f"ram budget {{at}}: 1.5 is not a size: {WRITE}"),
    ('("")', f"ram budget {{at}}: '' is not a size: {WRITE}"),
    ("(None)", f"ram budget {{at}}: None is not a size: {WRITE}"),
    ("(True)", f"ram budget {{at}}: True is not a size: {WRITE}"),
    ('(["10MiB"])', f"ram budget {{at}}: ['10MiB'] is not a size: {WRITE}"),
    ('("1001%")', "ram budget {at}: '1001%' is over 1000%: write a share of what the machine has, such as '50%'"),
    ('("-5%")', "ram budget {at}: '-5%' is negative: a size is zero or more bytes"),
    ('("1e9 PiB")', "ram budget {at}: '1e9 PiB' is more than 9223372036854775807 bytes, the largest size there is"),
    ('(rss="10 MBfoo")', f"rss budget {{at}}: '10 MBfoo' has the unknown unit 'MBfoo': {UNITS}"),
    ("(retained=None)", f"retained budget {{at}}: None is not a size: {WRITE}"),
    ('("1MiB", scope="session")', "membudget marker {at}: scope='session': write 'call' or 'test'"),
    ('("1MiB", python_allocators=True)', "membudget marker {at}: python_allocators=True: write 'exact' or 'arenas'"),
    ('("1MiB", isolate="yes")', "membudget marker {at}: isolate='yes': write True or False"),
    (
        '("1MiB", tolerance="lots")',
        f"membudget marker {{at}}: tolerance 'lots': 'lots' is not a size: {WRITE}; {TOLERANCE}",
    ),
    (
        '(scope="test", isolate=True)',
        "membudget marker {at}: it sets scope and isolate but gives no budget, and nothing else does: "
        'give one, as in membudget("64MiB", scope="test")',
    ),
    ("(lambda k: k)", "ram budget {at}: the function asks for 'k', which this test has not got (it has: fixed)"),
    ("(lambda fixed: 1 / 0)", "ram budget {at}: the function raised ZeroDivisionError: division by zero"),
    ('(lambda fixed: "rubbish")', f"ram budget {{at}}: the function's result 'rubbish' is not a size: {WRITE}"),
    ("(lambda: None)", f"ram budget {{at}}: the function's result None is not a size: {WRITE}"),
    ("(lambda: True)", f"ram budget {{at}}: the function's result True is not a size: {WRITE}"),
    ("(lambda: 1.5)", f"ram budget {{at}}: the function's result 1.5 is not a size: {WRITE}"),
    ("(lambda: -1)", "ram budget {at}: the function's result -1 is negative: a size is zero or more bytes"),
    ("(ram=dict)", "ram budget {at}: <class 'dict'> has no readable signature: use a lambda or a def"),
]


def _source() -> str:
    lines = ["import pytest", "@pytest.fixture", "def fixed(): return 1"]
    for number, (call, _) in enumerate(CALLS):
        lines += [f"@pytest.mark.membudget{call}", f"def test_{number:02}(fixed): raise AssertionError('it ran')"]
    return "\n".join([*lines, "def test_fine(): pass"])


@pytest.mark.parametrize("plugins", [(), ("xdist",)], ids=["alone", "xdist"])
def test_every_bad_marker_is_named(project: Project, plugins: tuple[str, ...]) -> None:
    """The sentence says what, where and what to write; the test does not run, the others do; the same on a worker."""
    project.write(_source())

    run = project.run(*(("-n2",) if plugins else ()), plugins=plugins)

    printed = {name: text.splitlines()[-1] for name, text in run.failures.items()}
    assert printed == {
        f"test_{number:02}": sentence.format(at=f"on test_it.py::test_{number:02} (test_it.py:{4 + 2 * number})")
        for number, (_, sentence) in enumerate(CALLS)
    }
    assert run.last_line == f"1 passed, {len(CALLS)} errors"
    assert run.exit_code == pytest.ExitCode.TESTS_FAILED


def test_where_a_bad_marker_stands(project: Project) -> None:
    """On a parameter, a class or a module, the sentence names the place that is to be changed."""
    project.write(
        test_param="""
            import pytest

            @pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.membudget("1XB")), 2])
            def test_it(n): pass
        """,
        test_class="""
            import pytest

            @pytest.mark.membudget("1XB")
            class TestIt:
                def test_it(self): pass
        """,
        test_module="""
            import pytest
            pytestmark = pytest.mark.membudget("1XB")

            def test_it(): pass
        """,
    )

    run = project.run()

    sentence = f": '1XB' has the unknown unit 'XB': {UNITS}"
    assert run.failures == {
        "test_it[1]": f"ram budget on a parameter of test_param.py::test_it[1] (test_param.py:3){sentence}",
        "TestIt.test_it": f"ram budget on test_class.py::TestIt (test_class.py:3){sentence}",
        "test_it": f"ram budget on test_module.py{sentence}",
    }
    assert run.last_line == "1 passed, 3 errors"


def test_settings_without_a_budget_are_fine_on_a_class(project: Project) -> None:
    """Only a test whose own marker gives no budget is refused: a class may set what its budgeted tests share."""
    project.write("""
        import pytest

        @pytest.mark.membudget(scope="test")
        class TestIt:
            def test_unbudgeted(self): pass

            @pytest.mark.membudget("1MiB")
            def test_budgeted(self): pass
    """)

    run = project.measure()

    assert run.outcomes == {"TestIt::test_unbudgeted": None, "TestIt::test_budgeted": "WITHIN"}


def test_marker_on_a_fixture(project: Project) -> None:
    """Marks never apply to fixtures; pytest says so itself, as a warning before version 9 and as an error since."""
    project.write("""
        import pytest

        @pytest.mark.membudget("1MiB")
        @pytest.fixture
        def held(): return bytearray(2 * 2**20)

        def test_it(held): pass
    """)

    run = project.run()

    assert "Marks applied to fixtures have no effect" in run.out or "Marks cannot be applied to fixtures" in run.out
    assert "INTERNALERROR" not in run.out
