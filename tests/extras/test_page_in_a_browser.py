"""The page in a real browser: Debian's Chromium, from disk. `.ci/run` installs it."""

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from page_support import HOSTILE, results

from humboldt.page.collect import collect
from humboldt.page.write import html, write
from humboldt.suites import suites
from humboldt.suites.experiments import Contender
from humboldt.suites.reading import records

pytestmark = pytest.mark.extras
CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A page of all suites, with a model and a suite whose names are scripts."""
    suite = suites.get("chomsky")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(suite), "contenders", {**suite.contenders, "lstm": Contender("lstm", HOSTILE)})
        strange = [
            dataclasses.replace(s, training=dataclasses.replace(s.training, suite=HOSTILE))
            for s in results()
            if s.training.suite == "syntax"
        ]
        file = tmp_path_factory.mktemp("page") / "report.html"
        write(html(collect([*results(), *strange], "results")), file)
        yield file


@dataclasses.dataclass
class Opened:
    """A page in a browser, with what it said and asked for."""

    page: Any
    said: list[str]
    asked: list[str]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("There is no Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def show(browser: Any, path: Path, width: int, **options: Any) -> Opened:
    context = browser.new_context(viewport={"width": width, "height": 900}, accept_downloads=True, **options)
    opened = Opened(context.new_page(), [], [])
    opened.page.set_default_timeout(120_000)
    opened.page.on("console", lambda message: opened.said.append(f"{message.type}: {message.text}"))
    opened.page.on("pageerror", lambda error: opened.said.append(f"error: {error}"))
    opened.page.on("dialog", lambda dialog: opened.said.append(f"dialog: {dialog.message}"))
    opened.page.on("request", lambda request: opened.asked.append(request.url))
    opened.page.goto(path.as_uri())
    opened.page.evaluate("humboldt.drawAll()")
    return opened


@pytest.fixture(scope="module")
def wide(browser: Any, path: Path) -> Opened:
    return show(browser, path, 1280)


def test_nothing_is_wrong_and_nothing_leaves_the_page(wide: Opened, path: Path):
    assert wide.said == []
    assert [url for url in wide.asked if not url.startswith(("data:", "blob:"))] == [path.as_uri()]
    shown = wide.page.locator(".canvas:not(details .canvas)")
    assert shown.locator("svg").count() == shown.count() > 10
    assert wide.page.locator(".drawing img").evaluate_all("images => images.every(image => image.naturalWidth > 100)")


def test_training_curves_are_folded_and_drawn_when_they_are_opened(wide: Opened):
    folded = wide.page.locator("details.curves", has=wide.page.locator("#f-chomsky-training-loss"))
    assert not folded.locator("svg").count()
    folded.locator("summary").click()
    wide.page.wait_for_selector("#f-chomsky-training-loss .canvas[data-drawn]")
    assert folded.locator("#f-chomsky-training-loss svg").bounding_box()["width"] > 400  # pyright: ignore[reportOptionalSubscript]
    folded.locator("summary").click()


def test_tables_hold_the_stores_numbers(wide: Opened):
    own = [scores for scores in results() if scores.training.suite == "chomsky"]
    best = {f"{r.value:.1f}" for r in records(suites.get("chomsky"), own) if r.statistic == "max"}
    section = wide.page.locator("section.suite", has=wide.page.locator("#suite-chomsky"))
    shown = {text.strip("* ") for text in section.locator("td .value").all_inner_texts()}
    assert best <= shown


def test_names_are_text(wide: Opened):
    assert HOSTILE in wide.page.locator("#content").inner_text()
    assert wide.page.evaluate("[...document.scripts].every(script => !script.textContent.startsWith('alert'))")


def test_a_number_tells_where_it_comes_from(wide: Opened):
    page = wide.page
    value = page.locator("#suite-chomsky ~ section td .value[data-key]").first
    value.focus()
    page.keyboard.press("Enter")
    text = page.locator("#source").inner_text()
    for word in ("humboldt run chomsky", "--preset", "Members", "Device", "Wall time", "Expected best of fewer"):
        assert word in text
    page.keyboard.press("Escape")
    assert not page.locator("#source").is_visible()


def opacities(page: Any, figure: str) -> set[float]:
    """Of the points of a figure. The first figure of this name is that of the paper's setting, with one model."""
    drawn = page.locator(f"#{figure} .mark-symbol path[opacity]:not(.role-legend-symbol *)")
    return {round(float(value), 2) for value in drawn.evaluate_all("all => all.map(x => x.getAttribute('opacity'))")}


def test_a_model_is_lit_in_all_figures(wide: Opened):
    page = wide.page
    light = page.locator(".light[data-family='Stack-RNN']")
    assert 0.05 not in opacities(page, "f-chomsky-scores-2")
    light.click()
    assert light.get_attribute("aria-pressed") == "true"
    assert {0.75, 0.05} <= opacities(page, "f-chomsky-scores-2")
    page.wait_for_function("document.querySelector('#f-syntax-accuracies [opacity=\"0.05\"]')")  # a figure far below
    light.click()
    assert 0.05 not in opacities(page, "f-chomsky-scores-2")


def test_a_click_on_a_legend_lights_up(wide: Opened):
    page = wide.page
    entry = page.locator("#f-chomsky-scores-2 .role-legend-label text", has_text="Stack-RNN")
    entry.locator("xpath=..").dispatch_event("click")
    assert page.evaluate("document.documentElement.dataset.picked") == "Stack-RNN"
    assert {0.75, 0.05} <= opacities(page, "f-chomsky-scores-2")
    entry.locator("xpath=..").dispatch_event("click")
    assert page.evaluate("document.documentElement.dataset.picked") == ""


def test_pointing_at_a_member_tells_its_value(wide: Opened):
    page = wide.page
    point = page.locator("#f-chomsky-scores-2 .mark-symbol.role-mark path").first
    point.scroll_into_view_if_needed()
    point.hover(force=True)
    page.wait_for_selector("#vg-tooltip-element.visible")
    text = page.locator("#vg-tooltip-element").inner_text()
    assert "Accuracy, percent" in text and "model" in text


def test_tables_and_figures_can_be_taken_along(wide: Opened, tmp_path: Path):
    page = wide.page
    table = page.locator("#suite-chomsky ~ section figure.table").first
    copied = {}
    for kind in ("csv", "latex", "markdown"):
        table.locator(f"[data-copy={kind}]").click()
        copied[kind] = page.evaluate("humboldt.copied")
    assert copied["csv"].startswith("Level,Task,Chance,Floor,") and "\\begin{tabular}{lrrr" in copied["latex"]
    assert copied["markdown"].splitlines()[1].startswith("| --- | --- |")
    for kind, begin in (("svg", b"<svg"), ("png", b"\x89PNG"), ("csv", b"model,family,")):
        with page.expect_download() as saved:
            page.locator(f"#f-chomsky-scores-2 [data-save={kind}]").click()
        saved.value.save_as(tmp_path / f"figure.{kind}")
        assert (tmp_path / f"figure.{kind}").read_bytes().startswith(begin), kind
    with page.expect_download() as saved:
        page.locator("#f-bliss-network-an-bn [data-save=png]").click()
    saved.value.save_as(tmp_path / "network.png")
    assert (tmp_path / "network.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_layout_fits_and_follows_the_scheme(browser: Any, path: Path, width: int, scheme: str, tmp_path: Path):
    opened = show(browser, path, width, color_scheme=scheme)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    colour = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colour == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 28)"}[scheme]
    opened.page.locator("#theme").click()
    assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") != colour
    opened.page.emulate_media(media="print")
    assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert opened.said == []
    opened.page.context.close()


def test_a_reader_without_sight_is_told_what_figures_show(wide: Opened):
    page = wide.page
    assert page.locator("h1").count() == 1
    words = page.locator(".canvas, .drawing img").evaluate_all(
        "all => all.map(x => x.getAttribute('aria-label') || x.getAttribute('alt'))"
    )
    assert words and all(text and len(text) > 40 for text in words)
    assert page.evaluate("[...document.querySelectorAll('button')].every(x => x.textContent.trim() || x.ariaLabel)")
    assert page.evaluate("[...document.querySelectorAll('main table')].every(x => x.querySelector('th[scope=col]'))")
