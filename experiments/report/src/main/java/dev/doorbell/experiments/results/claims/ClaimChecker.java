package dev.doorbell.experiments.results.claims;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.config.formula.Formula;
import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import dev.doorbell.experiments.workbench.explore.BugCase;
import dev.doorbell.experiments.workbench.explore.Explorer;
import dev.doorbell.experiments.workbench.explore.Laboratory;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.function.Supplier;

/** Evaluates claims. Experiments that several claims ask for run once. */
public final class ClaimChecker {
  private static final int SEEDS = 40;
  private static final long CASE_NANOS = 20_000_000_000L;

  private final Experiments experiments;
  private final Supplier<Laboratory> laboratories;
  private final Map<Asked, Formula.Lookup> runs = new HashMap<>();

  /** Runs experiments for claims. */
  public interface Experiments {
    Formula.Lookup run(String experiment, SequencedMap<String, String> set)
        throws FormulaException, EnvironmentException;
  }

  private record Asked(String experiment, SequencedMap<String, String> set) {}

  /** Checks claims. */
  public ClaimChecker(Experiments experiments, Supplier<Laboratory> laboratories) {
    this.experiments = experiments;
    this.laboratories = laboratories;
  }

  public Finding check(Claim claim) {
    return switch (claim.method()) {
      case ARITHMETIC, MODEL -> evaluated(claim, new ModelNames());
      case RUN -> run(claim);
      case CASE -> explored(claim);
      case SPECIFICATION ->
          untestable(claim, "settled by a document, not by a test: " + claim.source());
      case OPEN -> untestable(claim, "it needs " + claim.needs());
    };
  }

  private Finding run(Claim claim) {
    String experiment = String.valueOf(claim.experiment());
    try {
      Asked asked = new Asked(experiment, claim.set());
      Formula.Lookup names = runs.get(asked);
      if (names == null) {
        names = experiments.run(experiment, claim.set());
        runs.put(asked, names);
      }
      return evaluated(claim, names);
    } catch (FormulaException e) {
      return failed(claim, e.why());
    } catch (EnvironmentException e) {
      return untestable(claim, e.problem().what());
    }
  }

  private static Finding evaluated(Claim claim, Formula.Lookup names) {
    try {
      double value = Formula.value(claim.expression(), names);
      boolean holds = claim.holds(value);
      return new Finding(
          claim,
          holds ? Finding.Verdict.REPRODUCED : Finding.Verdict.NOT_REPRODUCED,
          OptionalDouble.of(value),
          "%s, asked for %s".formatted(number(value), bounds(claim)));
    } catch (FormulaException e) {
      return failed(claim, e.why());
    }
  }

  private Finding explored(Claim claim) {
    String word = String.valueOf(claim.bug());
    BugCase bug = BugCase.of(word).orElse(null);
    if (bug == null) {
      return failed(claim, "there is no case '%s'".formatted(word));
    }
    try {
      Laboratory laboratory = laboratories.get();
      Explorer.Report broken = explore(laboratory, bug, false);
      Explorer.Report fixed = explore(laboratory, bug, true);
      boolean holds = broken.found() > 0 && fixed.isClean();
      return new Finding(
          claim,
          holds ? Finding.Verdict.REPRODUCED : Finding.Verdict.NOT_REPRODUCED,
          OptionalDouble.empty(),
          "without the rule: violated in %d of %d runs; with it: in %d of %d"
              .formatted(broken.found(), broken.runs(), fixed.found(), fixed.runs()));
    } catch (ScenarioException e) {
      return failed(claim, String.valueOf(e.getMessage()));
    }
  }

  private static Explorer.Report explore(Laboratory laboratory, BugCase bug, boolean fixed)
      throws ScenarioException {
    return new Explorer(laboratory, bug.scenario(laboratory.kernel(bug, fixed)))
        .explore(SEEDS, CASE_NANOS);
  }

  private static Finding untestable(Claim claim, String why) {
    return new Finding(claim, Finding.Verdict.NOT_TESTABLE, OptionalDouble.empty(), why);
  }

  /** A claim that ought to have a value and has none is not reproduced. */
  private static Finding failed(Claim claim, String why) {
    return new Finding(claim, Finding.Verdict.NOT_REPRODUCED, OptionalDouble.empty(), why);
  }

  private static String bounds(Claim claim) {
    if (Double.isInfinite(claim.lower())) {
      return "at most " + number(claim.upper());
    }
    return Double.isInfinite(claim.upper())
        ? "at least " + number(claim.lower())
        : "%s to %s".formatted(number(claim.lower()), number(claim.upper()));
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.5g", value)
        .replaceFirst("(\\.\\d*?)0+$", "$1")
        .replaceFirst("\\.$", "");
  }

  /** Counts the findings with a verdict. */
  public static long count(List<Finding> findings, Finding.Verdict verdict) {
    return findings.stream().filter(finding -> finding.verdict() == verdict).count();
  }

  /**
   * Result of checking a claim.
   *
   * @param value of its expression, where it has one
   * @param why in words: what was found, or what stands in the way
   */
  public record Finding(Claim claim, Verdict verdict, OptionalDouble value, String why) {

    public enum Verdict {
      REPRODUCED("reproduced"),
      NOT_REPRODUCED("NOT REPRODUCED"),
      NOT_TESTABLE("not testable here");

      private final String text;

      Verdict(String text) {
        this.text = text;
      }

      public String text() {
        return text;
      }
    }
  }
}
