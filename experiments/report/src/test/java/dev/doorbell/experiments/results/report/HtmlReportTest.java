package dev.doorbell.experiments.results.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.config.figure.FigureReader;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.run.FakeRuntime;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.Runs;
import dev.doorbell.experiments.run.StoredRun;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.imageio.ImageIO;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

class HtmlReportTest {
  private static final Pattern ID = Pattern.compile(" id=\"([^\"]+)\"");

  /** Chromium may still write into its profile when the test has ended. */
  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private Path folder;

  @TempDir private static Path runs;

  private static @Nullable StoredRun made;

  /** The run of every test, made once. */
  private static StoredRun run() throws RunException {
    StoredRun run = made;
    if (run == null) {
      run =
          Runs.make(
              runs,
              Configs.read(Configs.SMALL, "path=pull,push.memic", "size=64,4K,64K", "samples=21"));
      made = run;
    }
    return run;
  }

  private static byte[] page(StoredRun... runs) throws RunException {
    return HtmlReport.of(
        List.of(runs),
        List.of(),
        () -> {
          throw new IllegalStateException("samples suffice");
        });
  }

  private static String html(StoredRun... runs) throws RunException {
    return new String(page(runs), StandardCharsets.UTF_8);
  }

  @Test
  void the_same_run_gives_the_same_bytes() throws RunException {
    StoredRun run = run();
    assertThat(page(run)).isEqualTo(page(run));
  }

  @Test
  void the_page_asks_no_server_for_anything() throws RunException {
    assertThat(html(run()).replace("http://www.w3.org/2000/svg", ""))
        .doesNotContain("http://", "https://", "src=", "@import", "url(");
  }

  @Test
  void it_says_what_the_numbers_are_and_what_they_rest_on() throws RunException {
    StoredRun run = run();
    assertThat(html(run))
        .contains(run.data().runId(), "Not a hardware measurement", "Manifest", "Resolved config")
        .contains("latency p50 µs", "[95 % CI]", run.manifest().configHash())
        .contains("<figure data-figure=\"cdf-latency\"", "class=\"entry series-pull\"");
  }

  @Test
  void identifiers_are_unique_even_where_two_runs_are_on_one_page() throws RunException {
    StoredRun run = run();
    Matcher ids = ID.matcher(html(run, run));
    Set<String> seen = new HashSet<>();
    while (ids.find()) {
      assertThat(seen.add(ids.group(1))).as(ids.group(1)).isTrue();
    }
    assertThat(seen).contains("run-1", "run-2");
  }

  @Test
  void what_a_run_amounts_to_stands_before_everything_else() throws RunException {
    assertThat(html(run()))
        .containsSubsequence(
            "<th scope=\"row\">made with</th>",
            "all 6 have a result",
            "21 of each metric at a point",
            "<th scope=\"row\">warnings</th>",
            "<h3>Figures</h3>",
            "<b>latency</b> small: latency against message size",
            "<h3>Results</h3>");
  }

  @Test
  void two_runs_are_compared_point_by_point() throws RunException {
    StoredRun run = run();
    assertThat(html(run, run))
        .contains("<td class=\"verdict no-change\">no change</td>", "12 no change.", ">21<")
        .contains("12 of 12 repeat exactly in virtual time", "a change counts above 1 %");
  }

  @Test
  void a_figure_may_be_asked_for_beside_those_of_the_config() throws RunException, ConfigException {
    FigureSpec bars =
        FigureReader.ofText("--figure", "{kind: bar, x: path, y: goodput, series: size}");
    String page =
        new String(
            HtmlReport.of(List.of(run()), List.of(bars), FakeRuntime::new), StandardCharsets.UTF_8);
    assertThat(page).contains("<figure data-figure=\"bar-goodput\"");
  }

  @Test
  void a_figure_that_a_run_cannot_give_is_named_with_the_reason()
      throws RunException, ConfigException {
    FigureSpec tornado = FigureReader.ofText("--figure", "{kind: tornado, y: rate}");
    String page =
        new String(
            HtmlReport.of(List.of(run()), List.of(tornado), FakeRuntime::new),
            StandardCharsets.UTF_8);
    assertThat(page).contains("the model has none of &#39;rate&#39;".replace("&#39;", "'"));
  }

  @Test
  void texts_from_outside_cannot_become_markup() {
    assertThat(new Html().text("<script>alert(\"1 & 2\")</script>").toString())
        .isEqualTo("&lt;script&gt;alert(&quot;1 &amp; 2&quot;)&lt;/script&gt;");
  }

  /** Opens a browser on the report of a run, which is written to {@code page}. */
  private Browser shown(Path page) throws RunException, IOException, InterruptedException {
    assumeThat(Browser.program())
        .as("no Chromium on PATH; install it ('apt-get install chromium')")
        .isPresent();
    Files.write(page, page(run()));
    Path profile = Files.createDirectories(folder.resolve("profile"));
    Browser browser = Browser.open(Browser.program().orElseThrow(), profile);
    browser.visit(page.toUri());
    return browser;
  }

  @Test
  void in_a_browser_legends_hide_series_tables_sort_and_nothing_complains()
      throws RunException, IOException, InterruptedException {
    Path page = folder.resolve("report.html");
    try (Browser browser = shown(page)) {
      byte[] before = browser.screenshot();
      keep("report-screenshot.png", before);
      assertThat(colours(before)).as("colours on the screen").isGreaterThan(20);

      String line = "figure[data-figure=latency] g[class^=\"series-pull\"]:not(.series-push-memic)";
      String hidden = "document.querySelector('%s').classList.contains('hidden')".formatted(line);
      assertThat(browser.evaluate(hidden).asBoolean()).isFalse();
      browser.click("figure[data-figure=latency] .entry.series-pull text");
      assertThat(browser.evaluate(hidden).asBoolean()).isTrue();
      String other = "figure[data-figure=latency] g[class^=\"series-push-memic\"]";
      assertThat(browser.evaluate(hidden.replace(line, other)).asBoolean()).isFalse();
      String both = "figure[data-figure=latency] g.series-pull.series-push-memic:not(.shared)";
      assertThat(browser.evaluate(hidden.replace(line, both)).asBoolean())
          .as("a crossover goes with either of its lines")
          .isTrue();
      browser.click("figure[data-figure=latency] .entry.series-pull text");
      assertThat(browser.evaluate(hidden).asBoolean()).isFalse();

      String box = "document.querySelector('figure svg').getAttribute('viewBox')";
      String whole = browser.evaluate(box).asString();
      browser.evaluate(
          "document.querySelector('figure').dispatchEvent(new KeyboardEvent('keydown', {key:"
              + " '+'}))");
      assertThat(browser.evaluate(box).asString()).isNotEqualTo(whole);

      String sizes =
          "Array.from(document.querySelector('table.sortable').tBodies[0].rows)"
              + ".map(row => row.cells[1].textContent.replace('\\u00A0', ' '))";
      browser.click("table.sortable thead th:nth-child(2)");
      assertThat(browser.evaluate(sizes).toString())
          .isEqualTo("[\"64 B\",\"64 B\",\"4 KiB\",\"4 KiB\",\"64 KiB\",\"64 KiB\"]");
      browser.click("table.sortable thead th:nth-child(2)");
      assertThat(browser.evaluate(sizes).get(0).asString()).isEqualTo("64 KiB");

      StoredRun longer =
          Runs.make(
              folder.resolve("more"),
              Configs.read(Configs.SMALL, "path=pull,push.memic", "size=pow2(64,64K)"));
      Files.write(page, page(longer));
      browser.visit(page.toUri());
      String shown =
          "Array.from(document.querySelector('.filter + .scroll table').tBodies[0].rows)"
              + ".filter(row => !row.hidden).length";
      assertThat(browser.evaluate(shown).asInt()).isEqualTo(22);
      browser.evaluate(
          "(() => { const input = document.querySelector('.filter'); input.value = 'memic kib';"
              + " input.dispatchEvent(new Event('input')); })()");
      assertThat(browser.evaluate(shown).asInt()).as("rows of 1 KiB to 64 KiB").isEqualTo(7);

      assertThat(browser.complaints()).isEmpty();
      assertThat(browser.requests())
          .allMatch(url -> url.startsWith("file:") || url.equals("data:,"));
    }
  }

  @Test
  void in_a_browser_it_fits_a_phone_and_follows_the_colour_scheme()
      throws RunException, IOException, InterruptedException {
    Path page = folder.resolve("report.html");
    try (Browser browser = shown(page)) {
      for (int width : new int[] {390, 800, 1280}) {
        Set<String> grounds = new HashSet<>();
        for (String scheme : List.of("light", "dark")) {
          browser.look(width, scheme);
          assertThat(browser.evaluate("document.documentElement.scrollWidth").asInt())
              .as("width of the page in a window of %d", width)
              .isLessThanOrEqualTo(width);
          String ground = "getComputedStyle(document.body).backgroundColor";
          grounds.add(browser.evaluate(ground).asString());
          keep("report-%d-%s.png".formatted(width, scheme), browser.screenshot());
        }
        assertThat(grounds).as("colours of the ground, light and dark").hasSize(2);
      }
    }
  }

  /** Where somebody can look at it. */
  private static void keep(String name, byte[] png) throws IOException {
    Files.write(Files.createDirectories(Path.of("report/target")).resolve(name), png);
  }

  private static long colours(byte[] png) throws IOException {
    BufferedImage image = ImageIO.read(new ByteArrayInputStream(png));
    Set<Integer> colours = new HashSet<>();
    for (int y = 0; y < image.getHeight(); y += 2) {
      for (int x = 0; x < image.getWidth(); x += 2) {
        colours.add(image.getRGB(x, y));
      }
    }
    return colours.size();
  }
}
