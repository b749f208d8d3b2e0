package dev.doorbell.experiments.remote;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The processes of a job, one rank each, meeting at rank 0. Whoever does not come in time is named
 * to all the others; a process that dies is noticed at once.
 */
public final class JobMeeting implements AutoCloseable {
  private static final long PAUSE_NANOS = 2_000_000;
  private static final long ANSWER_NANOS = 5_000_000_000L;

  private final JobRank self;
  private long nanos;
  private final @Nullable Host host;
  private final ControlClient client;

  /** Polls the rendezvous while its process does other things. */
  private static final class Host {
    final Rendezvous rendezvous;
    final Thread thread;
    volatile boolean closed;

    Host(Rendezvous rendezvous) {
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

  private JobMeeting(JobRank self, long nanos, @Nullable Host host, ControlClient client) {
    this.self = self;
    this.nanos = nanos;
    this.host = host;
    this.client = client;
  }

  /**
   * Joins; rank 0 opens the meeting.
   *
   * @param nanos from the first that comes to a round until the last must have come
   */
  public static JobMeeting join(JobRank self, long nanos) throws EnvironmentException {
    Endpoint at = self.meeting();
    if (at == null) {
      throw new EnvironmentException(
          Problem.of(
                  "DB-E051",
                  null,
                  "%s does not tell where rank 0 is to be met".formatted(self.launcher()))
              .fix("name a port of its machine: --rendezvous HOST:PORT, for all ranks"));
    }
    if (self.size() > Rendezvous.MAX_RANKS) {
      throw new EnvironmentException(
          Problem.of(
              "DB-E051",
              null,
              "a job of %d ranks; %d can meet".formatted(self.size(), Rendezvous.MAX_RANKS)));
    }
    Host host = self.rank() == 0 ? new Host(new Rendezvous(at, self.size(), nanos)) : null;
    try {
      return new JobMeeting(self, nanos, host, new ControlClient(at, nanos + ANSWER_NANOS));
    } catch (EnvironmentException e) {
      if (host != null) {
        host.close();
      }
      throw apart(self, e, "rank 0 is not there");
    }
  }

  /**
   * Brings a value and waits for those of all ranks.
   *
   * @param round each has a name of its own
   * @return in the order of ranks
   * @throws EnvironmentException when a rank did not come in time, or has died; it says which
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
      throw apart(self, e, "the ranks did not meet in '%s'".formatted(round));
    } catch (ControlLine.Refused e) {
      throw new EnvironmentException(
          Problem.of("DB-E051", null, "rank 0 answers nonsense: " + e.getMessage()));
    }
  }

  private static EnvironmentException apart(JobRank self, EnvironmentException why, String what) {
    return new EnvironmentException(
        Problem.of(
                "DB-E051",
                "rank %d of %d".formatted(self.rank(), self.size()),
                "%s: %s".formatted(what, why.problem().what()))
            .effect("this rank stops; what is in its journal is safe")
            .fix("look at the output of the rank that is named; --patience allows more time"));
  }

  /** Rounds from now on may take so long; every rank says so between the same two rounds. */
  public void patience(long roundNanos) {
    nanos = roundNanos;
    if (host != null) {
      host.rendezvous.patience(roundNanos);
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
