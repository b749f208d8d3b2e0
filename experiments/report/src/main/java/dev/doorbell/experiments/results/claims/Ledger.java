package dev.doorbell.experiments.results.claims;

import dev.doorbell.core.Resources;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.document.YamlDocument;
import dev.doorbell.experiments.config.formula.Formula;
import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.schema.SchemaChecker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
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

  /** Names of any ledger: a text is a formula whatever its names mean. */
  private static final Formula.Lookup ANYTHING =
      new Formula.Lookup() {
        @Override
        public double call(String function, List<Double> arguments) {
          return 1;
        }

        @Override
        public double select(String name, SequencedMap<String, String> settings) {
          return 1;
        }
      };

  public Ledger {
    claims = List.copyOf(claims);
  }

  public static Ledger builtIn() throws ConfigException {
    return parse("ledger.yaml", Resources.text(Ledger.class, BUILT_IN));
  }

  public static Ledger load(Path file) throws ConfigException {
    try {
      return parse(file.toString(), Files.readString(file));
    } catch (IOException _) {
      throw new ConfigException(
          Problem.of("DB-C001", file.toString(), "this ledger cannot be read"));
    }
  }

  /** Reads the text of a ledger, with every problem at once. */
  public static Ledger parse(String file, String text) throws ConfigException {
    YamlDocument.Parsed document = YamlDocument.parse(file, text, "ledger");
    SourcePositions positions = document.positions();
    SchemaChecker checker = new SchemaChecker(Schema.load("ledger"));
    List<Problem> problems = new ArrayList<>(checker.check(document.root(), positions));
    List<Claim> claims = new ArrayList<>();
    Set<String> ids = new HashSet<>();
    for (JsonNode node : problems.isEmpty() ? document.root().get("claims") : List.<JsonNode>of()) {
      Claim claim = claim(node);
      String wrong = ids.add(claim.id()) ? wrong(claim) : "is there twice";
      if (wrong != null) {
        String where = positions.ofValue("/claims/" + claims.size());
        problems.add(Problem.of("DB-C060", where, "claim '%s' %s".formatted(claim.id(), wrong)));
      }
      claims.add(claim);
    }
    ConfigException.throwIfAny(problems);
    return new Ledger(document.root().path("question").asString(""), claims);
  }

  private static Claim claim(JsonNode node) {
    double lower = node.path("at_least").asDouble(Double.NEGATIVE_INFINITY);
    double upper = node.path("at_most").asDouble(Double.POSITIVE_INFINITY);
    if (node.has("expected")) {
      double expected = node.get("expected").asDouble();
      JsonNode tolerance = node.path("tolerance");
      double allowed =
          tolerance.isObject()
              ? tolerance.get("absolute").asDouble()
              : tolerance.asDouble(0) * Math.abs(expected);
      lower = expected - allowed;
      upper = expected + allowed;
    }
    SequencedMap<String, String> set = new LinkedHashMap<>();
    node.path("set").properties().forEach(e -> set.put(e.getKey(), e.getValue().asString("")));
    return new Claim(
        node.get("id").asString(),
        node.get("claim").asString(),
        node.path("corrects").asString(""),
        Claim.Method.valueOf(node.get("kind").asString().toUpperCase(Locale.ROOT)),
        node.path("expression").asString(""),
        lower,
        upper,
        node.has("experiment") ? node.get("experiment").asString() : null,
        set,
        node.has("case") ? node.get("case").asString() : null,
        node.path("basis").asString("none"),
        node.get("source").asString(),
        node.path("needs").asString(""),
        node.path("known").asString(""));
  }

  /** Returns why the expression of a claim decides nothing; null where it decides. */
  private static @Nullable String wrong(Claim claim) {
    if (claim.method().compareTo(Claim.Method.RUN) > 0) {
      return null;
    }
    if (Double.isInfinite(claim.lower()) && Double.isInfinite(claim.upper())) {
      return "has neither expected, at_least nor at_most";
    }
    try {
      Formula.value(claim.expression(), ANYTHING);
      return null;
    } catch (FormulaException e) {
      return e.why();
    }
  }
}
