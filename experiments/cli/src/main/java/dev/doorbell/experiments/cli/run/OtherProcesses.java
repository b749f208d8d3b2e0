package dev.doorbell.experiments.cli.run;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.ChildProcess;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.PointRunner;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.run.JournalEntry;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.RunIndex;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.DoubleStream;

/**
 * The same points in further processes, one process after the other, before this one runs them: in
 * wall time a process is an observation, for samples inside one share its memory and its compiled
 * code. Each keeps a run directory of its own below this run's.
 */
final class OtherProcesses {
  private static final Set<String> WITH_VALUE = Set.of("--processes", "--tag", "--out");
  private static final Set<String> FLAGS =
      Set.of("--json", "--quiet", "-q", "--verbose", "-v", "--strict", "--timings");
  private static final int END_SECONDS = 60;

  private OtherProcesses() {}

  /** The command line of another process: this one's, less what is about this run directory. */
  static List<String> arguments(List<String> own, Path out) {
    List<String> words = new ArrayList<>();
    for (int i = 0; i < own.size(); i++) {
      String word = own.get(i);
      if (WITH_VALUE.contains(word)) {
        i++;
      } else if (!FLAGS.contains(word)
          && WITH_VALUE.stream().noneMatch(option -> word.startsWith(option + "="))) {
        words.add(word);
      }
    }
    words.addAll(List.of("-s", "processes=1", "--quiet", "--out", out.toString()));
    return words;
  }

  /**
   * Runs the points in all processes but this one.
   *
   * @param directory of this run
   * @param processes all of them, this one as well
   * @throws EnvironmentException when one cannot be started, or ends without a run
   */
  static List<RunIndex> run(CommandContext context, Path directory, int processes, boolean silent)
      throws ProblemException {
    List<RunIndex> runs = new ArrayList<>();
    for (int other = 1; other < processes && !context.interruption().requested(); other++) {
      if (!silent) {
        context.err().printf("process %d of %d%n", other, processes);
      }
      Path out = directory.resolve("processes").resolve(Integer.toString(other));
      try (ChildProcess child = ChildProcess.start(arguments(context.arguments(), out))) {
        String path = child.line();
        child.await(END_SECONDS);
        if (path.isEmpty()) {
          throw new EnvironmentException(
              Problem.of("DB-E047", null, "process %d ended without a run".formatted(other))
                  .fix("its own message is above; --processes 1 runs in this process alone"));
        }
        runs.add(RunIndex.read(Path.of(path)));
      }
    }
    return runs;
  }

  /** Adds the samples of other processes to those of this one, which come first. */
  static PointRunner joined(PointRunner own, List<RunIndex> others) {
    return others.isEmpty()
        ? own
        : (point, context) -> {
          PointResult result = own.run(point, context);
          List<Samples> samples = new ArrayList<>();
          long verified = result.verifiedBytes();
          for (Samples mine : result.samples()) {
            DoubleStream all = DoubleStream.of(mine.values());
            for (RunIndex other : others) {
              all = DoubleStream.concat(all, DoubleStream.of(values(other, point.id(), mine)));
            }
            samples.add(Samples.of(mine.metric(), mine.unit(), all.toArray()));
          }
          for (RunIndex other : others) {
            JournalEntry entry = other.results().get(point.id());
            verified += entry == null ? 0 : entry.verifiedBytes();
          }
          List<String> notes = new ArrayList<>(result.notes());
          notes.add("%d processes".formatted(others.size() + 1));
          return new PointResult(result.basis(), samples, result.counters(), verified, notes);
        };
  }

  private static double[] values(RunIndex other, String point, Samples mine) throws PointFailure {
    JournalEntry entry = other.results().get(point);
    try {
      RunIndex.Values values =
          entry == null
              ? null
              : other.values(entry, name -> name.equals(mine.metric())).get(mine.metric());
      if (values != null && values.samples().length == mine.size()) {
        return values.samples();
      }
    } catch (RunException e) {
      throw new PointFailure(PointFailure.Kind.FAILED, e.problem(), e);
    }
    throw new PointFailure(
        PointFailure.Kind.FAILED,
        Problem.of(
                "DB-P047",
                point,
                "another process has no %d samples of %s".formatted(mine.size(), mine.metric()))
            .effect("this point has no result")
            .fix("%s says why".formatted(other.path().resolve("log.txt"))));
  }
}
