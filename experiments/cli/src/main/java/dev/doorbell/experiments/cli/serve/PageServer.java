package dev.doorbell.experiments.cli.serve;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP server on the loopback interface. A request needs the token, which the first address
 * carries and a cookie keeps, and the name of this machine as its host, so that no page of another
 * site can ask. It only reads.
 */
final class PageServer implements AutoCloseable {
  private static final String CHART =
      "/META-INF/resources/webjars/chart.js/4.4.9/dist/chart.umd.js";
  private static final String OWN = "/dev/doorbell/experiments/serve/";
  private static final Map<String, String> ASSETS =
      Map.of(
          "/", OWN + "index.html",
          "/serve.js", OWN + "serve.js",
          "/serve.css", OWN + "serve.css",
          "/chart.js", CHART);

  private final HttpServer server;
  private final ExecutorService workers;
  private final String token;
  private final RunPages pages;

  record Answer(int status, String type, String body) {
    static Answer json(String body) {
      return new Answer(200, "application/json", body);
    }

    static Answer text(int status, String body) {
      return new Answer(status, "text/plain; charset=utf-8", body);
    }
  }

  private PageServer(HttpServer server, ExecutorService workers, String token, RunPages pages) {
    this.server = server;
    this.workers = workers;
    this.token = token;
    this.pages = pages;
  }

  /**
   * Starts to answer.
   *
   * @param port 0 for any that is free
   * @param token that requests have to show
   */
  static PageServer start(int port, String token, RunPages pages) throws IOException {
    // Read once by the server's class: seconds for a whole request, and for its answer.
    System.setProperty("sun.net.httpserver.maxReqTime", "10");
    System.setProperty("sun.net.httpserver.maxRspTime", "60");
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();
    PageServer started = new PageServer(server, workers, token, pages);
    server.setExecutor(workers);
    server.createContext("/", started::handle);
    server.start();
    return started;
  }

  String address() {
    return "http://127.0.0.1:%d/?token=%s".formatted(server.getAddress().getPort(), token);
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      Map<String, String> query = query(exchange.getRequestURI().getRawQuery());
      String path = exchange.getRequestURI().getPath();
      exchange.getResponseHeaders().set("Cache-Control", "no-store");
      exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
      exchange
          .getResponseHeaders()
          .set("Content-Security-Policy", "default-src 'self'; style-src 'self' 'unsafe-inline'");
      Answer answer;
      if (!isThisMachine(exchange)) {
        answer = Answer.text(403, "ask 127.0.0.1\n");
      } else if (same(query.get("token"))) {
        exchange
            .getResponseHeaders()
            .set("Set-Cookie", "doorbell=" + token + "; HttpOnly; SameSite=Strict; Path=/");
        exchange.getResponseHeaders().set("Location", "/");
        answer = Answer.text(303, "");
      } else if (!hasCookie(exchange)) {
        answer = Answer.text(403, "open the address that 'doorbell serve' printed\n");
      } else if (!exchange.getRequestMethod().equals("GET")) {
        answer = Answer.text(405, "this server only reads\n");
      } else {
        answer = ASSETS.containsKey(path) ? asset(path) : pages.answer(path, query);
      }
      if (path.equals("/report")) { // its style and script are within the page
        exchange
            .getResponseHeaders()
            .set(
                "Content-Security-Policy",
                "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
                    + " img-src data:");
      }
      byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", answer.type());
      exchange.sendResponseHeaders(answer.status(), body.length == 0 ? -1 : body.length);
      exchange.getResponseBody().write(body);
    }
  }

  /** Returns whether the request names this machine: a name of another one may lead here, too. */
  private boolean isThisMachine(HttpExchange exchange) {
    String host = String.valueOf(exchange.getRequestHeaders().getFirst("Host"));
    int port = server.getAddress().getPort();
    return host.equals("127.0.0.1:" + port) || host.equals("localhost:" + port);
  }

  private boolean hasCookie(HttpExchange exchange) {
    for (String header : exchange.getRequestHeaders().getOrDefault("Cookie", List.of())) {
      for (String cookie : header.split(";", -1)) {
        if (cookie.strip().startsWith("doorbell=")
            && same(cookie.strip().substring("doorbell=".length()))) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean same(@Nullable String shown) {
    return shown != null
        && MessageDigest.isEqual(
            shown.getBytes(StandardCharsets.UTF_8), token.getBytes(StandardCharsets.UTF_8));
  }

  private static Map<String, String> query(@Nullable String text) {
    Map<String, String> query = new HashMap<>();
    for (String part : text == null ? new String[0] : text.split("&", -1)) {
      int equals = part.indexOf('=');
      if (equals > 0) {
        query.put(
            part.substring(0, equals),
            URLDecoder.decode(part.substring(equals + 1), StandardCharsets.UTF_8));
      }
    }
    return query;
  }

  private static Answer asset(String path) throws IOException {
    String name = String.valueOf(ASSETS.get(path));
    try (InputStream in = PageServer.class.getResourceAsStream(name)) {
      if (in == null) {
        return Answer.text(404, name + " is not in this build\n");
      }
      String type =
          name.endsWith(".html")
              ? "text/html; charset=utf-8"
              : name.endsWith(".css") ? "text/css" : "text/javascript";
      return new Answer(200, type, new String(in.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  @Override
  public void close() {
    server.stop(0);
    workers.close();
  }
}
