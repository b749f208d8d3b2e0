package dev.doorbell.experiments.papers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.RealSession;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.plan.ExperimentFiles;
import dev.doorbell.experiments.config.formula.Formula;
import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import dev.doorbell.experiments.results.paper.ModelNames;
import dev.doorbell.experiments.results.paper.RunNames;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.workbench.explore.BugCase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * Published statements and the claims of the papers are whole, and true where arithmetic or a
 * closed form decides; claims about runs ask for what can be run, and slow tests run it.
 */
class ClaimsTest {

  private static final Path ROOT = Path.of("..");
  private static final Path PAPERS = ROOT.resolve("papers");
  private static final Pattern SELECTOR = Pattern.compile("([a-z][a-z.]*)\\{([^}]*)}");

  private static final Pattern CONDITION = Pattern.compile("([a-z]+)=([^, ]+)");

  /** Statements of others, beside the claims of papers. */
  private static final String LEDGER = "ledger";

  @TempDir private Path runs;

  private static List<JsonNode> claims(String paper) {
    Path file =
        paper.equals(LEDGER)
            ? ROOT.resolve("experiments/claims/ledger.yaml")
            : PAPERS.resolve(paper).resolve("claims.yaml");
    List<JsonNode> claims = new ArrayList<>();
    new YAMLMapper().readTree(file.toFile()).get("claims").forEach(claims::add);
    return claims;
  }

  private static List<JsonNode> of(String paper, String kind) {
    List<JsonNode> claims =
        claims(paper).stream().filter(claim -> claim.get("kind").asString().equals(kind)).toList();
    assertThat(claims).as("claims of kind %s", kind).isNotEmpty();
    return claims;
  }

  private static String id(JsonNode claim) {
    return claim.get("id").asString();
  }

  @ParameterizedTest
  @ValueSource(strings = {LEDGER, "pull-vs-push", "many-ranks"})
  void every_claim_has_an_identifier_a_sentence_a_kind_and_a_source(String paper) {
    Set<String> ids = new HashSet<>();
    for (JsonNode claim : claims(paper)) {
      assertThat(ids.add(id(claim))).as("%s once", id(claim)).isTrue();
      assertThat(claim.get("claim").asString()).as(id(claim)).endsWith(".");
      assertThat(claim.get("kind").asString())
          .as(id(claim))
          .isIn("arithmetic", "model", "run", "case", "open", "specification");
      if (claim.get("kind").asString().equals("case")) {
        assertThat(BugCase.of(claim.get("case").asString())).as(id(claim)).isPresent();
      }
      if (claim.has("experiment")) {
        assertThat(ExperimentFiles.names())
            .as(id(claim))
            .contains(claim.get("experiment").asString());
      }
      assertThat(claim.path("source").asString("")).as(id(claim)).isNotEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {LEDGER, "pull-vs-push", "many-ranks"})
  void claims_of_arithmetic_and_closed_forms_are_true(String paper) throws FormulaException {
    for (JsonNode claim : claims(paper)) {
      String kind = claim.get("kind").asString();
      if (kind.equals("arithmetic") || kind.equals("model")) {
        assertThat(claim.path("basis").asString(""))
            .as(id(claim))
            .isIn("exact", "modelled", "measured");
        assertThat(Formula.value(claim.get("expression").asString(), new ModelNames()))
            .as(id(claim))
            .isBetween(lower(claim), upper(claim));
      }
    }
  }

  private static double lower(JsonNode claim) {
    return claim.has("expected")
        ? claim.get("expected").asDouble() - allowed(claim)
        : claim.path("at_least").asDouble(Double.NEGATIVE_INFINITY);
  }

  private static double upper(JsonNode claim) {
    return claim.has("expected")
        ? claim.get("expected").asDouble() + allowed(claim)
        : claim.path("at_most").asDouble(Double.POSITIVE_INFINITY);
  }

  private static double allowed(JsonNode claim) {
    JsonNode tolerance = claim.path("tolerance");
    return tolerance.isObject()
        ? tolerance.get("absolute").asDouble()
        : tolerance.asDouble(0) * Math.abs(claim.get("expected").asDouble());
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(strings = {LEDGER, "pull-vs-push", "many-ranks"})
  void claims_about_runs_hold_and_those_with_a_known_fault_do_not(String paper) throws Exception {
    Map<String, RunNames> made = new HashMap<>();
    for (JsonNode claim : claims(paper)) {
      if (claim.get("kind").asString().equals("run")) {
        RunNames names =
            made.computeIfAbsent(
                claim.get("experiment") + " " + claim.path("set"), _ -> run(claim));
        double value = Formula.value(claim.get("expression").asString(), names);
        boolean holds = lower(claim) <= value && value <= upper(claim);
        assertThat(holds).as("%s: %s", id(claim), value).isEqualTo(!claim.has("known"));
      }
    }
  }

  private RunNames run(JsonNode claim) {
    List<String> words = new ArrayList<>(List.of("run", claim.get("experiment").asString()));
    claim
        .path("set")
        .properties()
        .forEach(e -> words.addAll(List.of("-s", e.getKey() + "=" + e.getValue().asString())));
    words.addAll(List.of("-q", "--out", runs.toString()));
    if (!claim.path("set").has("timeout")) {
      words.addAll(List.of("-s", "timeout=15min"));
    }
    RealSession session = new RealSession();
    session.type(words.toArray(String[]::new));
    try {
      StoredRun run = StoredRun.read(Path.of(session.out().strip()));
      return new RunNames(run.data(), run.plan().points().size(), run.data().rows().size());
    } catch (RunException e) {
      throw new AssertionError(id(claim) + ": " + session.err(), e);
    }
  }

  @Tag("slow")
  @Test
  void a_rule_that_a_claim_asks_for_is_what_keeps_its_case_from_failing() {
    for (JsonNode claim : of(LEDGER, "case")) {
      RealSession session = new RealSession();
      assertThat(session.type("explore", "--case", claim.get("case").asString()))
          .as(session.out() + session.err())
          .isEqualTo(ExitCode.OK);
    }
  }

  @Test
  void claims_about_runs_ask_for_points_and_figures_that_the_experiment_has() {
    for (JsonNode claim : of("pull-vs-push", "run")) {
      String name = claim.get("experiment").asString();
      JsonNode config =
          new YAMLMapper()
              .readTree(ROOT.resolve("experiments/configs").resolve(name + ".yaml").toFile());
      assertThat(claim.has("at_least") || claim.has("at_most")).as(id(claim)).isTrue();
      assertThat(claim.has("refuted")).as(id(claim)).isTrue();
      Matcher selector = SELECTOR.matcher(claim.get("expression").asString());
      while (selector.find()) {
        check(claim, config, selector.group(1), selector.group(2));
      }
      String figure = claim.path("figure").asString("");
      if (!figure.isEmpty()) {
        List<String> figures = new ArrayList<>();
        config.get("outputs").get("figures").forEach(f -> figures.add(f.get("name").asString()));
        assertThat(figures).as(id(claim)).contains(figure.split("-", 2)[0]);
        assertThat(words(config.get("axes").get("placement")))
            .as(id(claim))
            .contains(figure.split("-", 2)[1]);
      }
    }
  }

  private static void check(JsonNode claim, JsonNode config, String metric, String conditions) {
    boolean pair = metric.equals("crossover") || metric.equals("crossings");
    if (!pair) {
      assertThat(words(config.get("measure").get("metrics"))).as(id(claim)).contains(metric);
    }
    List<String> paths = new ArrayList<>();
    Matcher condition = CONDITION.matcher(conditions);
    while (condition.find()) {
      boolean path = condition.group(1).equals("first") || condition.group(1).equals("second");
      String axis = path ? "path" : condition.group(1);
      String value = condition.group(2);
      assertThat(words(config.get("axes").get(axis))).as("%s: %s", id(claim), axis).contains(value);
      if (path) {
        paths.add(value);
      }
    }
    if (pair) {
      List<List<String>> compared = new ArrayList<>();
      config.get("outputs").get("crossovers").forEach(c -> compared.add(words(c.get("between"))));
      assertThat(compared).as(id(claim)).contains(paths);
    }
  }

  private static List<String> words(JsonNode values) {
    List<String> words = new ArrayList<>();
    values.forEach(value -> words.add(value.asString()));
    return words;
  }

  @ParameterizedTest
  @ValueSource(strings = {"pull-vs-push", "many-ranks"})
  void the_readme_lists_every_claim(String paper) throws IOException {
    String readme = Files.readString(PAPERS.resolve(paper).resolve("README.md"));
    for (JsonNode claim : claims(paper)) {
      assertThat(readme).containsPattern("[| ,]" + Pattern.quote(id(claim)) + "[ ,]");
    }
  }
}
