package dev.doorbell.experiments.cli.run;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.Typed;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.results.ResultTable;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.run.PointSchedule;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.interop.job.JobMeeting;
import dev.doorbell.interop.job.JobRank;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A run that several processes share under a launcher. Each takes a shard and keeps a run directory
 * of its own; they meet before the first point, so that a rank that is missing is named at once,
 * and after the last, so that rank 0 can show the whole.
 */
final class RunJob implements AutoCloseable {
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private final JobRank rank;
  private final JobMeeting meeting;

  private RunJob(JobRank rank, JobMeeting meeting) {
    this.rank = rank;
    this.meeting = meeting;
  }

  /** Returns which rank of a job this process is, if any. */
  static JobRank rank(Map<String, String> variables, RunOptions options)
      throws EnvironmentException {
    JobRank alone = new JobRank(0, 1, "nobody", null);
    JobRank rank = JobRank.of(variables).orElse(alone);
    return options.rendezvous == null || rank.size() == 1
        ? rank
        : rank.meetingAt(options.rendezvous);
  }

  /** The part of the plan that this rank takes. */
  static PointSchedule.Shard shard(JobRank rank) {
    return new PointSchedule.Shard(rank.rank() + 1, rank.size());
  }

  /** Begins a job if there are several ranks; returns null for a process of its own. */
  static @Nullable RunJob beginIfShared(JobRank rank, RunOptions options, ExperimentConfig config)
      throws EnvironmentException {
    return rank.size() == 1 ? null : begin(rank, options, config);
  }

  /**
   * Meets the other ranks.
   *
   * @throws EnvironmentException when one does not come, or runs something else
   */
  private static RunJob begin(JobRank rank, RunOptions options, ExperimentConfig config)
      throws EnvironmentException {
    JobMeeting meeting = JobMeeting.join(rank, options.joinTimeout * NANOS_PER_SECOND);
    RunJob job = new RunJob(rank, meeting);
    try {
      List<String> hashes = meeting.gather("begin", config.hash());
      for (int other = 0; other < hashes.size(); other++) {
        if (!hashes.get(other).equals(hashes.getFirst())) {
          throw new EnvironmentException(
              Problem.of(
                      "DB-E052",
                      "rank %d of %d".formatted(rank.rank(), rank.size()),
                      "rank %d runs another config than rank 0".formatted(other))
                  .fix("give all ranks the same command line and the same files"));
        }
      }
    } catch (EnvironmentException e) {
      job.close();
      throw e;
    }
    return job;
  }

  /** Ranks end at different times: by as much as all points of one may take, at most. */
  void running(List<Point> points, int retries) {
    long all = points.stream().mapToLong(point -> point.timeout().toNanos()).sum();
    meeting.setTimeout((retries + 1) * all + 60 * NANOS_PER_SECOND);
  }

  /** Tells the others where this rank's run is, and lets rank 0 show all of them. */
  void end(CommandContext context, Path run, ExitCode code, boolean quiet)
      throws EnvironmentException, RunException {
    List<String> told =
        meeting.gather("end", code.status() + " " + run.toAbsolutePath().normalize());
    if (rank.rank() == 0 && !quiet) {
      show(context, told);
    }
    // A launcher may end everybody as soon as one has failed: rank 0 prints first.
    meeting.gather("shown", "");
  }

  private static void show(CommandContext context, List<String> told) throws RunException {
    PrintStream out = context.terminal().out();
    List<StoredRun> parts = new ArrayList<>();
    for (int other = 0; other < told.size(); other++) {
      String[] words = told.get(other).split(" ", 2);
      Path run = Path.of(words[1]);
      out.printf("rank %-4d exit %-3s %s%n", other, words[0], run);
      if (Files.isDirectory(run)) {
        parts.add(StoredRun.read(run));
      }
    }
    if (parts.size() < told.size()) {
      out.printf(
          Typed.in(
              "%d of the runs are not visible here; bring them together and: doorbell table"
                  + " RUN...%n"),
          told.size() - parts.size());
    }
    out.println();
    out.print(ResultTable.text(StoredRun.merge(parts), context.terminal().width()));
  }

  @Override
  public void close() {
    meeting.close();
  }
}
