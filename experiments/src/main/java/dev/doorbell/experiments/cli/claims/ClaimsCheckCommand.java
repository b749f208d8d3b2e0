package dev.doorbell.experiments.cli.claims;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.JUnitOption;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.results.claims.Claim;
import dev.doorbell.experiments.results.claims.ClaimChecker;
import dev.doorbell.experiments.results.claims.Finding;
import dev.doorbell.experiments.results.print.JUnitXml;
import dev.doorbell.experiments.workbench.explore.Laboratory;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code doorbell claims check}. */
@CommandLine.Command(
    header = {
      "Tests claims here: by closed forms, by experiments that it runs, by exploring bug cases.",
      "",
      "  doorbell claims check",
      "  doorbell claims check H4 H7",
      "  doorbell claims check --junit claims.xml",
      "  doorbell claims check --ledger papers/pull-vs-push/claims.yaml",
      "",
      "Exits with 6 when a claim is not reproduced for no known reason, with 77 when none could be",
      "tested.",
      ""
    })
final class ClaimsCheckCommand extends CliCommand {
  @Mixin private ClaimsSelection selection = new ClaimsSelection();

  @Mixin private JUnitOption junit = new JUnitOption();

  @Option(names = "--strict", description = "A known reason does not excuse a claim.")
  private boolean strict;

  @Override
  public ExitCode run(CommandContext context) throws UsageException, ConfigException {
    List<Claim> claims = selection.claims();
    ClaimChecker checker = new ClaimChecker(new ClaimRuns(context), ClaimsCheckCommand::laboratory);
    PrintStream out = context.terminal().out();
    List<Finding> findings = new ArrayList<>();
    for (Claim claim : claims) {
      Finding finding = checker.check(claim);
      findings.add(finding);
      if (!common().json() && !common().quiet()) {
        out.printf("%-20s %-17s %s%n", claim.id(), finding.verdict().text(), claim.statement());
        out.printf(
            "%-20s %s, %s: %s%n",
            "", claim.method().name().toLowerCase(Locale.ROOT), claim.basis(), finding.why());
        remark(finding).ifPresent(remark -> out.printf("%-20s %s%n", "", remark));
      }
    }
    ExitCode code = code(findings);
    junit.write("doorbell claims", findings.stream().map(this::testCase).toList());
    if (common().json()) {
      Json.print(context, json(findings, code));
    } else {
      out.printf(
          "%d reproduced on the model, %d true of published numbers by arithmetic, %d not"
              + " reproduced, %d not testable here%n",
          ClaimChecker.count(findings, Finding.Verdict.REPRODUCED) - arithmetic(findings),
          arithmetic(findings),
          ClaimChecker.count(findings, Finding.Verdict.NOT_REPRODUCED),
          ClaimChecker.count(findings, Finding.Verdict.NOT_TESTABLE));
      out.println(
          "MODELLED unless it says measured: what a model reproduces is not thereby true of an"
              + " HCA");
    }
    return code;
  }

  private JUnitXml.Case testCase(Finding finding) {
    JUnitXml.Outcome outcome =
        switch (finding.verdict()) {
          case REPRODUCED -> JUnitXml.Outcome.PASSED;
          case NOT_TESTABLE -> JUnitXml.Outcome.SKIPPED;
          case NOT_REPRODUCED ->
              excused(finding) ? JUnitXml.Outcome.SKIPPED : JUnitXml.Outcome.FAILED;
        };
    return new JUnitXml.Case(
        finding.claim().method().name().toLowerCase(Locale.ROOT),
        finding.claim().id() + ": " + finding.claim().statement(),
        outcome,
        finding.why() + remark(finding).map(remark -> "; " + remark).orElse(""));
  }

  /** Returns true if the ledger says why the claim is not reproduced, and that is enough. */
  private boolean excused(Finding finding) {
    return !strict && !finding.claim().known().isEmpty();
  }

  /** Claims that hold among published numbers, which says nothing about the model. */
  private static long arithmetic(List<Finding> findings) {
    return findings.stream()
        .filter(finding -> finding.verdict() == Finding.Verdict.REPRODUCED)
        .filter(finding -> finding.claim().method() == Claim.Method.ARITHMETIC)
        .count();
  }

  private static Laboratory laboratory() {
    return Laboratory.find();
  }

  /** The ledger's value, or the error in it. */
  private static Optional<String> remark(Finding finding) {
    String known = finding.claim().known();
    return known.isEmpty() || finding.verdict() == Finding.Verdict.NOT_TESTABLE
        ? Optional.empty()
        : Optional.of(
            finding.verdict() == Finding.Verdict.REPRODUCED
                ? "though the ledger says why it should not be: " + known
                : "known: " + known);
  }

  private ExitCode code(List<Finding> findings) {
    if (findings.stream()
        .filter(finding -> finding.verdict() == Finding.Verdict.NOT_REPRODUCED)
        .anyMatch(finding -> !excused(finding))) {
      return ExitCode.CLAIM;
    }
    return ClaimChecker.count(findings, Finding.Verdict.REPRODUCED) > 0
        ? ExitCode.OK
        : ExitCode.WAIVED;
  }

  private static Map<String, Object> json(List<Finding> findings, ExitCode code) {
    List<Map<String, Object>> all = new ArrayList<>();
    for (Finding finding : findings) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("id", finding.claim().id());
      one.put("claim", finding.claim().statement());
      one.put("method", finding.claim().method().name().toLowerCase(Locale.ROOT));
      one.put("basis", finding.claim().basis());
      one.put("source", finding.claim().source());
      one.put("verdict", finding.verdict().name().toLowerCase(Locale.ROOT));
      finding.value().ifPresent(value -> one.put("value", value));
      one.put("why", finding.why());
      if (!finding.claim().known().isEmpty()) {
        one.put("known", finding.claim().known());
      }
      all.add(one);
    }
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("exit", code.status());
    json.put("claims", all);
    return json;
  }
}
