package dev.doorbell.experiments.results.claims;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.results.claims.ClaimChecker.Finding;
import dev.doorbell.experiments.workbench.explore.BugCase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LedgerTest {
  private static final Path PAPER = Path.of("../papers/pull-vs-push/claims.yaml");

  @Test
  void the_ledger_has_the_ten_hypotheses_and_the_published_numbers() throws ConfigException {
    List<String> ids = Ledger.builtIn().claims().stream().map(Claim::id).toList();
    IntStream.rangeClosed(1, 10).forEach(i -> assertThat(ids).contains("H" + i));
    assertThat(ids)
        .contains("C1", "C3", "seed000", "tags", "pcie-bench.read", "gin", "nvshmem", "gpurdma");
  }

  @Test
  void every_claim_says_who_says_so_and_what_would_decide_it() throws ConfigException {
    for (Claim claim : Ledger.builtIn().claims()) {
      assertThat(claim.statement()).as(claim.id()).endsWith(".");
      assertThat(claim.source()).as(claim.id()).isNotEmpty();
      assertThat(claim.basis())
          .as(claim.id())
          .isIn("exact", "modelled", "measured", "explored", "none");
      if (claim.method() == Claim.Method.CASE) {
        assertThat(BugCase.of(String.valueOf(claim.bug()))).as(claim.id()).isPresent();
      }
      if (claim.experiment() != null) {
        assertThat(Path.of("configs", claim.experiment() + ".yaml")).as(claim.id()).exists();
      }
    }
  }

  @Test
  void arithmetic_and_closed_forms_hold_today() throws ConfigException {
    ClaimChecker checker =
        new ClaimChecker(
            (_, _) -> {
              throw new AssertionError("nothing is run here");
            },
            () -> {
              throw new AssertionError("nothing is explored here");
            });
    for (Claim claim : Ledger.builtIn().claims()) {
      if (claim.method() == Claim.Method.ARITHMETIC || claim.method() == Claim.Method.MODEL) {
        Finding finding = checker.check(claim);
        assertThat(finding.verdict())
            .as("%s: %s", claim.id(), finding.why())
            .isEqualTo(Finding.Verdict.REPRODUCED);
      }
    }
  }

  @Test
  void the_ledger_of_the_paper_is_read_by_the_same_rules() throws ConfigException {
    assertThat(Files.exists(PAPER)).isTrue();
    assertThat(Ledger.load(PAPER).claims()).extracting(Claim::id).contains("C1", "H10.ordering");
  }

  @Test
  void everything_that_is_wrong_with_a_ledger_is_told_at_once_with_its_place() {
    String text =
        """
        claims:
          - {id: a, claim: One., kind: model, source: me, expression: "1", at_mots: 1}
          - {id: b, claim: Two., kind: run, source: me, expression: "1", at_most: 1}
          - {id: c, claim: Three., kind: open, source: me}
          - {id: d, claim: Four., kind: guess, source: me}
          - {id: e, claim: Five., kind: case, source: me, expected: no}
          - {id: f, claim: Six., kind: model}
        """;
    assertThat(problems(text))
        .containsExactly(
            "mine.yaml:2:68 unknown key 'at_mots' in claims  - did you mean 'at_most'?",
            "mine.yaml:3:5 key 'experiment' is missing",
            "mine.yaml:4:5 key 'needs' is missing",
            "mine.yaml:5:33 unknown kind 'guess'  - known: arithmetic, model, run, case,"
                + " specification, open",
            "mine.yaml:6:5 key 'case' is missing",
            "mine.yaml:6:61 expected must be a number, and 'no' is a text",
            "mine.yaml:7:5 key 'source' is missing",
            "mine.yaml:7:5 key 'expression' is missing");
  }

  @Test
  void a_claim_that_decides_nothing_is_refused() {
    String text =
        """
        claims:
          - {id: a, claim: One., kind: model, source: me, expression: "1 +", at_most: 1}
          - {id: a, claim: Two., kind: model, source: me, expression: "1", at_most: 1}
          - {id: b, claim: Three., kind: model, source: me, expression: "1"}
        """;
    assertThat(problems(text))
        .containsExactly(
            "mine.yaml:2:5 claim 'a' '1 +' ends too early",
            "mine.yaml:3:5 claim 'a' is there twice",
            "mine.yaml:4:5 claim 'b' has neither expected, at_least nor at_most");
  }

  private static List<String> problems(String text) {
    ConfigException wrong =
        catchThrowableOfType(ConfigException.class, () -> Ledger.parse("mine.yaml", text));
    return wrong.problems().stream().map(each -> each.where() + " " + each.what()).toList();
  }

  @Test
  void both_bounds_of_a_claim_reproduce_it_and_their_neighbours_do_not() throws ConfigException {
    Claim claim =
        Ledger.builtIn().claims().stream()
            .filter(each -> each.method() == Claim.Method.ARITHMETIC)
            .filter(each -> each.lower() < each.upper())
            .findFirst()
            .orElseThrow();
    assertThat(claim.holds(claim.lower())).isTrue();
    assertThat(claim.holds(claim.upper())).isTrue();
    assertThat(claim.holds(Math.nextDown(claim.lower()))).isFalse();
    assertThat(claim.holds(Math.nextUp(claim.upper()))).isFalse();
    assertThat(claim.holds(Double.NaN)).isFalse();
  }
}
