"""Reports in a real browser: every chart is drawn, answers to pointer and keys, and asks the network for nothing."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page

from reports import Opened, opened, shiplap, until_drawn

KINDS = ("profile", "check", "comparison", "plan", "run", "movers", "advice", "evaluation", "adaptation")


def chart(report: Opened, title: str) -> Locator:
    figure = report.page.locator(
        "figure[data-figure]", has=report.page.get_by_role("heading", name=title, exact=True)
    ).first
    figure.scroll_into_view_if_needed()
    until_drawn(figure)
    return figure


def ticks(figure: Locator) -> list[str]:
    return figure.locator("svg .axis text").all_text_contents()


def tooltip(figure: Locator) -> str:
    shown = figure.locator(".tooltip:not([hidden])")
    return shown.text_content() or "" if shown.count() else ""


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_of_each_kind_draws_all_it_has_without_a_complaint_or_a_request(
    kind: str, browser: Browser, files: dict[str, Path], tmp_path: Path
) -> None:
    output = tmp_path / "report.html"
    shiplap("report", files[kind], "-o", output, "--no-map")
    report = opened(browser.new_context(), output)
    drawn = report.draw_all()
    assert all(count > 0 for count in drawn)
    assert report.page.locator("figure[data-figure], table").count() > 0
    assert report.complaints == []
    assert report.requests == [output.as_uri()]
    # Nothing is wider than the page.
    assert report.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_every_point_of_a_plot_is_drawn(whole: Opened) -> None:
    whole.draw_all()
    for number, figure in enumerate(whole.data()):
        if figure["kind"] != "plot":
            continue
        circles = whole.page.locator(f"#figure-{number} circle.point").count()
        positive = [
            (x, y)
            for series in figure["series"]
            if not series["line"] or len(series["x"]) <= 60  # longer curves have no marks
            for x, y in zip(series["x"], series["y"], strict=True)
            if (x > 0 or not figure["x"]["log"]) and (y > 0 or not figure["y"]["log"])
        ]
        assert circles == len(positive), figure["title"]


def test_every_op_of_a_timeline_is_drawn_where_its_times_are(whole: Opened) -> None:
    figure = chart(whole, "Timeline: predicted above simulated")
    data = next(f for f in whole.data() if f["title"] == "Timeline: predicted above simulated")
    rows = [row for panel in data["panels"] for row in panel["rows"]]
    bars = [bar for row in rows for bar in row["bars"]]
    end = max(bar[2] for bar in bars)
    places = figure.locator("rect.bar").evaluate_all("all => all.map(r => [r.x.baseVal.value, r.width.baseVal.value])")
    track = figure.locator("rect.track").first.evaluate("r => [r.x.baseVal.value, r.width.baseVal.value]")
    assert len(places) == len(bars)
    for (x, width), bar in zip(places, bars, strict=True):
        assert x == pytest.approx(track[0] + bar[1] / end * track[1], abs=0.1)
        assert width == pytest.approx(max(0.4, (bar[2] - bar[1]) / end * track[1]), abs=0.1)


def test_hovering_a_point_shows_its_figure(whole: Opened) -> None:
    figure = chart(whole, "Rate of one copy over its size")
    figure.locator("circle.point").last.hover(force=True)
    assert re.search(r"size of the copy: .*iB\nrate: [\d.]+ GB/s", tooltip(figure))
    whole.page.mouse.move(1, 1)
    assert tooltip(figure) == ""


def test_a_click_on_a_name_hides_its_curve_and_brings_it_back(whole: Opened) -> None:
    figure = chart(whole, "Rate of one copy over its size")
    before = figure.locator("path.curve").count()
    name = figure.locator(".legend button", has_text="pageable H2D")
    name.click()
    assert name.get_attribute("aria-pressed") == "false"
    assert figure.locator("path.curve").count() == before - 1
    name.click()
    assert figure.locator("path.curve").count() == before


def test_the_axes_are_logarithmic_or_linear_as_asked(whole: Opened) -> None:
    figure = chart(whole, "Rate of one copy over its size")
    assert "64 KiB" in ticks(figure)
    figure.get_by_role("button", name="logarithmic x axis of Rate").click()
    assert "64 KiB" not in ticks(figure)
    # Rates range over more than two decades, so that their axis begins as a logarithmic one.
    assert "0 B/s" not in ticks(figure)
    figure.get_by_role("button", name="logarithmic y axis of Rate").click()
    assert "0 B/s" in ticks(figure)


def test_axes_of_wide_ranges_begin_logarithmic_and_others_as_their_section_says(whole: Opened) -> None:
    whole.draw_all()
    for number, figure in enumerate(whole.data()):
        if figure["kind"] != "plot":
            continue
        for axis in "xy":
            values = [value for series in figure["series"] for value in series[axis] if value is not None]
            wide = figure[axis]["unit"] in ("s", "B", "B/s") and min(values) > 0 and max(values) > 100 * min(values)
            pressed = whole.page.locator(f"#figure-{number}").get_by_role("button", name=f"logarithmic {axis} axis")
            expected = str(figure[axis]["log"] or wide).lower()
            assert pressed.get_attribute("aria-pressed") == expected, (figure["title"], axis)


def test_dragging_zooms_and_a_double_click_resets(whole: Opened) -> None:
    figure = chart(whole, "Rate of one copy over its size")
    before = ticks(figure)
    box = figure.locator("svg.active").bounding_box()
    assert box is not None
    mouse = whole.page.mouse
    mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.3)
    mouse.down()
    mouse.move(box["x"] + box["width"] * 0.8, box["y"] + box["height"] * 0.7, steps=5)
    mouse.up()
    assert ticks(figure) != before
    figure.locator("svg.active").dblclick(position={"x": box["width"] / 2, "y": box["height"] / 2})
    assert ticks(figure) == before


def test_keys_walk_through_points_zoom_and_reset(whole: Opened) -> None:
    figure = chart(whole, "Rate of one copy over its size")
    before = ticks(figure)
    figure.locator("svg.active").focus()
    keyboard = whole.page.keyboard
    keyboard.press("ArrowRight")
    first = tooltip(figure)
    keyboard.press("ArrowRight")
    second = tooltip(figure)
    assert first.startswith("pinned H2D") and second.startswith("pinned H2D") and first != second
    assert figure.locator("[aria-live=polite]").text_content() == second
    keyboard.press("ArrowDown")
    assert tooltip(figure).startswith("pinned D2H")
    keyboard.press("+")
    assert ticks(figure) != before
    assert whole.page.evaluate("document.activeElement.tagName") == "svg"
    for _ in range(3):
        keyboard.press("-")
    assert ticks(figure) == before  # nothing lies beyond what is there
    keyboard.press("+")
    keyboard.press("0")
    assert ticks(figure) == before
    keyboard.press("Escape")
    assert tooltip(figure) == ""
    assert figure.locator(".cursor").count() == 0


def test_a_timeline_zooms_moves_and_shows_ops(whole: Opened) -> None:
    figure = chart(whole, "Timeline: predicted above simulated")
    before = ticks(figure)
    bar = figure.locator("rect.bar").nth(3)
    bar.hover()
    assert re.match(r"predicted: copy H2D of chunk \d+ .*\nfrom .* to .*\ntakes .*", tooltip(figure))
    chunk = figure.locator("rect.bar.same").count()
    assert chunk >= 6  # two copies in, a kernel and a copy out, predicted and simulated, are one chunk
    figure.get_by_role("button", name="zoom in").click()
    zoomed = ticks(figure)
    assert zoomed != before
    figure.get_by_role("button", name="move right").click()
    assert ticks(figure) != zoomed
    figure.locator("svg.active").focus()
    whole.page.keyboard.press("ArrowRight")
    one = tooltip(figure)
    whole.page.keyboard.press("ArrowRight")
    assert tooltip(figure) not in ("", one)
    whole.page.keyboard.press("ArrowDown")
    assert "kernel" in tooltip(figure)
    whole.page.keyboard.press("0")
    assert ticks(figure) == before


def test_the_map_answers_what_if_by_keys_and_clicks(whole: Opened) -> None:
    figure = chart(whole, "The fastest strategy over size and kernel time")
    answer = figure.locator(".answer")
    at_job = answer.text_content() or ""
    assert at_job.startswith("128 MiB and a kernel of") or at_job.startswith("256 MiB and a kernel of")
    figure.locator("svg.active").focus()
    for _ in range(30):
        whole.page.keyboard.press("ArrowRight")
    for _ in range(30):
        whole.page.keyboard.press("ArrowDown")
    assert (answer.text_content() or "").startswith("16 GiB and a kernel of 10 µs: streams is the fastest")
    box = figure.locator("svg.active").bounding_box()
    assert box is not None
    figure.locator("svg.active").click(position={"x": 80, "y": 40})
    assert (answer.text_content() or "").startswith("1 MiB and a kernel of 1 s")


def losses(figures: list[dict]) -> list[float]:
    """What the second best strategy loses in each cell of the map."""
    cells = next(f for f in figures if f["kind"] == "map")["cells"]
    return [times[1][2] / times[0][2] - 1 for times in cells if len(times) > 1]


def test_the_map_hatches_the_cells_whose_second_best_loses_less_than_2_percent_and_no_others(whole: Opened) -> None:
    figure = chart(whole, "The fastest strategy over size and kernel time")
    close = sum(loss < 0.02 for loss in losses(whole.data()))
    assert 0 < close < len(losses(whole.data()))
    assert figure.locator(".cell.hatched").count() == close


def test_a_cell_of_the_map_and_its_tooltip_say_what_the_second_best_loses(whole: Opened) -> None:
    figure = chart(whole, "The fastest strategy over size and kernel time")
    shown = [float(text.strip("< %")) for text in figure.locator(".cell-text").all_text_contents()]
    for text, loss in zip(shown, losses(whole.data()), strict=True):
        assert text == pytest.approx(loss * 100, rel=0.06, abs=0.1)
    figure.locator(".cell:not(.hatched)").last.hover(force=True)
    assert re.search(r"is the fastest, [a-z-]+ loses [\d.]+ % \([\d.]+ [mµn]?s\)\.", tooltip(figure))
    whole.page.mouse.move(1, 1)
    assert tooltip(figure) == ""


def test_the_map_has_the_times_of_a_plan(whole: Opened, files: dict[str, Path]) -> None:
    """A plan of the job in the corner of the map is another way to the same number."""
    figure = chart(whole, "The fastest strategy over size and kernel time")
    figure.locator("svg.active").focus()
    for key in ("ArrowLeft", "ArrowDown"):
        for _ in range(30):
            whole.page.keyboard.press(key)
    row = figure.locator(".answer tbody tr", has_text="explicit")
    shown = float((row.locator("td").nth(2).text_content() or "").split(" ")[0])  # µs
    data = next(f for f in whole.data() if f["kind"] == "map")
    shape = json.loads(files["plan"].read_text())["shape"]
    part = round(64 * shape["bytes_in"]["value"] / (shape["bytes_in"]["value"] + shape["bytes_out"]["value"]))
    job = ("--in", f"{part * 16384}", "--out", f"{(64 - part) * 16384}", "--kernel", f"{data['ys'][0]}s")
    plan = json.loads(shiplap("plan", *job, "--profile", "h200", "--json"))
    explicit = next(c for c in plan["candidates"] if c["strategy"] == "explicit")
    assert shown == pytest.approx(explicit["predicted"]["value"] * 1e3, rel=1e-3)


def test_tables_sort_by_numbers_and_copy_as_csv(whole: Opened) -> None:
    holder = whole.page.locator(".data", has=whole.page.get_by_role("heading", name="Candidates"))
    title = holder.get_by_role("button", name="predicted")
    title.click()
    title.click()
    values = [
        float(v) for v in holder.locator("td[data-value]:nth-child(3)").evaluate_all("c => c.map(x => x.dataset.value)")
    ]
    assert values == sorted(values, reverse=True) and len(values) > 2
    assert holder.locator("th").nth(2).get_attribute("aria-sort") == "descending"
    holder.get_by_role("button", name="copy as CSV").click()
    holder.get_by_text("copied").wait_for()
    copied = list(csv.reader(io.StringIO(whole.page.evaluate("navigator.clipboard.readText()"))))
    assert copied[0] == ["rank", "choice", "predicted [s]", "over the bound", "closed form [s]", "note"]
    assert [float(row[2]) for row in copied[1:]] == values
    assert len(copied) == len(values) + 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_charts_follow_the_scheme_of_the_reader(scheme: str, browser: Browser, report: Path) -> None:
    page = opened(browser.new_context(color_scheme=scheme), report).page
    background, text = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )
    luminance = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (background, text)]
    assert (luminance[0] > luminance[1]) == (scheme == "light")


def test_a_print_has_every_chart_on_white_without_buttons(whole: Opened, tmp_path: Path) -> None:
    page = whole.page
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    figures = page.locator("figure[data-figure]")
    assert all(figures.nth(n).get_attribute("data-drawn") for n in range(figures.count()))
    assert page.locator(".tools").first.is_hidden()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    printed = tmp_path / "report.pdf"
    page.pdf(path=printed)
    assert printed.stat().st_size > 20_000


def test_a_phone_shows_all_of_it_in_its_width(browser: Browser, report: Path) -> None:
    phone = opened(browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True), report)
    assert all(count > 0 for count in phone.draw_all())
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert phone.complaints == []


def test_a_tap_shows_the_values_of_a_point_and_of_an_op(browser: Browser, report: Path) -> None:
    phone = opened(browser.new_context(viewport={"width": 390, "height": 740}, has_touch=True, is_mobile=True), report)
    figure = chart(phone, "Rate of one copy over its size")
    figure.locator("circle.point").last.tap(force=True)
    assert "rate: " in tooltip(figure)
    figure = chart(phone, "Timeline: predicted above simulated")
    figure.locator("rect.bar").nth(3).tap(force=True)
    assert "takes " in tooltip(figure)


def test_no_zoom_is_too_deep(whole: Opened) -> None:
    figure = chart(whole, "Rate of one copy over its size")
    for key in ["ArrowRight"] + ["+"] * 60 + ["ArrowRight"] * 3:
        figure.locator("svg.active").focus()
        whole.page.keyboard.press(key)
    assert tooltip(figure).startswith("pinned H2D")
    figure = chart(whole, "Timeline: predicted above simulated")
    for key in ["ArrowRight"] + ["+"] * 60:
        figure.locator("svg.active").focus()
        whole.page.keyboard.press(key)
    assert len(set(ticks(figure))) == len(ticks(figure))
    assert whole.complaints == []


def test_keys_reach_ops_that_are_too_short_to_be_drawn(browser: Browser, tmp_path: Path) -> None:
    run = ("run", "saxpy:n=4Mi", "--device", "virtual:h200", "--strategy", "streams", "--chunks", "2000", "--gantt")
    (tmp_path / "run.json").write_text(shiplap(*run, "--json"))
    shiplap("report", tmp_path / "run.json", "-o", tmp_path / "report.html", "--no-map")
    report = opened(browser.new_context(), tmp_path / "report.html")
    figure = chart(report, "Timeline: predicted above simulated")
    assert int(figure.get_attribute("data-drawn") or 0) < 2 * 8000
    figure.locator("svg.active").focus()
    seen = set()
    for _ in range(30):
        report.page.keyboard.press("ArrowRight")
        seen.add(tooltip(figure))
    assert len(seen) == 30


def hostile_profile(files: dict[str, Path], tmp_path: Path) -> Path:
    profile = json.loads(files["profile"].read_text())
    evil = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">"\'`\x07\x1b[31m\u202e'
    profile["name"] = "evil"
    profile["gpus"][0]["name"] = evil
    profile["source"] = evil + "A" * 1_000_000
    profile["conditions"][evil] = evil
    profile["conditions"]["gpu.link"] = evil
    for measurement in profile["measurements"][:3]:
        measurement["primitive"] = evil
    file = tmp_path / "evil.json"
    file.write_text(json.dumps(profile))
    return file


def test_a_hostile_file_is_shown_as_text_and_runs_nothing(
    browser: Browser, files: dict[str, Path], tmp_path: Path
) -> None:
    advice = json.loads(files["advice"].read_text())
    advice["program"] = "<svg onload=alert(1)>" + "B" * 1_000_000
    for op in advice["recorded_timeline"]:
        op["op"] = "</script><script>window.hacked=1</script>"
    (tmp_path / "advice.json").write_text(json.dumps(advice))
    output = tmp_path / "evil.html"
    shiplap("report", hostile_profile(files, tmp_path), tmp_path / "advice.json", "-o", output, "--no-map")
    report = opened(browser.new_context(), output)
    report.page.on("dialog", lambda dialog: pytest.fail(f"a dialog opened: {dialog.message}"))
    assert all(count > 0 for count in report.draw_all())
    figure = chart(report, "Timeline: the recorded steps above the advised ones")
    figure.locator("rect.bar").first.hover(force=True)
    assert "</script>" in tooltip(figure)
    assert report.page.evaluate("window.hacked") is None
    assert report.page.locator("img").count() == 0
    assert "\u202e" not in output.read_text()
    assert "<img src=x" in (report.page.locator("h2").first.text_content() or "")
    assert report.complaints == [] and report.requests == [output.as_uri()]
    assert output.stat().st_size < 1_000_000


def measured_in_page(page: Page, file: Path) -> float:
    """Seconds until the first chart is drawn."""
    begin = time.monotonic()
    page.goto(file.as_uri())
    until_drawn(page.locator("figure[data-figure]").first)
    return time.monotonic() - begin


def test_the_first_chart_of_a_hundred_thousand_points_is_there_within_a_second(
    browser: Browser, files: dict[str, Path], tmp_path: Path
) -> None:
    lines = files["adaptation"].read_text().splitlines()
    batches = [line for line in lines[1:] if json.loads(line).get("span")]
    first = json.loads(batches[0])
    many = [
        json.dumps({**first, "batch": number, "span": {"value": 1e-3 + number % 97 * 1e-6, "unit": "s"}})
        for number in range(100_000)
    ]
    log = tmp_path / "long.jsonl"
    log.write_text("\n".join([lines[0], *many]) + "\n")
    output = tmp_path / "long.html"
    shiplap("report", log, "-o", output)
    context = browser.new_context()
    page = context.new_page()
    measured_in_page(page, output)  # the browser's own start is not the report's
    # What else the machine does only adds time, so the fastest of several counts.
    assert any(measured_in_page(page, output) < 1 for _ in range(10))
    assert page.locator("figure[data-figure]").first.get_attribute("data-drawn") == "100000"
    figure = page.locator("figure[data-figure]").first
    dots = figure.locator("path.dots").get_attribute("d") or ""
    assert dots.count("M") == 100_000


def test_a_report_without_its_data_is_smaller_than_400_kb(whole: Opened, report: Path) -> None:
    page = report.read_text()
    scripts = "".join(re.findall(r"<script nonce[^>]*>.*?</script>", page, re.DOTALL))
    styles = "".join(re.findall(r"<style.*?</style>", page, re.DOTALL))
    assert len(scripts.encode()) + len(styles.encode()) < 400_000


def colour_of(page: Page, thing: str) -> str:
    """The colour of a thing as the browser computes it."""
    return page.evaluate(
        """thing => {
             const probe = document.body.appendChild(document.createElement("i"));
             probe.style.color = `var(--of-${thing})`;
             const colour = getComputedStyle(probe).color;
             probe.remove();
             return colour;
           }""",
        thing,
    )


def test_a_direction_has_one_colour_in_curves_timelines_and_legends(whole: Opened) -> None:
    blue, orange, green = (colour_of(whole.page, thing) for thing in ("h2d", "d2h", "kernel"))
    assert len({blue, orange, green}) == 3
    for title in ("Rate of one copy over its size", "Copies in a row, alone and while the other direction runs"):
        figure = chart(whole, title)
        for name in figure.locator(".legend button").all():
            text = name.text_content() or ""
            colour = name.locator("line").evaluate("line => getComputedStyle(line).stroke")
            if text.startswith(("pinned H2D", "pageable H2D", "H2D")):
                assert colour == blue, text
            if text.startswith(("pinned D2H", "pageable D2H", "D2H")):
                assert colour == orange, text
    timeline = chart(whole, "Timeline: predicted above simulated")
    fills = timeline.locator("rect.bar").evaluate_all("all => [...new Set(all.map(r => getComputedStyle(r).fill))]")
    assert set(fills) == {blue, orange, green}


def test_a_strategy_has_one_colour_in_the_map_and_in_an_evaluation(whole: Opened) -> None:
    streams = colour_of(whole.page, "streams")
    figure = chart(whole, "The fastest strategy over size and kernel time")
    swatch = figure.locator(".legend .entry", has_text="streams").locator(".swatch")
    assert swatch.evaluate("swatch => getComputedStyle(swatch).backgroundColor") == streams
    figure = chart(whole, "Predicted beside simulated time")
    point = figure.locator(".legend button", has_text="streams").locator("circle")
    assert point.evaluate("point => getComputedStyle(point).fill") == streams


def test_every_verdict_and_number_on_top_stands_in_a_sentence_of_its_section_and_a_record_has_four_numbers_at_most(
    whole: Opened, browser: Browser, files: dict[str, Path], tmp_path: Path
) -> None:
    results = whole.page.locator(".result")
    assert results.count() > 5
    for result in results.all():
        section = whole.page.locator(result.locator("a").get_attribute("href") or "")
        sentences = " ".join(section.locator(".headline").all_text_contents())
        assert (result.locator(".verdict").text_content() or "") in sentences
        for value in result.locator("dd").all_text_contents():
            assert value in sentences
    for kind, numbers in {"check": 0, "comparison": 3, "plan": 3, "run": 3, "profile": 4}.items():
        shiplap("report", files[kind], "-o", tmp_path / "one.html", "--no-map")
        page = opened(browser.new_context(), tmp_path / "one.html").page
        shown = page.locator(".result dd")
        assert shown.count() >= numbers and shown.count() <= 4, kind
        assert page.locator(".result .verdict").first.is_visible()


def test_the_verdict_on_top_has_the_colour_of_its_judgement(
    browser: Browser, files: dict[str, Path], tmp_path: Path
) -> None:
    for kind, judged in {"run": "good", "comparison": "bad", "plan": ""}.items():
        shiplap("report", files[kind], "-o", tmp_path / "one.html", "--no-map")
        page = opened(browser.new_context(), tmp_path / "one.html").page
        verdict = page.locator(".result .verdict").first
        assert verdict.get_attribute("class") == f"verdict {judged}"
        variable = "--text" if judged == "" else f"--of-{judged}"
        expected = page.evaluate(
            "name => { const i = document.body.appendChild(document.createElement('i'));"
            "i.style.color = `var(${name})`; return getComputedStyle(i).color; }",
            variable,
        )
        assert verdict.evaluate("v => getComputedStyle(v).color") == expected, kind


def luminance(colour: str) -> float:
    channels = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_a_contrast_of_at_least_4_5_with_their_background(
    scheme: str, browser: Browser, report: Path
) -> None:
    page = opened(browser.new_context(color_scheme=scheme), report)
    page.draw_all()
    pairs = page.page.evaluate(
        """() => {
             const opaque = (element) => {
               for (let at = element; at !== null; at = at.parentElement) {
                 const colour = getComputedStyle(at).backgroundColor;
                 if (!colour.startsWith("rgba(")) return colour;
               }
               return "rgb(255, 255, 255)";
             };
             const kinds = "p, li, h1, h2, h3, td, th, dt, dd, a, button, summary, svg text";
             const texts = [...document.querySelectorAll(kinds)];
             const is_text = (t) => t.textContent.trim() !== "" && !t.matches(".cell-text");
             const shown = texts.filter((t) => t.checkVisibility() && is_text(t));
             const colour = (t) => getComputedStyle(t)[t instanceof SVGElement ? "fill" : "color"];
             return [...new Set(shown.map((t) => `${colour(t)}|${opaque(t)}`))];
           }"""
    )
    assert len(pairs) > 5
    for pair in pairs:
        brighter, darker = sorted(map(luminance, pair.split("|")), reverse=True)
        assert (brighter + 0.05) / (darker + 0.05) >= 4.5, pair


def test_on_a_phone_rows_are_cards_with_the_title_of_the_column_before_each_value(
    browser: Browser, files: dict[str, Path], tmp_path: Path
) -> None:
    shiplap("report", files["profile"], files["plan"], "-o", tmp_path / "phone.html", "--no-map")
    phone = opened(browser.new_context(viewport={"width": 400, "height": 740}, is_mobile=True), tmp_path / "phone.html")
    table = phone.page.get_by_role("table", name="Candidates")
    row = table.locator("tbody tr").first
    assert row.evaluate("row => getComputedStyle(row).display") == "block"
    titles = row.locator("td").evaluate_all("all => all.map(c => getComputedStyle(c, '::before').content)")
    assert titles == [f'"{t}"' for t in ("rank", "choice", "predicted", "over the bound", "closed form", "note")]
    cut_off = "all => all.filter(s => s.scrollWidth > s.clientWidth).length"
    assert phone.page.locator(".scroll").evaluate_all(cut_off) == 0
    table.get_by_role("button", name="predicted").click()
    assert table.locator("th").nth(2).get_attribute("aria-sort") == "ascending"


def test_a_simulated_gpu_and_a_profile_never_bear_the_name_of_this_host(
    browser: Browser, files: dict[str, Path], tmp_path: Path
) -> None:
    for name, arguments in {"virtual": ("--device", "virtual:h200"), "profile": ("--profile", "h200")}.items():
        file = tmp_path / f"{name}.json"
        file.write_text(shiplap("check", *arguments, "--json"))
        # A name that stands nowhere else.
        checked = json.loads(file.read_text())
        if name == "virtual":
            checked["node"] = "this-very-host"
            file.write_text(json.dumps(checked))
        shiplap("report", file, "-o", tmp_path / "check.html")
        page = opened(browser.new_context(), tmp_path / "check.html").page
        for text in (*page.locator("h1, h2, .verdict, .headline, nav a").all_text_contents(),):
            assert "this-very-host" not in text and " on h200" not in text
        assert ("(simulated)" in (page.locator("h2").first.text_content() or "")) == (name == "virtual")
