"""The HTML page in a browser: keys, filters, colours, print, and the page without its script.

These tests run where a Chromium with its driver is found.
"""

import base64
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.common.exceptions import SessionNotCreatedException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from codemods.model import Diagnostic, FileResult, Note, SiteResult, Status
from codemods.report.html import to_html
from codemods.report.run import Run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="there is no Chromium with its driver")

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --force-color-profile=srgb"
).split()

CALL, CALLED = "y = jax.pure_callback(f, s, x)", "y = bufcb.buffer_callback(f, s)(x)"
ADAPTED = Diagnostic(
    "BC101", "`g` is a parameter, so any function may arrive.", "It gets JAX arrays, as before."
)
REFUSED = Diagnostic("BC201", "Where `pure_callback` comes from is unknown.", "Import it from `jax`.")
UNUSED = Diagnostic("BC005", "This comment suppresses nothing.", "Remove it.")
ATTACK = '</script><script>attacked = 1</script><img src=x onerror="attacked = 1">'


def result(before: str, path: str, *found: SiteResult | Note, error: str | None = None) -> FileResult:
    sites = tuple(each for each in found if isinstance(each, SiteResult))
    notes = tuple(each for each in found if isinstance(each, Note))
    after = before if error else before.replace(CALL, CALLED)
    return FileResult(Path(path), before.encode(), after.encode(), sites, notes, error)


def a_run() -> Run:
    """Remarks, in order: a rewrite, an adaptation; a refusal, a note, a skip; an attack; a failure."""
    filler = "".join(f"value_{n} = [{n}, None, 'text']  # a comment\n" for n in range(40))
    first = f'"""A module."""\n{filler}{CALL}\n{filler}{CALL}\n{filler}'
    second = f"@decorated\ndef function(x):\n    return {CALL[4:].replace('jax', 'self')}\n{filler}"
    rtl = "שלום = 'مرحبا'  # \u202e"
    return Run(
        (
            result(
                first,
                "pkg/first.py",
                SiteResult(42, 5, 42, "first_callback", Status.REWRITTEN),
                SiteResult(83, 5, 83, "g", Status.ADAPTED, ADAPTED),
            ),
            result(
                second,
                "pkg/second.py",
                SiteResult(3, 12, 3, "f", Status.REFUSED, REFUSED),
                Note(9, 1, UNUSED),
                SiteResult(30, 1, 30, "f", Status.SKIPPED),
            ),
            result(
                f"{CALL}  # {ATTACK}\n{rtl}\n",
                f"pkg/{ATTACK}.py",
                SiteResult(1, 5, 1, ATTACK, Status.ADAPTED, Diagnostic("BC102", ATTACK, ATTACK)),
            ),
            result("def (:\n", "pkg/third.py", error="pkg/third.py:1: cannot be parsed: invalid syntax"),
        ),
        scanned=9,
    )


class Page:
    """A page in the browser."""

    def __init__(self, driver: webdriver.Chrome, path: Path) -> None:
        self.driver = driver
        self.url = path.as_uri()
        self.size(1400, 1000)
        self.media()
        driver.get(self.url)
        self.run("localStorage.clear()")
        driver.get(self.url)
        driver.get_log("browser")

    def size(self, width: int, height: int) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def media(self, scheme: str = "light", media: str = "") -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})

    def reload(self) -> None:
        self.driver.get("about:blank")
        self.driver.get(self.url)

    def run(self, script: str, *arguments: object) -> object:
        return self.driver.execute_script(script, *arguments)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def one(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def seen(self, selector: str) -> list[str]:
        """The ids of the elements that can be seen."""
        found = self.driver.find_elements(By.CSS_SELECTOR, selector)
        return [each.get_attribute("id") for each in found if each.is_displayed()]

    @property
    def current(self) -> str | None:
        found = self.driver.find_elements(By.CSS_SELECTOR, ".item.current")
        return found[0].get_attribute("id") if found else None

    @property
    def shown(self) -> str:
        return self.one("#shown").text

    def search(self, text: str) -> None:
        self.press("/", *text)
        self.run("return new Promise(done => setTimeout(done, 200))")


@pytest.fixture(scope="module")
def driver(tmp_path_factory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    try:
        started = webdriver.Chrome(options=options, service=Service(DRIVER))
    except SessionNotCreatedException as error:
        pytest.skip(f"{CHROMIUM} and {DRIVER} do not go together: {error.msg}")
    with started:
        yield started


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_bytes(to_html(a_run()))
    return file


@pytest.fixture
def page(driver, path) -> Iterator[Page]:
    page = Page(driver, path)
    yield page
    assert driver.get_log("browser") == []


REMARKS = ["f1s1", "f1s2", "f2s1", "f2s2", "f2s3", "f3s1", "f4e"]


# ------------------------------------------------------------------------------- as it opens


def test_it_shows_everything_and_loads_nothing(page):
    assert page.run("return performance.getEntriesByType('resource').length") == 0
    assert page.seen(".item") == REMARKS
    assert page.shown == "7 remarks in 4 files"
    assert page.one("h1").text == "5 call sites, 2 files to change"


def test_nothing_in_the_text_runs(page):
    assert page.run("return typeof attacked") == "undefined"
    assert page.run("return document.images.length") == 0
    assert ATTACK in page.one("#f3").text


def test_nothing_that_gets_in_runs_or_loads(page):
    page.run(
        "const script = document.createElement('script'); script.textContent = 'attacked = 1';"
        "const image = new Image(); image.src = 'http://127.0.0.1:9/x.png';"
        "document.body.append(script, image); document.body.setAttribute('onclick', 'attacked = 1');"
        "document.body.click();"
    )
    assert page.run("return typeof attacked") == "undefined"
    refused = [entry["message"] for entry in page.driver.get_log("browser")]
    assert len(refused) == 3
    assert all("Content Security Policy" in message for message in refused)


def test_characters_of_right_to_left_scripts_stay_in_their_token(page):
    name, string = page.run(
        "const cell = [...document.querySelectorAll('#f3 td')].find(td => td.textContent.startsWith('ש'));"
        "const range = document.createRange(); range.setStart(cell.firstChild, 0);"
        "range.setEnd(cell.firstChild, 4);"
        "return [range.getBoundingClientRect().left, cell.querySelector('.s').getBoundingClientRect().left]"
    )
    assert name < string


# ------------------------------------------------------------------------------- keys


def test_j_and_k_go_through_the_remarks(page):
    visited = []
    for _ in range(8):
        page.press("j")
        visited.append(page.current)
    assert visited == [*REMARKS, "f4e"]
    page.press("k", "k")
    assert page.current == "f2s3"
    assert page.shown == "5 of 7 remarks in 4 files"
    assert page.driver.current_url.endswith("#f2s3")
    focused = page.driver.switch_to.active_element
    assert page.run("return arguments[0].closest('.item').id", focused) == "f2s3"
    top, bottom = page.run(
        "const box = arguments[0].getBoundingClientRect(); return [box.top, box.bottom]", focused
    )
    assert 0 < top < bottom < 1000


def test_n_and_p_go_through_the_files(page):
    visited = []
    for key in "nnnnnpp":
        page.press(key)
        visited.append(page.run("return document.activeElement.closest('section').id"))
    assert visited == ["f1", "f2", "f3", "f4", "f4", "f3", "f2"]
    page.press("j")
    assert page.current == "f2s1"
    page.press("p", "k")
    assert page.current == "f1s1"


def test_enter_opens_and_closes_what_has_the_focus(page):
    page.press("j", "j")
    assert page.one("#f1s2 .reason").is_displayed()
    page.press(Keys.ENTER)
    assert not page.one("#f1s2 .reason").is_displayed()
    page.press(Keys.ENTER)
    assert page.one("#f1s2 .reason").is_displayed()
    page.press("n", Keys.ENTER)
    assert page.seen("#f2 .item") == []
    page.press(Keys.ENTER)
    assert page.seen("#f2 .item") == ["f2s1", "f2s2", "f2s3"]
    page.press("p", "j", Keys.ENTER)  # a remark with nothing to open closes its file
    assert page.seen("#f1 .item") == []
    page.press("j")
    assert page.seen("#f1 .item") == ["f1s1", "f1s2"]


def test_unchanged_lines_open(page):
    fold = page.one("#f1 .fold")
    table = fold.find_element(By.TAG_NAME, "table")
    assert not table.is_displayed()
    fold.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
    assert table.is_displayed()
    assert "value_5 = [5, None, 'text']  # a comment" in table.text
    page.press("n")
    page.one("#f1 > details > summary").send_keys("e")
    assert page.run("return [...document.querySelectorAll('#f1 .fold')].every(each => each.open)")
    assert not page.run("return document.querySelector('#f2 .fold').open")
    page.press("e")
    assert not page.run("return [...document.querySelectorAll('#f1 .fold')].some(each => each.open)")


def test_the_keys_are_listed_and_can_be_switched_off(page):
    page.press("?")
    assert page.one("#help").is_displayed()
    page.press("j")
    assert page.current is None
    page.press(Keys.ESCAPE)
    assert not page.one("#help").is_displayed()
    page.one("#help-button").click()
    page.one("#keys").click()
    page.one("#help button").click()
    page.one("#f1 > details > summary").send_keys("j")
    assert page.current is None
    page.reload()
    page.one("#f1 > details > summary").send_keys("j")
    assert page.current is None
    assert not page.one("#help").is_displayed()


def test_a_key_with_a_modifier_is_the_browsers(page):
    page.press(Keys.CONTROL + "j")
    assert page.current is None


def test_every_key_in_the_list_is_one(page):
    listed = page.run("return [...document.querySelectorAll('#help dt kbd')].map(each => each.textContent)")
    script = re.search(
        r"const commands = \{(.*?)\n  \};", page.one("script").get_attribute("textContent"), re.DOTALL
    )
    commands = re.findall(r'^    "?(.)"?:', script[1], re.MULTILINE)
    assert set(listed) == {*commands, "Enter", "Esc"}


def test_a_viewed_file_is_closed_and_remembered(page):
    page.press("n", "n", "v")
    assert page.seen("#f2 .item") == []
    assert page.run("return document.querySelector('#contents .viewed a').textContent") == "second.py"
    page.reload()
    assert page.seen(".item") == ["f1s1", "f1s2", "f3s1", "f4e"]
    page.press("n", "n", "v")
    assert page.seen("#f2 .item") == ["f2s1", "f2s2", "f2s3"]
    page.reload()
    assert page.seen(".item") == REMARKS


# ------------------------------------------------------------------------------- filters


def test_chips_show_only_their_kinds(page):
    page.one('.chip[data-kind="adapted"]').click()
    assert page.seen(".item") == ["f1s2", "f3s1"]
    assert page.seen("section.file") == ["f1", "f3"]
    assert page.shown == "2 remarks in 2 files"
    page.one('.chip[data-kind="failed"]').click()
    assert page.seen(".item") == ["f1s2", "f3s1", "f4e"]
    assert page.one('.chip[data-kind="failed"]').get_attribute("aria-pressed") == "true"
    page.press(Keys.ESCAPE)
    assert page.seen(".item") == REMARKS
    page.one("body").send_keys("j")
    assert page.current == "f1s1"


def test_keys_go_through_what_the_filters_leave(page):
    page.one('.chip[data-kind="adapted"]').click()
    page.press("j")
    assert page.current == "f1s2"
    page.press("j", "j")
    assert page.current == "f3s1"
    page.press("p")
    assert page.run("return document.activeElement.closest('section').id") == "f1"


def test_a_code_is_picked(page):
    options = page.run("return [...document.querySelectorAll('#code option')].map(each => each.value)")
    assert options == ["", "BC005", "BC101", "BC102", "BC201"]
    Select(page.one("#code")).select_by_value("BC201")
    assert page.seen(".item") == ["f2s1"]
    page.one("#clear").click()
    assert page.seen(".item") == REMARKS
    page.one(".codes summary").click()
    page.one('button.code[data-code="BC005"]').click()
    assert page.seen(".item") == ["f2s2"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("first_callback", ["f1s1"], id="a callback"),
        pytest.param("ANY FUNCTION", ["f1s2"], id="a reason"),
        pytest.param("second.py bc005", ["f2s2"], id="a path and a code"),
        pytest.param("third", ["f4e"], id="a path"),
        pytest.param("syntax", ["f4e"], id="a failure"),
        pytest.param("nonsense", [], id="nothing"),
    ],
)
def test_text_is_searched(page, text, found):
    page.search(text)
    assert page.seen(".item") == found
    assert page.seen("#nothing") == ([] if found else ["nothing"])
    page.press(Keys.ESCAPE)
    assert page.seen(".item") == REMARKS
    assert page.one("#query").get_attribute("value") == ""
    page.press(Keys.ESCAPE, "j")
    assert page.current == "f1s1"


def test_enter_in_the_search_goes_to_the_first_that_is_found(page):
    page.press("/", *"suppresses", Keys.ENTER)
    assert page.current == "f2s2"


# ------------------------------------------------------------------------------- links


@pytest.mark.parametrize("target", ["f2s2", "f2L9", "f2"])
def test_a_link_opens_what_it_leads_to(page, target):
    page.run("document.querySelector('#f2 > details').open = false")
    page.driver.get(f"{page.url}#{target}")
    in_view = (
        "const box = document.getElementById(arguments[0]).getBoundingClientRect();"
        "return box.height > 0 && box.top >= 0 && box.top < innerHeight"
    )
    WebDriverWait(page.driver, 10).until(lambda _: page.run(in_view, target))


def test_the_contents_follow_the_reader(page):
    page.one('#contents [data-file="f3"] a').click()
    current = WebDriverWait(page.driver, 5).until(
        lambda _: page.run("return document.querySelector('[aria-current]')?.hash")
    )
    assert current in {"#f2", "#f3"}
    page.run("scrollTo(0, 0)")
    WebDriverWait(page.driver, 5).until(
        lambda _: page.run("return document.querySelector('[aria-current]')?.hash") in {"#f1", None}
    )


# ------------------------------------------------------------------------------- colours, sizes and print


def background(page: Page) -> str:
    return page.run("return getComputedStyle(document.body).backgroundColor")


def test_colours_follow_the_system_or_the_choice(page):
    light = background(page)
    page.media("dark")
    dark = background(page)
    assert dark != light
    button = page.one("#theme")
    assert button.text == "Colours: system"
    button.click()
    assert (background(page), button.text) == (light, "Colours: light")
    page.reload()
    assert background(page) == light
    page.one("#theme").click()
    page.media("light")
    assert (background(page), page.one("#theme").text) == (dark, "Colours: dark")
    page.one("#theme").click()
    assert background(page) == light


# The contrast of each text with the nearest background that is not transparent.
CONTRASTS = """
const channels = (value) => {
  const numbers = value.match(/-?[\\d.]+(e-?\\d+)?/g).map(Number);
  return value.startsWith("rgb") ? [...numbers.slice(0, 3).map(n => n / 255), numbers[3] ?? 1]
                                 : [...numbers.slice(0, 3), numbers[3] ?? 1];
};
const luminance = (rgb) => rgb.slice(0, 3)
  .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
const ground = (element) => {
  for (let each = element; each; each = each.parentElement) {
    const colour = channels(getComputedStyle(each).backgroundColor);
    if (colour[3] === 1) return colour;
    if (colour[3] !== 0) throw new Error("half transparent");
  }
};
const found = [];
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const element = texts.currentNode.parentElement;
  if (!texts.currentNode.data.trim() || !element.checkVisibility()) continue;
  if (element.closest(".quiet, option")) continue;
  const colours = [channels(getComputedStyle(element).color), ground(element)];
  const [low, high] = colours.map(luminance).sort((a, b) => a - b);
  found.push([(high + 0.05) / (low + 0.05), element.className, texts.currentNode.data]);
}
return found.sort((a, b) => a[0] - b[0]);
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("media", ["screen", "print"])
def test_every_text_has_enough_contrast(page, scheme, media):
    page.media(scheme, media)
    for fold in page.driver.find_elements(By.CSS_SELECTOR, "details"):
        page.run("arguments[0].open = true", fold)
    found = page.run(CONTRASTS)
    assert len(found) > 1_000
    assert found[0][0] >= 4.5


@pytest.mark.parametrize("width", [320, 420, 700, 900, 1200, 2400])
def test_nothing_is_wider_than_the_window(page, width):
    page.size(width, 900)
    assert page.run("return document.documentElement.scrollWidth") <= width
    outside = page.run(
        "return [...document.querySelectorAll('main *')].filter(each => each.checkVisibility()"
        "&& !each.matches('.quiet') && each.getBoundingClientRect().right > innerWidth + 1)"
        ".map(each => each.outerHTML)"
    )
    assert outside == []


def test_both_texts_stand_side_by_side_or_below_each_other(page):
    positions = (
        "const row = [...document.querySelectorAll('#f1 tr')].find(tr => tr.querySelector('td.d'));"
        "const boxes = [1, 3].map(n => row.children[n].getBoundingClientRect());"
        "return boxes.map(box => [box.left, box.top])"
    )
    (left, top), (right, other_top) = page.run(positions)
    assert left < right and top == other_top
    page.size(420, 900)
    (left, top), (right, below) = page.run(positions)
    assert left == right and top < below


def test_it_prints(page):
    page.media(media="print")
    assert page.seen(".toolbar, nav, #settings") == []
    printed = page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    data = base64.b64decode(printed["data"])
    assert data.startswith(b"%PDF-")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", data)) <= 10


# ------------------------------------------------------------------------------- for everybody


def test_without_its_script_the_page_is_read_all_the_same(driver, tmp_path):
    path = tmp_path / "page.html"
    changed = re.sub(rb"script-src 'sha256-.", b"script-src 'sha256-0", to_html(a_run()))
    path.write_bytes(changed)
    driver.get(path.as_uri())
    (blocked,) = driver.get_log("browser")
    assert "Content Security Policy" in blocked["message"]
    found = driver.find_elements(By.CSS_SELECTOR, ".item")
    assert [each.get_attribute("id") for each in found if each.is_displayed()] == REMARKS
    assert not [
        each for each in driver.find_elements(By.CSS_SELECTOR, ".scripted, dialog") if each.is_displayed()
    ]
    fold = driver.find_element(By.CSS_SELECTOR, ".fold")
    fold.find_element(By.TAG_NAME, "summary").click()
    assert fold.find_element(By.TAG_NAME, "table").is_displayed()


def test_assistive_technology_finds_its_way(page):
    nodes = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    shown = [node for node in nodes if not node["ignored"]]
    roles: dict[str, list[str]] = {}
    for node in shown:
        roles.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    for landmark in ("banner", "main", "navigation", "search"):
        assert len(roles[landmark]) == 1, landmark
    for control in ("button", "searchbox", "combobox", "link", "DisclosureTriangle", "table"):
        assert roles[control] and all(name.strip() for name in roles[control]), control
    assert len(roles["heading"]) >= 3 + 4 + 6
    assert "Way out: Import it from jax." in page.run("return document.getElementById('f2s1').textContent")


def test_what_has_the_focus_can_be_seen(page):
    for _ in range(12):
        page.press(Keys.TAB)
        style, width = page.run(
            "const style = getComputedStyle(document.activeElement);"
            "return [style.outlineStyle, style.outlineWidth]"
        )
        assert style != "none" and width != "0px"
    page.press("j")
    assert page.run("return getComputedStyle(document.activeElement).outlineStyle") != "none"


# ------------------------------------------------------------------------------- size


def test_a_thousand_call_sites_do_not_freeze_it(driver, tmp_path):
    block = (
        "def host(x, weights):\n    if weights.size == 0:\n        return np.zeros_like(x)\n"
        f"    return np.convolve(x, weights)\n\n\ndef smooth(x, weights):\n    {CALL}\n    return y\n\n\n"
        + "".join(f"TABLE_{n} = [1, 2, 3]  # unchanged\n" for n in range(20))
    )  # fmt: skip
    sites = [SiteResult(8 + 31 * n, 9, 8 + 31 * n, "host", Status.REWRITTEN) for n in range(5)]
    files = tuple(result(block * 5, f"pkg/module_{n:03}.py", *sites) for n in range(200))
    path = tmp_path / "page.html"
    path.write_bytes(to_html(Run(files, 200)))
    page = Page(driver, path)
    assert page.shown == "1,000 call sites in 200 files"
    loaded = page.run("return performance.getEntriesByType('navigation')[0].domComplete")
    moving = page.run(
        "const start = performance.now();"
        "const press = () => new KeyboardEvent('keydown', {key: 'j', bubbles: true});"
        "for (let n = 0; n < 50; n++) document.body.dispatchEvent(press());"
        "document.body.offsetHeight; return performance.now() - start"
    )
    filtering = page.run(
        "const start = performance.now(); document.querySelector('.chip').click();"
        "document.getElementById('clear').click();"
        "document.body.offsetHeight; return performance.now() - start"
    )
    assert page.shown == "50 of 1,000 call sites in 200 files"
    # Some ten times as long as measured, since other work may go on beside the tests.
    assert loaded < 15_000
    assert moving < 5_000
    assert filtering < 2_000
