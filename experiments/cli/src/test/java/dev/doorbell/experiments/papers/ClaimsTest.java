package dev.doorbell.experiments.papers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.experiments.config.formula.Formula;
import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import dev.doorbell.experiments.results.claims.ModelNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * The claims of the papers are whole, and true where arithmetic decides; those of pull-vs-push ask
 * for what can be run.
 */
class ClaimsTest {

  private static final Path ROOT = Path.of("..");
  private static final Path PAPERS = ROOT.resolve("papers");
  private static final Pattern SELECTOR = Pattern.compile("([a-z][a-z.]*)\\{([^}]*)}");

  private static final Pattern CONDITION = Pattern.compile("([a-z]+)=([^, ]+)");

  private static List<JsonNode> claims(String paper) {
    List<JsonNode> claims = new ArrayList<>();
    new YAMLMapper()
        .readTree(PAPERS.resolve(paper).resolve("claims.yaml").toFile())
        .get("claims")
        .forEach(claims::add);
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
  @ValueSource(strings = {"pull-vs-push", "many-ranks"})
  void every_claim_has_an_identifier_a_sentence_a_kind_and_a_source(String paper) {
    Set<String> ids = new HashSet<>();
    for (JsonNode claim : claims(paper)) {
      assertThat(ids.add(id(claim))).as("%s once", id(claim)).isTrue();
      assertThat(claim.get("claim").asString()).as(id(claim)).endsWith(".");
      assertThat(claim.get("kind").asString())
          .as(id(claim))
          .isIn("arithmetic", "run", "open", "specification");
      assertThat(claim.path("source").asString("")).as(id(claim)).isNotEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"pull-vs-push", "many-ranks"})
  void arithmetic_claims_are_true(String paper) throws FormulaException {
    for (JsonNode claim : of(paper, "arithmetic")) {
      double value = Formula.value(claim.get("expression").asString(), new ModelNames());
      assertThat(claim.path("basis").asString(""))
          .as(id(claim))
          .isIn("exact", "modelled", "measured");
      if (claim.has("expected")) {
        double expected = claim.get("expected").asDouble();
        JsonNode tolerance = claim.get("tolerance");
        double allowed =
            tolerance.isObject()
                ? tolerance.get("absolute").asDouble()
                : tolerance.asDouble() * expected;
        assertThat(value).as(id(claim)).isCloseTo(expected, within(allowed));
      } else {
        assertThat(claim.has("at_least") || claim.has("at_most")).as(id(claim)).isTrue();
        assertThat(value)
            .as(id(claim))
            .isBetween(
                claim.path("at_least").asDouble(Double.NEGATIVE_INFINITY),
                claim.path("at_most").asDouble(Double.POSITIVE_INFINITY));
      }
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
