package dev.doorbell.experiments.cli.run;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.ChildProcess;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.hca.HcaPlace;
import dev.doorbell.experiments.plan.Pairing;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.PointRunner;
import dev.doorbell.interop.access.AccessToken;
import dev.doorbell.interop.control.HostPort;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of a command that may run in two processes. */
final class PairOptions {
  private static final int ALONE = -1;
  private static final long PATIENCE_NANOS = 180_000_000_000L;

  @Option(
      names = "--pair",
      description = "Two processes, one a rank, over UDP; starts the other one itself.")
  private boolean pair;

  @Option(
      names = "--rank",
      paramLabel = "N",
      description =
          "This process is rank 0 or 1 of two that are started by hand; rank 0 keeps the run.")
  private int rank = ALONE;

  @Option(
      names = "--at",
      paramLabel = "[HOST:]PORT",
      description = "Where the two meet: TCP, held by rank 0.")
  private @Nullable String at;

  @Option(
      names = "--address",
      paramLabel = "IP",
      description = "This process's address for packets; ${DEFAULT-VALUE} unless given.")
  private String address = "127.0.0.1";

  private @Nullable HostPort meeting;

  /** Returns the role of this process in a pair, or null if it runs alone. */
  @Nullable Pairing pairing() throws UsageException, EnvironmentException {
    if (!pair && rank == ALONE) {
      if (at != null) {
        throw new UsageException(Problem.of("DB-U003", "--at", "it needs --rank or --pair"));
      }
      return null;
    }
    if (rank < ALONE || rank > 1 || (pair && rank != ALONE) || (!pair && at == null)) {
      throw new UsageException(
          Problem.of("DB-U003", "--rank", "either --pair, or --rank 0 or 1 with --at"));
    }
    HostPort where = at == null ? HcaPlace.privateMeeting() : HcaPlace.endpoint(at);
    meeting = where;
    AccessToken token = where.token();
    return new Pairing(
        Math.max(0, rank),
        where.host(),
        where.port(),
        token == null ? null : token.text(),
        address,
        PATIENCE_NANOS);
  }

  /** True when the other process has the samples. */
  boolean follows() {
    return rank == 1;
  }

  /**
   * Starts the other process, where this one has to.
   *
   * @param arguments of this process
   * @param quiet whether they say that results alone are printed; it cannot be said twice
   */
  @Nullable ChildProcess startOther(List<String> arguments, boolean quiet)
      throws EnvironmentException {
    if (!pair) {
      return null;
    }
    List<String> words = new ArrayList<>(arguments);
    words.removeIf(word -> word.equals("--pair"));
    words.addAll(List.of("--rank=1", "--at=" + meeting));
    if (!quiet) {
      words.add("--quiet");
    }
    HostPort where = meeting;
    return ChildProcess.start(words, where == null ? Map.of() : HcaPlace.environment(where));
  }

  /**
   * The part of an experiment's second process: it runs the points that the first one runs, checks
   * what arrives, and keeps nothing, for the samples are the first one's.
   */
  static final class FollowedRun implements PointContext {
    private final CommandContext around;
    private final PointRunner runner;
    private final boolean quiet;

    FollowedRun(CommandContext around, PointRunner runner, boolean quiet) {
      this.around = around;
      this.runner = runner;
      this.quiet = quiet;
    }

    ExitCode run(List<Point> points) {
      PrintStream print = around.terminal().out();
      ExitCode code = ExitCode.OK;
      for (Point point : points) {
        if (cancelled()) {
          return ExitCode.INTERRUPTED;
        }
        try {
          PointResult result = runner.run(point, this);
          if (!quiet) {
            print.printf("%s: %,d bytes right%n", point.id(), result.verifiedBytes());
          }
        } catch (PointFailure e) {
          if (!quiet) {
            print.println(e.problem().text());
          }
          code = e.kind() == PointFailure.Kind.WAIVED ? code : ExitCode.FAILED;
        }
      }
      return code;
    }

    @Override
    public boolean cancelled() {
      return around.interruption().requested();
    }

    @Override
    public void log(String line) {
      // There is no run directory here.
    }
  }
}
