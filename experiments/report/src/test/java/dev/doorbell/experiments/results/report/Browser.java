package dev.doorbell.experiments.results.report;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Headless Chromium, driven over its DevTools protocol. */
final class Browser implements AutoCloseable {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final long PATIENCE_SECONDS = 300;

  private final Process process;
  private final WebSocket socket;
  private final LinkedBlockingQueue<JsonNode> messages;
  private final List<String> complaints = new ArrayList<>();
  private final List<String> requests = new ArrayList<>();
  private int last;

  private Browser(Process process, WebSocket socket, LinkedBlockingQueue<JsonNode> messages) {
    this.process = process;
    this.socket = socket;
    this.messages = messages;
  }

  /** The program, if it is on PATH. */
  static Optional<Path> program() {
    return Arrays.stream(String.valueOf(System.getenv("PATH")).split(":", -1))
        .flatMap(
            folder ->
                List.of("chromium", "chromium-browser", "google-chrome").stream()
                    .map(name -> Path.of(folder, name)))
        .filter(Files::isExecutable)
        .findFirst();
  }

  static Browser open(Path program, Path profile) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                program.toString(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--window-size=1200,1600",
                "--remote-debugging-port=0",
                "--user-data-dir=" + profile,
                "about:blank")
            .redirectErrorStream(true)
            .redirectOutput(profile.resolve("log.txt").toFile())
            .start();
    try {
      LinkedBlockingQueue<JsonNode> messages = new LinkedBlockingQueue<>();
      String address = page(process, profile);
      WebSocket socket =
          HttpClient.newHttpClient()
              .newWebSocketBuilder()
              .buildAsync(URI.create(address), new Listener(messages))
              .join();
      Browser browser = new Browser(process, socket, messages);
      browser.call("Runtime.enable", Map.of());
      browser.call("Log.enable", Map.of());
      browser.call("Network.enable", Map.of());
      browser.call("Page.enable", Map.of());
      return browser;
    } catch (IOException | InterruptedException | RuntimeException e) {
      end(process);
      throw e;
    }
  }

  /** The address at which its first page is driven. */
  private static String page(Process process, Path profile)
      throws IOException, InterruptedException {
    Path port = profile.resolve("DevToolsActivePort");
    for (int i = 0; i < PATIENCE_SECONDS * 20 && process.isAlive(); i++) {
      if (Files.exists(port) && !Files.readString(port).isBlank()) {
        String number = Files.readAllLines(port).getFirst();
        HttpRequest list =
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + number + "/json/list"))
                .timeout(Duration.ofSeconds(PATIENCE_SECONDS))
                .build();
        String answer =
            HttpClient.newHttpClient().send(list, HttpResponse.BodyHandlers.ofString()).body();
        for (JsonNode target : MAPPER.readTree(answer)) {
          if (target.path("type").asString("").equals("page")) {
            return target.get("webSocketDebuggerUrl").asString();
          }
        }
      }
      Thread.sleep(50);
    }
    throw new IOException("Chromium did not open a page: " + profile.resolve("log.txt"));
  }

  /** Puts the parts of each message together. */
  private static final class Listener implements WebSocket.Listener {
    private final LinkedBlockingQueue<JsonNode> messages;
    private final StringBuilder text = new StringBuilder();

    Listener(LinkedBlockingQueue<JsonNode> messages) {
      this.messages = messages;
    }

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean end) {
      text.append(data);
      if (end) {
        messages.add(MAPPER.readTree(text.toString()));
        text.setLength(0);
      }
      socket.request(1);
      return null;
    }
  }

  /** Opens a page and waits until it has been loaded. */
  void visit(URI page) throws InterruptedException {
    call("Page.navigate", Map.of("url", page.toString()));
    await("Page.loadEventFired");
  }

  /** Gives the window a width, in CSS pixels, and a system with a colour scheme. */
  void look(int width, String scheme) throws InterruptedException {
    call(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", 1000, "deviceScaleFactor", 1, "mobile", false));
    Map<String, String> feature = Map.of("name", "prefers-color-scheme", "value", scheme);
    call("Emulation.setEmulatedMedia", Map.of("features", List.of(feature)));
  }

  /** The value of a JavaScript expression. */
  JsonNode evaluate(String expression) throws InterruptedException {
    JsonNode result =
        call("Runtime.evaluate", Map.of("expression", expression, "returnByValue", true));
    if (result.has("exceptionDetails")) {
      throw new IllegalStateException(result.get("exceptionDetails").toString());
    }
    return result.path("result").path("value");
  }

  /** Presses and releases the mouse in the middle of the first element that a selector finds. */
  void click(String selector) throws InterruptedException {
    JsonNode middle =
        evaluate(
            """
            (() => { const e = document.querySelector('%s'); e.scrollIntoView({block: 'center'});
              const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()
            """
                .formatted(selector));
    for (String kind : List.of("mousePressed", "mouseReleased")) {
      call(
          "Input.dispatchMouseEvent",
          Map.of(
              "type",
              kind,
              "x",
              middle.get(0).asDouble(),
              "y",
              middle.get(1).asDouble(),
              "button",
              "left",
              "clickCount",
              1));
    }
  }

  /** What the window shows, as PNG. */
  byte[] screenshot() throws InterruptedException {
    JsonNode shot = call("Page.captureScreenshot", Map.of("format", "png"));
    return Base64.getDecoder().decode(shot.get("data").asString());
  }

  /** Errors and warnings in the console, and exceptions. */
  List<String> complaints() {
    return List.copyOf(complaints);
  }

  /** Addresses that pages have asked for. */
  List<String> requests() {
    return List.copyOf(requests);
  }

  /** All of its processes write into the profile, and the test deletes that next. */
  private static void end(Process process) {
    List<ProcessHandle> all =
        Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
    all.forEach(ProcessHandle::destroyForcibly);
    all.forEach(one -> one.onExit().join());
  }

  private JsonNode call(String method, Map<String, ?> parameters) throws InterruptedException {
    int id = ++last;
    socket
        .sendText(
            MAPPER.writeValueAsString(Map.of("id", id, "method", method, "params", parameters)),
            true)
        .join();
    while (true) {
      JsonNode message = next();
      if (message.path("id").asInt(0) == id) {
        if (message.has("error")) {
          throw new IllegalStateException(method + ": " + message.get("error"));
        }
        return message.path("result");
      }
    }
  }

  private void await(String event) throws InterruptedException {
    while (!next().path("method").asString("").equals(event)) {
      // What else happens is noted.
    }
  }

  private JsonNode next() throws InterruptedException {
    JsonNode message = messages.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
    if (message == null) {
      throw new IllegalStateException("Chromium does not answer");
    }
    JsonNode parameters = message.path("params");
    switch (message.path("method").asString("")) {
      case "Runtime.exceptionThrown" -> complaints.add(parameters.toString());
      case "Runtime.consoleAPICalled" -> {
        if (!parameters.path("type").asString("").equals("log")) {
          complaints.add(parameters.toString());
        }
      }
      case "Log.entryAdded" -> complaints.add(parameters.path("entry").toString());
      case "Network.requestWillBeSent" ->
          requests.add(parameters.path("request").path("url").asString(""));
      default -> {}
    }
    return message;
  }

  @Override
  public void close() {
    socket.abort();
    end(process);
  }
}
