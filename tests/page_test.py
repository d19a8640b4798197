#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The page of `espalier report` in a real browser. Usage: page_test.py ESPALIER
# It wants chromium and its driver from Debian and selenium from PyPI, and is skipped without them.
import csv
import io
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None

ESPALIER = str(Path(sys.argv.pop(1)).resolve()) if len(sys.argv) > 1 else "espalier"
DIRECTED = ["--increasing", "late_payments,debt_ratio", "--decreasing", "income"]
SMALL = ["--architecture", "dln(3x2)"]
# The kinds of labels, and architectures that have every step of a program between them.
KINDS = {
    "two classes": ("loans", ["--label", "default", *DIRECTED, *SMALL]),
    "offset": ("loans", ["--label", "default", "--offset", "debt_ratio", "--increasing",
                         "late_payments", *SMALL]),
    "mean": ("prices", ["--label", "interest", *DIRECTED, "--architecture",
                        "cal(5) lin(6) cal(4) lat(2x3,simplex) lin(5) relu lin(1)"]),
    "median": ("prices", ["--label", "interest", "--loss", "absolute_error", *DIRECTED,
                          "--architecture", "cal(5) lin(6) minmax(3x2)"]),
    "quantiles": ("prices", ["--label", "interest", "--quantile", "0.1,0.5,0.9", *DIRECTED,
                             "--ensemble", "2", "--architecture", "cal(4) lin(4) lat(2x2) sum"]),
    "grades": ("grades", ["--label", "grade", "--grades", "low<moderate<high<severe", *DIRECTED,
                          *SMALL]),
    "classes": ("grades", ["--label", "grade", *SMALL]),
    "directed classes": ("grades", ["--label", "grade", "--increasing", "severe:debt_ratio",
                                    *SMALL]),
    "counts": ("claims", ["--label", "claims", "--exposure", "exposure", "--loss", "poisson",
                          "--drop", "cost", *DIRECTED, *SMALL]),
    "pairs": ("loans", ["--label", "default", "--increasing", "income", "--interactions",
                        "age*loan_amount,region*purpose,income*age,region*income", *SMALL]),
}


def espalier(*arguments):
    done = subprocess.run([ESPALIER, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"espalier {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def bits(number):
    return struct.pack("<f", number)


class Browser:
    """Chromium without a window."""

    def __init__(self):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for flag in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu",
                     "window-size=1280,900"):
            options.add_argument(f"--{flag}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")),
                                       options=options)

    def open(self, path):
        self.logs()
        self.driver.get(Path(path).as_uri())

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def width(self, pixels):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": pixels, "height": 800, "deviceScaleFactor": 1, "mobile": pixels < 600})

    def logs(self):
        """What the console says, and the addresses that were asked for."""
        console = [entry["message"] for entry in self.driver.get_log("browser")]
        events = [json.loads(entry["message"])["message"]
                  for entry in self.driver.get_log("performance")]
        return console, [event["params"]["request"]["url"] for event in events
                         if event["method"] == "Network.requestWillBeSent"]


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.driver.quit)
        cls.browser.driver.set_script_timeout(60)

    def path(self, name):
        return self.folder / name

    def simulate(self, name, kind, rows, seed, *flags):
        espalier("simulate", "--kind", kind, "--rows", rows, "--seed", seed, *flags, "-o",
                 self.path(name))
        with open(self.path(name), newline="", encoding="utf-8") as file:
            return list(csv.reader(file))

    def write(self, name, rows):
        with open(self.path(name), "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)

    def train(self, *flags):
        espalier("train", self.path("train.csv"), "-o", self.path("model.esp"), "--epochs", 1,
                 "--quiet", *flags)

    def report(self, *flags):
        page = self.path("report.html")
        page.unlink(missing_ok=True)
        espalier("report", self.path("model.esp"), self.path("test.csv"), "-o", page, "--pairs",
                 2000, *flags)
        self.browser.open(page)
        self.assert_quiet()
        return page

    def eventually(self, script, holds):
        """Browsers tell a page of changed media, sizes and keys at the next frame they draw."""
        until = time.monotonic() + 30
        while not holds(found := self.browser.run(script)):
            self.assertLess(time.monotonic(), until, f"{script} gives {found!r}")
            time.sleep(0.01)

    def assert_quiet(self):
        console, addresses = self.browser.logs()
        self.assertEqual(console, [])
        self.assertTrue(all(url.startswith(("file:", "data:")) for url in addresses), addresses)

    def make(self, kind, rows=1000):
        """A page for a kind of label; the test rows have odd cells."""
        table, flags = KINDS[kind]
        self.simulate("train.csv", table, 300, 1)
        head, *body = self.simulate("test.csv", table, rows, 2)
        drawn = random.Random(3)
        labels = ("default", "interest", "grade", "claims", "cost", "exposure")
        for row in body:
            for i, name in enumerate(head):
                if name in labels or (kind == "offset" and name == "debt_ratio"):
                    continue
                is_number = name not in ("region", "purpose", "housing")
                if drawn.random() < 0.08:
                    row[i] = drawn.choice(["", "NA", "?"])
                elif drawn.random() < 0.08:
                    row[i] = drawn.choice(["1e9", "-1e9", "0"]) if is_number else "seen never"
        self.write("test.csv", [head, *body])
        self.train(*flags)
        return head, body

    def predicted(self):
        """By row, the numbers that the predictor gives."""
        answer = json.loads(espalier("predict", self.path("model.esp"), self.path("test.csv"),
                                     "--json"))["predictions"]
        if isinstance(answer, list):
            return [[number] for number in answer]
        names = self.browser.run("return JSON.parse(document.getElementById('data').textContent)"
                                 ".label.outputs")
        return list(map(list, zip(*(answer[name] for name in names))))

    def columns(self):
        return self.browser.run("""
            const data = JSON.parse(document.getElementById('data').textContent);
            return [...data.columns.list, ...data.beside].map(column => column.name)""")

    def shown(self):
        return json.loads(self.browser.run(
            "return document.getElementById('prediction').dataset.value"))

    def test_every_kind_of_label_is_predicted_with_the_bits_of_the_predictor(self):
        for kind in KINDS:
            with self.subTest(kind):
                head, body = self.make(kind)
                self.report()
                order = [head.index(name) for name in self.columns()]
                texts = [[row[i] for i in order] for row in body]
                found = self.browser.run(
                    "return espalier.predict(arguments[0].map(espalier.cells))", texts)
                wanted = self.predicted()
                self.assertEqual(len(found), 1000)
                for row, (own, other) in enumerate(zip(found, wanted)):
                    self.assertEqual([*map(bits, own)], [*map(bits, other)], f"row {row}")
                self.check_pasted_rows(head, body[:10], wanted)
                self.check_reasons()
                self.assert_quiet()

    def test_any_exposure_counts_as_it_does_for_the_predictor(self):
        head, body = self.make("counts", 60)
        self.report()
        odd = ["0", "-0", "-3", "inf", "-inf", "1e39", "1e-45", "", "0.25", "3.4e38"]
        at = head.index("exposure")
        for i, row in enumerate(body):
            row[at] = odd[i % len(odd)]
        self.write("test.csv", [head, *body])
        order = [head.index(name) for name in self.columns()]
        found = self.browser.run("return espalier.predict(arguments[0].map(espalier.cells))",
                                 [[row[i] for i in order] for row in body])
        for row, own, other in zip(body, found, self.predicted()):
            self.assertEqual([*map(bits, own)], [*map(bits, other)], row[at])

    def check_pasted_rows(self, head, body, wanted):
        for row, numbers in zip(body, wanted):
            text = io.StringIO()
            csv.writer(text).writerows([head, row])
            self.browser.run("document.getElementById('paste').value = arguments[0];"
                             "document.getElementById('use-row').click()", text.getvalue())
            self.assertEqual([*map(bits, self.shown())], [*map(bits, numbers)])

    def check_reasons(self):
        sums = self.browser.run("""
            const data = JSON.parse(document.getElementById('data').textContent);
            if (data.label.kind === 'classes') return null;
            const row = espalier.row(), from = [...data.baseline, ...row.slice(data.baseline.length)];
            const shares = JSON.parse(document.getElementById('reasons').dataset.value);
            const [a, b] = espalier.scores([from, row]);
            return [b[data.label.main] - a[data.label.main], shares.reduce((x, y) => x + y, 0)]""")
        if sums is not None:
            self.assertAlmostEqual(sums[0], sums[1], places=6)

    def test_a_monotone_slider_never_lowers_what_is_shown(self):
        for kind in ("two classes", "quantiles", "grades", "counts"):
            with self.subTest(kind):
                self.make(kind, rows=60)
                self.report()
                moved = []
                for name, sign in (("late_payments", 1), ("debt_ratio", 1), ("income", -1)):
                    path = self.browser.run("""
                        const f = arguments[0], slider = document.getElementById('cell-' + f), seen = [];
                        for (let k = 0; k <= 40; ++k) {
                          const at = Number(slider.min) + (slider.max - slider.min) * k / 40;
                          slider.value = at;
                          slider.dispatchEvent(new Event('input'));
                          seen.push(JSON.parse(document.getElementById('prediction').dataset.value));
                        }
                        return seen""", self.columns().index(name))
                    steps = [sign * (b - a) for before, after in zip(path, path[1:])
                             for a, b in zip(before, after)]
                    self.assertGreaterEqual(min(steps), 0, name)
                    moved.append(max(steps))
                self.assertGreater(max(moved), 0)

    def test_hostile_names_and_words_are_text(self):
        names = ["<script>window.hacked=1</script>", "</script><script>window.hacked=1</script>",
                 "\"'><img src=x onerror=window.hacked=1>", "naïve 名前 &amp; \u2028", "label <b>"]
        words = ["</script><b>", "<!--", "'\"&lt;", "ünï"]
        drawn = random.Random(5)
        for name in ("train.csv", "test.csv"):
            rows = []
            for _ in range(200):
                a, b = drawn.random(), drawn.random()
                rows.append([f"{a:.3f}", drawn.choice(words), f"{b:.3f}", drawn.choice(words),
                             "yes </script>" if a + b > drawn.random() * 2 else "no <i>"])
            self.write(name, [names, *rows])
        self.train("--label", names[4], "--increasing", names[0], *SMALL)
        page = self.report("--by", names[1])
        state = self.browser.run("""
            const texts = [...document.querySelectorAll('#columns figure h3 .name')];
            return [window.hacked === undefined, document.scripts.length,
                    document.querySelectorAll('img, iframe, b, i').length,
                    texts.map(own => own.textContent).sort(), document.querySelector('h1').textContent]""")
        self.assertEqual(state, [True, 2, 0, sorted(names[:4]), names[4]])
        for text in ("<script>window", "</script><b>", "<!--", "<img"):
            self.assertNotIn(text, page.read_text(encoding="utf-8").split('id="data"')[1]
                             .split("</script>")[0])

    def test_tables_of_2_and_of_200_columns_fit_a_phone_and_2_megabytes(self):
        for numbers, categories in ((4, 1), (150, 50)):
            with self.subTest(numbers=numbers):
                more = ["--numbers", numbers, "--categories", categories]
                self.simulate("train.csv", "loans", 300, 1, *more)
                self.simulate("test.csv", "loans", 300, 2, *more)
                drop = ["--drop", "late_payments,years_employed,region"] if numbers == 4 else []
                self.train("--label", "default", "--increasing", "debt_ratio", *drop,
                           "--architecture", "cal(4) lin(4) lat(2x2) lin(1)")
                page = self.report()
                self.assertEqual(len(self.columns()), 2 if drop else 200)
                size = self.browser.run("""return [document.querySelectorAll('.control').length,
                    JSON.stringify(JSON.parse(document.getElementById('data').textContent).program).length]""")
                self.assertEqual(size[0], 2 if drop else 200)
                self.assertLess(page.stat().st_size - size[1], 2e6)
                for width in (375, 320, 800, 1280):
                    self.browser.width(width)
                    self.eventually("return document.documentElement.scrollWidth",
                                    lambda wide, most=width: wide <= most)

    def test_a_page_is_usable_by_keyboard_and_names_everything(self):
        self.make("two classes", rows=100)
        self.report("--by", "region")
        unnamed = self.browser.run("""
            const named = own => own.getAttribute('aria-label') || (own.labels && own.labels.length) ||
              own.textContent.trim();
            return [...document.querySelectorAll('svg[role=img], input, select, textarea, button, a')]
              .filter(own => !named(own)).map(own => own.outerHTML)""")
        self.assertEqual(unnamed, [])
        body = self.browser.driver.find_element(By.TAG_NAME, "body")
        body.send_keys(Keys.TAB)
        self.eventually("return document.activeElement.className", lambda own: own == "skip")
        slider = self.browser.driver.find_element(
            By.ID, f"cell-{self.columns().index('debt_ratio')}")
        before = self.shown()[0]
        slider.send_keys(*[Keys.ARROW_RIGHT] * 60)
        self.eventually("return document.getElementById('prediction').dataset.value",
                        lambda shown: json.loads(shown)[0] > before)

    def test_a_page_prints_and_has_both_themes(self):
        self.make("two classes", rows=100)
        self.report()
        for theme in ("light", "dark", "light"):
            self.browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
                {"name": "prefers-color-scheme", "value": theme}]})
            self.eventually("return document.documentElement.dataset.theme",
                            lambda own, wanted=theme: own == wanted)
        printed = self.browser.driver.execute_cdp_cmd("Page.printToPDF", {})["data"]
        self.assertGreater(len(printed), 20_000)
        self.browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        self.eventually("return [...document.querySelectorAll('.top, #what-if')].map("
                        "own => getComputedStyle(own).display)",
                        lambda shown: shown == ["none", "none"])
        self.browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})

    def test_without_a_label_the_page_says_so(self):
        head, body = self.make("two classes", rows=50)
        at = head.index("default")
        self.write("test.csv", [[cell for i, cell in enumerate(row) if i != at]
                                for row in [head, *body]])
        self.report()
        self.assertIn("no label default", self.browser.run(
            "return document.getElementById('quality').textContent"))


def missing_tools():
    tools = [tool for tool in ("chromium", "chromedriver") if shutil.which(tool) is None]
    return tools + (["selenium"] if webdriver is None else [])


if __name__ == "__main__":
    if missing := missing_tools():
        print(f"skipped: there is no {', '.join(missing)}")
        sys.exit(0)
    os.environ.setdefault("SE_AVOID_STATS", "true")
    unittest.main()
