package dev.doorbell.interop.job;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.interop.control.ControlClient;
import dev.doorbell.interop.control.ControlLine;
import dev.doorbell.interop.control.HostPort;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Exchanges values among the processes of a job, one rank each, through rank 0. A rank that is late
 * is named to all others; a process that ends is noticed at once.
 */
public final class JobMeeting implements AutoCloseable {
  private static final long PAUSE_NANOS = 2_000_000;
  private static final long ANSWER_NANOS = 5_000_000_000L;

  private final JobRank self;
  private long nanos;
  private final @Nullable RendezvousThread host;
  private final ControlClient client;

  /** Polls the rendezvous on a thread of its own. */
  private static final class RendezvousThread {
    final Rendezvous rendezvous;
    final Thread thread;
    volatile boolean closed;

    RendezvousThread(Rendezvous rendezvous) {
      this.rendezvous = rendezvous;
      this.thread = new Thread(this::poll, "rendezvous");
      thread.setDaemon(true);
      thread.start();
    }

    private void poll() {
      while (!closed) {
        rendezvous.poll();
        LockSupport.parkNanos(PAUSE_NANOS);
      }
      rendezvous.close();
    }

    void close() {
      closed = true;
      try {
        thread.join(ANSWER_NANOS / 1_000_000);
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private JobMeeting(
      JobRank self, long nanos, @Nullable RendezvousThread host, ControlClient client) {
    this.self = self;
    this.nanos = nanos;
    this.host = host;
    this.client = client;
  }

  /**
   * Joins; rank 0 starts the rendezvous.
   *
   * @param nanos from the first value of a round to the last
   */
  public static JobMeeting join(JobRank self, long nanos) throws EnvironmentException {
    HostPort at = self.meeting();
    if (at == null) {
      throw new EnvironmentException(
          Problem.of(
                  "DB-E051",
                  null,
                  "%s does not set the address of rank 0".formatted(self.launcher()))
              .fix("name a port of its machine: --rendezvous HOST:PORT, for all ranks"));
    }
    if (self.size() > Rendezvous.MAX_RANKS) {
      throw new EnvironmentException(
          Problem.of(
              "DB-E051",
              null,
              "a job of %d ranks; at most %d are supported"
                  .formatted(self.size(), Rendezvous.MAX_RANKS)));
    }
    RendezvousThread host =
        self.rank() == 0 ? new RendezvousThread(new Rendezvous(at, self.size(), nanos)) : null;
    try {
      return new JobMeeting(self, nanos, host, new ControlClient(at, nanos + ANSWER_NANOS));
    } catch (EnvironmentException e) {
      if (host != null) {
        host.close();
      }
      throw failure(self, e, "rank 0 does not answer");
    }
  }

  /**
   * Sends a value and waits for those of all ranks.
   *
   * @param round a unique name
   * @return in the order of ranks
   * @throws EnvironmentException naming the rank that is late or has ended
   */
  public List<String> gather(String round, String value) throws EnvironmentException {
    try {
      // Values come back as lines, so that none may hold an end of line.
      ControlLine answer =
          client.call(
              ControlLine.of("gather")
                  .with("size", self.size())
                  .with("rank", self.rank())
                  .with("round", round)
                  .with("value", value.replace("\n", " ")),
              nanos + ANSWER_NANOS);
      return List.of(answer.word("values").split("\n", -1));
    } catch (EnvironmentException e) {
      throw failure(self, e, "round '%s' did not complete".formatted(round));
    } catch (ControlLine.Refused e) {
      throw new EnvironmentException(
          Problem.of("DB-E051", null, "rank 0 sends an illegal message: " + e.getMessage()));
    }
  }

  private static EnvironmentException failure(JobRank self, EnvironmentException why, String what) {
    return new EnvironmentException(
        Problem.of(
                "DB-E051",
                "rank %d of %d".formatted(self.rank(), self.size()),
                "%s: %s".formatted(what, why.problem().what()))
            .effect("this rank stops; what is in its journal is safe")
            .fix("look at the output of the rank that is named; --join-timeout allows more time"));
  }

  /** Sets the timeout of later rounds; all ranks call it between the same two rounds. */
  public void setTimeout(long roundNanos) {
    nanos = roundNanos;
    if (host != null) {
      host.rendezvous.setTimeout(roundNanos);
    }
  }

  @Override
  public void close() {
    client.close();
    if (host != null) {
      host.close();
    }
  }
}
