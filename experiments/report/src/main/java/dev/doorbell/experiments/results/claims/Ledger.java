package dev.doorbell.experiments.results.claims;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.document.YamlDocument;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A file of claims.
 *
 * @param title what they are about
 */
public record Ledger(String title, List<Claim> claims) {
  private static final String BUILT_IN = "/dev/doorbell/experiments/claims/ledger.yaml";
  private static final Set<String> KEYS =
      Set.of(
          "id",
          "claim",
          "corrects",
          "kind",
          "expression",
          "expected",
          "tolerance",
          "at_least",
          "at_most",
          "experiment",
          "set",
          "case",
          "basis",
          "source",
          "needs",
          "refuted",
          "figure",
          "known");

  public Ledger {
    claims = List.copyOf(claims);
  }

  /** The ledger that Doorbell brings. */
  public static Ledger builtIn() throws ConfigException {
    try (InputStream in = Ledger.class.getResourceAsStream(BUILT_IN)) {
      if (in == null) {
        throw new IllegalStateException("the build left out " + BUILT_IN);
      }
      return parse("ledger.yaml", new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A ledger of the user's own. */
  public static Ledger load(Path file) throws ConfigException {
    try {
      return parse(file.toString(), Files.readString(file));
    } catch (IOException _) {
      throw new ConfigException(
          List.of(Problem.of("DB-C001", file.toString(), "this ledger cannot be read")));
    }
  }

  /** Reads the text of a ledger, with every problem at once. */
  public static Ledger parse(String file, String text) throws ConfigException {
    List<Problem> problems = new ArrayList<>();
    JsonNode root = YamlDocument.parse(file, text, "ledger").root();
    List<Claim> claims = new ArrayList<>();
    Set<String> ids = new HashSet<>();
    for (JsonNode node : root.path("claims")) {
      Claim claim = claim(file, node, problems);
      if (!ids.add(claim.id())) {
        problems.add(wrong(file, claim.id(), "is there twice"));
      }
      claims.add(claim);
    }
    if (claims.isEmpty()) {
      problems.add(Problem.of("DB-C060", file, "it has no claims"));
    }
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
    return new Ledger(root.path("question").asString(""), claims);
  }

  private static Claim claim(String file, JsonNode node, List<Problem> problems) {
    String id = node.path("id").asString("");
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      if (!KEYS.contains(entry.getKey())) {
        problems.add(wrong(file, id, "has an unknown key '%s'".formatted(entry.getKey())));
      }
    }
    for (String key : List.of("id", "claim", "source", "kind")) {
      if (node.path(key).asString("").isEmpty()) {
        problems.add(wrong(file, id, "lacks '%s'".formatted(key)));
      }
    }
    Claim.Method method = method(node.path("kind").asString(""));
    if (method == null) {
      problems.add(wrong(file, id, "is of no known kind"));
      method = Claim.Method.OPEN;
    }
    for (String key : List.of("expected", "at_least", "at_most")) {
      if (node.has(key) && !node.get(key).isNumber()) {
        problems.add(wrong(file, id, "has '%s', which is no number".formatted(key)));
      }
    }
    double lower = node.path("at_least").asDouble(Double.NEGATIVE_INFINITY);
    double upper = node.path("at_most").asDouble(Double.POSITIVE_INFINITY);
    if (node.has("expected")) {
      double expected = node.get("expected").asDouble(0);
      JsonNode tolerance = node.path("tolerance");
      double allowed =
          tolerance.isObject()
              ? tolerance.path("absolute").asDouble(0)
              : tolerance.asDouble(0) * Math.abs(expected);
      lower = expected - allowed;
      upper = expected + allowed;
    }
    Claim claim =
        new Claim(
            id,
            node.path("claim").asString(""),
            node.path("corrects").asString(""),
            method,
            node.path("expression").asString(""),
            lower,
            upper,
            node.has("experiment") ? node.get("experiment").asString("") : null,
            settings(node.path("set")),
            node.has("case") ? node.get("case").asString("") : null,
            node.path("basis").asString("none"),
            node.path("source").asString(""),
            node.path("needs").asString(""),
            node.path("known").asString(""));
    check(file, claim, problems);
    return claim;
  }

  private static void check(String file, Claim claim, List<Problem> problems) {
    boolean evaluated =
        switch (claim.method()) {
          case ARITHMETIC, MODEL, RUN -> true;
          case CASE, SPECIFICATION, OPEN -> false;
        };
    if (evaluated) {
      if (claim.expression().isEmpty()) {
        problems.add(wrong(file, claim.id(), "lacks 'expression'"));
      } else if (Double.isInfinite(claim.lower()) && Double.isInfinite(claim.upper())) {
        problems.add(wrong(file, claim.id(), "has neither expected, at_least nor at_most"));
      } else {
        Expression.problem(claim.expression())
            .ifPresent(what -> problems.add(wrong(file, claim.id(), what)));
      }
    }
    if (claim.method() == Claim.Method.RUN && claim.experiment() == null) {
      problems.add(wrong(file, claim.id(), "lacks 'experiment'"));
    }
    if (claim.method() == Claim.Method.CASE && claim.bug() == null) {
      problems.add(wrong(file, claim.id(), "lacks 'case'"));
    }
    if (claim.method() == Claim.Method.OPEN && claim.needs().isEmpty()) {
      problems.add(wrong(file, claim.id(), "lacks 'needs': what would decide it"));
    }
  }

  private static Claim.@Nullable Method method(String word) {
    for (Claim.Method method : Claim.Method.values()) {
      if (method.word().equals(word.toLowerCase(Locale.ROOT))) {
        return method;
      }
    }
    return null;
  }

  private static SequencedMap<String, String> settings(JsonNode node) {
    SequencedMap<String, String> settings = new LinkedHashMap<>();
    node.properties().forEach(entry -> settings.put(entry.getKey(), entry.getValue().asString("")));
    return settings;
  }

  private static Problem wrong(String file, String id, String what) {
    return Problem.of("DB-C060", file, "claim '%s' %s".formatted(id, what));
  }
}
