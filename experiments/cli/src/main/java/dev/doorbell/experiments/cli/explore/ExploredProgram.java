package dev.doorbell.experiments.cli.explore;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.agent.PtxFiles;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.explore.Coverage;
import dev.doorbell.core.fabric.explore.ExploringFabric;
import dev.doorbell.core.fabric.explore.ReachableCode;
import dev.doorbell.core.fabric.explore.model.CalmChooser;
import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.core.fabric.explore.model.Region;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Show;
import dev.doorbell.experiments.results.print.JUnitXml;
import dev.doorbell.experiments.results.print.JUnitXml.Outcome;
import dev.doorbell.experiments.workbench.explore.Failure;
import dev.doorbell.experiments.workbench.explore.Race;
import dev.doorbell.experiments.workbench.explore.run.Races;
import dev.doorbell.interop.shim.client.ServedWorld;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Runs of a whole program against the adversary, and their report. */
public final class ExploredProgram {
  private static final int GPUS_OF_A_PROGRAM = 16;
  private static final int SHOWN = 8;
  private static final String NOTHING = ".version 7.0\n.target sm_70\n.address_size 64\n";

  private final Policy policy;
  private final Adapter adapter;
  private final ReachableCode reachable = new ReachableCode();
  private final Coverage coverage = new Coverage();
  private final Map<String, Found<Race>> races = new LinkedHashMap<>();
  private final Map<String, Found<Failure>> failures = new LinkedHashMap<>();

  /** The text of each module, with the line of all modules at which it begins. */
  private final Map<String, Integer> modules = new LinkedHashMap<>();

  private int lines;
  private int runs;
  private int runsWithFindings;
  private long instructions;

  /** A finding, the first seed that showed it, and the number of runs that did. */
  private record Found<T>(T what, long seed, int runs) {
    Found<T> merge(Found<T> other) {
      return new Found<>(what, seed, runs + other.runs);
    }
  }

  public ExploredProgram(Policy policy, Adapter adapter) {
    this.policy = policy;
    this.adapter = adapter;
  }

  /** The world of one run. */
  public final class Run implements ServedWorld {
    private final long seed;
    private final List<Failure> failed = new ArrayList<>();
    private @Nullable ExploringFabric fabric;

    private Run(long seed) {
      this.seed = seed;
    }

    @Override
    public Fabric create(AddressSpace memory) {
      ExploringFabric created =
          new ExploringFabric(
              memory,
              new CalmChooser(seed, List.of()),
              new ExploringFabric.Options(policy, true, Long.MAX_VALUE, adapter.promises()));
      fabric = created;
      return created;
    }

    @Override
    public Locus gpu(int program, int index) {
      return Locus.gpu(0, program * GPUS_OF_A_PROGRAM + index);
    }

    @Override
    public Locus nic(int number) {
      return Locus.nic(0, number);
    }

    @Override
    public String module(String ptx) {
      Integer known = modules.get(ptx);
      int before = known == null ? lines : known;
      if (known == null) {
        modules.put(ptx, before);
        lines += (int) ptx.lines().count() + PtxFiles.split("", ptx).size() + 1;
      }
      if (before == 0) {
        return ptx;
      }
      List<PtxFiles.Part> parts = new ArrayList<>();
      parts.add(new PtxFiles.Part("other modules", NOTHING + "\n".repeat(before), 0));
      parts.addAll(PtxFiles.split("module of the program", ptx));
      return PtxFiles.join(parts);
    }

    @Override
    public void queuePair(Locus nic, int number, long ring, long ringBytes, long record) {
      ExploringFabric world = fabric;
      if (world != null && world.memory().accessibleRange(record, Integer.BYTES)) {
        int device = Region.device(nic);
        world.describe(
            new Region(Region.Role.SEND_RING, ring, ringBytes, number, device, false, true));
        world.describe(
            new Region(
                Region.Role.SEND_RECORD, record, Integer.BYTES, number, device, false, true));
      }
    }

    @Override
    public void failed(String message) {
      failed.add(Failure.kernel(message, ""));
    }

    /** Counts what the run has shown, once the program has ended. */
    public void ended(int status) {
      runs++;
      ExploringFabric world = fabric;
      if (status != 0) {
        failed.add(Failure.status("exit status " + status, "the program"));
      }
      Map<String, Race> seen = new LinkedHashMap<>();
      if (world != null) {
        world.findings().stream()
            .map(Races::of)
            .forEach(race -> seen.putIfAbsent(race.key(), race));
        coverage.add(world.coverage(reachable));
        instructions += world.instructions();
      }
      seen.forEach((key, race) -> races.merge(key, new Found<>(race, seed, 1), Found::merge));
      if (!failed.isEmpty()) {
        Failure first = failed.getFirst();
        failures.merge(first.key(), new Found<>(first, seed, 1), Found::merge);
      }
      runsWithFindings += seen.isEmpty() && failed.isEmpty() ? 0 : 1;
    }
  }

  /** Begins a run. */
  public Run begin(long seed) {
    return new Run(seed);
  }

  private boolean isFound() {
    return runsWithFindings > 0;
  }

  /** The verdict on all runs. */
  public ExitCode verdict() {
    if (isFound()) {
      return ExitCode.COUNTER_EXAMPLE;
    }
    return hasKernels() && coverage.isWhole() ? ExitCode.OK : ExitCode.NOT_COVERED;
  }

  private boolean hasKernels() {
    return instructions > 0;
  }

  private String words() {
    String found = Show.count(runs, "run");
    if (!hasKernels()) {
      return "no finding in %s; no kernel ran".formatted(found);
    }
    String covered = new CoverageReport(coverage).words();
    return coverage.isWhole()
        ? "CLEAN: nothing found in %s, with %s. That is evidence, not a proof."
            .formatted(found, covered)
        : "no finding in %s; %s".formatted(found, covered);
  }

  /** The report. */
  public String text() {
    StringBuilder text = new StringBuilder();
    races.values().stream()
        .limit(SHOWN)
        .forEach(
            found -> {
              text.append(
                  "%nCOUNTER-EXAMPLE  %s   in %d of %s%n"
                      .formatted(found.what.kind().what(), found.runs, Show.count(runs, "run")));
              ExploreReport.race(text, found.what);
              text.append("  again    --explore 1 --seed %d%n".formatted(found.seed));
            });
    if (races.size() > SHOWN) {
      text.append("%nand %d more races; --junit lists all%n".formatted(races.size() - SHOWN));
    }
    failures.forEach(
        (key, found) ->
            text.append(
                "%n%s  %s   in %d of %s%n  again    --explore 1 --seed %d%n"
                    .formatted(
                        found.what.kind().verdict(),
                        found.what.text().strip(),
                        found.runs,
                        Show.count(runs, "run"),
                        found.seed)));
    text.append(
        "%n%s; %.3g M instructions; loads and stores of the host are not watched%n"
            .formatted(Show.count(runs, "run"), instructions / 1e6));
    if (isFound()) {
      text.append(
          "%s, findings in %d of %s%n"
              .formatted(
                  Show.count(races.size(), "race"), runsWithFindings, Show.count(runs, "run")));
    }
    if (hasKernels()) {
      text.append(new CoverageReport(coverage).text());
    }
    return text.append(isFound() ? "" : words() + "\n").toString();
  }

  /** A test case for each finding, else one for the runs; and one for what was covered. */
  public List<JUnitXml.Case> cases() {
    List<JUnitXml.Case> cases = new ArrayList<>();
    races.forEach(
        (key, found) ->
            cases.add(new JUnitXml.Case("race", key, Outcome.FAILED, found.what.kind().what())));
    failures.forEach(
        (key, found) ->
            cases.add(new JUnitXml.Case("failure", key, Outcome.FAILED, found.what.text())));
    if (cases.isEmpty()) {
      cases.add(new JUnitXml.Case("runs", Show.count(runs, "run"), Outcome.PASSED, ""));
    }
    boolean covered = hasKernels() && coverage.isWhole();
    cases.add(
        new JUnitXml.Case(
            "coverage", "covered", covered ? Outcome.PASSED : Outcome.UNDECIDED, words()));
    return cases;
  }
}
