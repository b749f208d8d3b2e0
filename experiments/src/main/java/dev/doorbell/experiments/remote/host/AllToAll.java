package dev.doorbell.experiments.remote.host;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.remote.ControlLine;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Ranks of this process in an all-to-all. A round: everybody sends, waits for everybody, looks at
 * every byte that has come, and waits again. The HCAs are stepped all the while: others may still
 * miss an acknowledgement.
 */
final class AllToAll {
  private static final long SLICE_NANOS = 200_000;

  /** Where the ranks of all processes meet. */
  interface Meeting {
    void bring(String name, List<String> values);

    boolean isGathered() throws EnvironmentException;

    List<String> values();
  }

  /** The meeting of ranks that are all in this process. */
  static final class AtHome implements Meeting {
    private List<String> values = List.of();

    @Override
    public void bring(String name, List<String> brought) {
      values = brought;
    }

    @Override
    public boolean isGathered() {
      return true;
    }

    @Override
    public List<String> values() {
      return values;
    }
  }

  private final Fabric fabric;
  private final List<AllToAllRank> own;
  private final int ranks;
  private final Meeting meeting;
  private final BooleanSupplier interrupted;
  private final BooleanSupplier sweep;
  private final long deadline;
  private long bytesWrong;
  private long atomicsWrong;

  /**
   * @param ranks of the job
   * @param idle called once a sweep
   * @param nanos for everything, of the fabric's clock
   */
  AllToAll(
      Fabric fabric,
      List<AllToAllRank> own,
      int ranks,
      Meeting meeting,
      BooleanSupplier interrupted,
      Runnable idle,
      long nanos) {
    this.fabric = fabric;
    this.own = own;
    this.ranks = ranks;
    this.meeting = meeting;
    this.interrupted = interrupted;
    this.sweep =
        () -> {
          idle.run();
          return false;
        };
    this.deadline = fabric.now() + nanos;
  }

  /** Rounds that it takes for {@code messages} messages of the job at least. */
  static long rounds(int ranks, long messages) {
    long perRound = (long) ranks * (ranks - 1) * AllToAllTraffic.MESSAGES;
    return Math.max(1, (messages + perRound - 1) / perRound);
  }

  void run(long rounds) throws EnvironmentException {
    meet("cards", own.stream().map(AllToAllRank::card).toList());
    List<String> cards = meeting.values();
    for (AllToAllRank rank : own) {
      try {
        rank.connect(cards);
      } catch (ControlLine.Refused e) {
        throw trouble("another process tells nonsense: " + e.getMessage());
      }
    }
    meet("connected");
    for (long round = 0; round < rounds; round++) {
      round(round);
    }
  }

  private void round(long round) throws EnvironmentException {
    for (AllToAllRank rank : own) {
      for (AllToAllConnection connection : rank.connections) {
        connection.begin();
        breathe();
      }
    }
    work(this::allSent, "round %d".formatted(round));
    for (AllToAllRank rank : own) {
      for (AllToAllConnection connection : rank.connections) {
        bytesWrong += connection.wrongBytes();
        atomicsWrong += connection.wrongAtomics();
        breathe();
      }
    }
    meet("sent%d".formatted(round));
    fabric.quiesce();
    for (AllToAllRank rank : own) {
      for (int source = 0; source < ranks; source++) {
        bytesWrong += rank.wrongBytes(source, round);
        atomicsWrong += rank.wrongCount(source, round);
        breathe();
      }
    }
    meet("seen%d".formatted(round));
  }

  /** Lets the HCAs answer what has arrived meanwhile. */
  private void breathe() {
    fabric.run(() -> false, 0);
  }

  private boolean allSent() throws EnvironmentException {
    boolean all = true;
    for (int i = 0; i < own.size(); i++) {
      List<AllToAllConnection> connections = own.get(i).connections;
      for (int j = 0; j < connections.size(); j++) {
        all &= connections.get(j).post();
        if (connections.get(j).failed()) {
          throw trouble(
              "a connection to another rank is dead: " + connections.get(j).queuePair.trouble());
        }
      }
    }
    return all;
  }

  private void meet(String name) throws EnvironmentException {
    meet(name, own.stream().map(_ -> "").toList());
  }

  private void meet(String name, List<String> values) throws EnvironmentException {
    meeting.bring(name, values);
    work(meeting::isGathered, name);
  }

  private interface Condition {
    boolean holds() throws EnvironmentException;
  }

  private void work(Condition done, String what) throws EnvironmentException {
    long stalledAt = -1;
    while (!done.holds()) {
      if (interrupted.getAsBoolean()) {
        throw trouble("interrupted in '%s'".formatted(what));
      }
      if (fabric.now() - deadline >= 0) {
        throw trouble("'%s' was not over in time".formatted(what));
      }
      if (fabric.run(sweep, SLICE_NANOS) == RunOutcome.STALLED) {
        // Once: there may be more to post.
        if (fabric.now() == stalledAt) {
          throw trouble("nothing moves any more in '%s'".formatted(what));
        }
        stalledAt = fabric.now();
      }
    }
  }

  private static EnvironmentException trouble(String what) {
    return new EnvironmentException(
        Problem.of("DB-E045", null, what).effect("nothing of the job counts"));
  }

  long bytesWrong() {
    return bytesWrong;
  }

  long atomicsWrong() {
    return atomicsWrong;
  }
}
