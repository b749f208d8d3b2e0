package dev.doorbell.experiments.cli.run;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.cli.command.UsageException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

final class RunOptions {
  @Option(
      names = {"-j", "--jobs"},
      paramLabel = "N",
      description = "Points to run at a time (default: one a core).")
  int jobs = Runtime.getRuntime().availableProcessors();

  @Option(
      names = "--repeat",
      paramLabel = "N",
      description = "Run each point N times, each in a world of its own.")
  @Nullable Integer repeat;

  @Option(
      names = "--processes",
      paramLabel = "N",
      description = "Wall time: run all points in N processes, one after the other.")
  @Nullable Integer processes;

  @Option(
      names = "--until",
      paramLabel = "CONDITION",
      description = "Repeat each point until, such as 'ci95(latency.p50)<2%%'.")
  @Nullable String until;

  @Option(
      names = "--retries",
      paramLabel = "N",
      description = "Try a point that failed or timed out up to N times more.")
  int retries;

  @Option(
      names = "--full",
      description = "On a terminal: every row and expectation, not the short answer alone.")
  boolean full;

  @Option(
      names = "--shuffle",
      negatable = true,
      description =
          "Begin points in a random order, which the manifest records "
              + "(default: where numbers are wall time; virtual time does not drift).")
  @Nullable Boolean shuffle;

  @Option(
      names = "--tag",
      paramLabel = "NAME",
      description = "A name for the run; for compare and table.")
  List<String> tags = new ArrayList<>();

  @Option(names = "--strict", description = "Exit 6 if an expectation of the config is NOT MET.")
  boolean strict;

  @Option(names = "--timings", description = "Say where the time went.")
  boolean timings;

  /** Options that are settings of the experiment as well, as overrides. */
  List<String> overrides() {
    List<String> overrides = new ArrayList<>();
    if (repeat != null) {
      overrides.add("repeat=" + repeat);
    }
    if (processes != null) {
      overrides.add("processes=" + processes);
    }
    if (until != null) {
      overrides.add("until=" + until);
    }
    return overrides;
  }

  void check() throws UsageException {
    if (jobs < 1) {
      throw UsageException.wrong("--jobs", "at least one point must run");
    }
    if (retries < 0) {
      throw UsageException.wrong("--retries", "it is 0 or more");
    }
    for (String tag : tags) {
      if (!tag.matches("[A-Za-z0-9][A-Za-z0-9._-]{0,63}")) {
        throw UsageException.wrong("--tag", "a tag is letters, digits, '.', '_' and '-', up to 64");
      }
    }
  }

  boolean shuffled(Basis basis) {
    return shuffle == null ? basis != Basis.MODELLED : shuffle;
  }
}
