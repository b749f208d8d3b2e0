package dev.doorbell.experiments.cli.serve;

import static java.nio.file.StandardOpenOption.APPEND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.experiments.cli.Session;
import dev.doorbell.experiments.results.figures.drawing.Marker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page of runs: who may see it, and what it is told. */
class PageServerTest {
  private static final String TOKEN = "0123456789abcdef";

  @TempDir private Path folder;
  private final Session session = new Session();
  private final HttpClient client = HttpClient.newHttpClient();
  private PageServer server;

  @BeforeEach
  void a_server_of_two_runs() throws IOException {
    Path config =
        Files.writeString(
            folder.resolve("small.yaml"),
            """
            experiment: small
            question: Which is faster?
            kernel: put_latency
            axes:
              path: [pull, push.bf]
              size: [64, 4096]
            measure: { metrics: [latency], samples: 10 }
            outputs: { figures: [{ name: one, x: size, y: latency, series: path }] }
            """);
    for (String seed : List.of("1", "2")) {
      session.type("run", config.toString(), "-q", "--seed", seed, "--out", runs().toString());
    }
    server = PageServer.start(0, TOKEN, new RunPages(runs(), session::runtime));
  }

  private Path runs() {
    return folder.resolve("runs");
  }

  @AfterEach
  void stops() {
    server.close();
    client.close();
  }

  private HttpResponse<String> ask(String path, String... headers)
      throws IOException, InterruptedException {
    String place = server.address().replaceAll("/[?].*", "");
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(place + path));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), BodyHandlers.ofString());
  }

  private String told(String path) throws IOException, InterruptedException {
    HttpResponse<String> answer = ask(path, "Cookie", "doorbell=" + TOKEN);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  private List<String> ids() throws IOException {
    try (Stream<Path> found = Files.list(runs())) {
      return found.map(run -> String.valueOf(run.getFileName())).sorted().toList();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/api/runs", "/report?id=x", "/chart.js", "/?token=wrong"})
  void nobody_is_let_in_without_the_token(String path) throws IOException, InterruptedException {
    assertThat(ask(path).statusCode()).isEqualTo(403);
    assertThat(ask(path, "Cookie", "doorbell=wrong").statusCode()).isEqualTo(403);
  }

  @Test
  void the_printed_address_gives_a_cookie_that_scripts_and_other_sites_cannot_use()
      throws IOException, InterruptedException {
    HttpResponse<String> answer = ask("/?token=" + TOKEN);
    assertThat(answer.statusCode()).isEqualTo(303);
    assertThat(answer.headers().firstValue("Location")).contains("/");
    assertThat(answer.headers().firstValue("Set-Cookie").orElseThrow())
        .contains("HttpOnly", "SameSite=Strict");
  }

  @Test
  void it_listens_on_the_loopback_interface() {
    URI address = URI.create(server.address());
    assertThat(new InetSocketAddress(address.getHost(), address.getPort()).getAddress())
        .satisfies(each -> assertThat(each.isLoopbackAddress()).isTrue());
  }

  @Test
  void the_page_and_its_chart_library_come_from_this_program()
      throws IOException, InterruptedException {
    String page = told("/");
    assertThat(page).contains("/chart.js").doesNotContain("http://", "https://");
    assertThat(told("/chart.js")).contains("Chart.js v4");
    assertThat(told("/serve.js")).contains("/api/runs");
    assertThat(told("/serve.css")).contains("prefers-color-scheme: dark");
  }

  @Test
  void runs_are_listed_shown_reported_and_compared() throws IOException, InterruptedException {
    List<String> ids = ids();
    assertThat(told("/api/runs")).contains(ids).contains("\"recorded\" : 4", "\"complete\"");
    assertThat(told("/api/run?id=" + ids.getFirst()))
        .contains("\"p50\"", "<svg", "\"question\" : \"Which is faster?\"");
    String report = told("/report?id=" + ids.getFirst());
    assertThat(report).contains("<h3>Figures</h3>");
    assertThat(told("/api/compare?a=%s&b=%s".formatted(ids.getFirst(), ids.getLast())))
        .contains("\"overall\"", "\"verdict\"");
  }

  /** It waits for the server's limit of ten seconds once, for all of them together. */
  @Test
  void half_requests_are_closed_and_hold_nobody_up() throws IOException, InterruptedException {
    URI address = URI.create(server.address());
    List<Socket> halves = new ArrayList<>();
    try {
      for (int i = 0; i < 64; i++) {
        Socket half = new Socket(InetAddress.getLoopbackAddress(), address.getPort());
        halves.add(half);
        half.setSoTimeout(120_000);
        String sent = i % 2 == 0 ? "GET /api/runs HTTP/1.1\r\nHost: 127" : "G";
        half.getOutputStream().write(sent.getBytes(StandardCharsets.US_ASCII));
      }
      assertThat(told("/api/runs")).contains(ids());
      for (Socket half : halves) {
        // -1 is the server's end; one that stays open ends with a SocketTimeoutException.
        assertThat(half.getInputStream().read()).isEqualTo(-1);
      }
    } finally {
      for (Socket half : halves) {
        half.close();
      }
    }
  }

  @Test
  void what_else_lies_in_the_folder_hides_no_run() throws IOException, InterruptedException {
    List<String> ids = ids();
    for (String file : List.of("manifest.json", "journal.jsonl")) {
      Path run = Files.createDirectory(runs().resolve("pipe-as-" + file));
      if (file.startsWith("journal")) {
        String whole = Files.readString(runs().resolve(ids.getFirst()).resolve("manifest.json"));
        Files.writeString(
            run.resolve("manifest.json"), whole.replaceFirst("COMPLETE|complete", "RUNNING"));
      }
      assertThat(new ProcessBuilder("mkfifo", run.resolve(file).toString()).start().waitFor())
          .isZero();
    }
    Path running = runs().resolve(ids.getLast());
    Path manifest = running.resolve("manifest.json");
    Files.writeString(
        manifest, Files.readString(manifest).replaceFirst("COMPLETE|complete", "RUNNING"));
    Files.write(running.resolve("journal.jsonl"), new byte[] {(byte) 0xff, '\n'}, APPEND);
    assertThat(told("/api/runs"))
        .contains(ids)
        .contains("\"running\"", "pipe-as-journal.jsonl", "\"recorded\" : 4")
        .doesNotContain("pipe-as-manifest.json");
  }

  @Test
  void lines_of_the_chart_look_as_those_of_the_figures() throws IOException, InterruptedException {
    String figure = told("/api/run?id=" + ids().getFirst());
    String looks = told("/api/looks?series=pull%7Cpush.bf");
    Matcher colour = Pattern.compile("\"colour\" : \"(#[0-9a-f]{6})\"").matcher(looks);
    for (String series : List.of("pull", "push-bf")) {
      assertThat(colour.find()).isTrue();
      assertThat(figure)
          .containsPattern("series-%s[^>]*>[^g]*?stroke=.\"%s".formatted(series, colour.group(1)));
    }
    for (Marker marker : Marker.values()) { // each has its shape in the chart
      assertThat(told("/serve.js")).contains(" " + marker.name().toLowerCase(Locale.ROOT) + ": ['");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"..", "../small.yaml", "nothing", "%2e%2e%2f", ""})
  void nothing_but_a_run_of_the_folder_can_be_named(String id)
      throws IOException, InterruptedException {
    assertThat(ask("/api/run?id=" + id, "Cookie", "doorbell=" + TOKEN).statusCode()).isEqualTo(404);
  }

  /** The page in a browser without a screen: its script runs and draws. */
  @Test
  @Tag("slow")
  void a_browser_shows_runs_and_their_chart() throws IOException, InterruptedException {
    Path out = folder.resolve("page.html");
    Process browser;
    try {
      browser =
          new ProcessBuilder(
                  "chromium",
                  "--headless",
                  "--no-sandbox",
                  "--disable-gpu",
                  "--user-data-dir=" + folder.resolve("profile"),
                  "--virtual-time-budget=4000",
                  "--dump-dom",
                  server.address())
              .redirectOutput(out.toFile())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      assumeTrue(false, "needs chromium on the PATH: " + e.getMessage());
      return;
    }
    assertThat(browser.waitFor(120, TimeUnit.SECONDS)).as("the browser ends").isTrue();
    assertThat(Files.readString(out)).contains("4 of 4 points", "<canvas", "series-pull");
  }
}
