package dev.doorbell.interop.alltoall;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.interop.control.ControlLine;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Runs the ranks of this process in an all-to-all. In a round every rank sends, waits for all
 * others, checks every byte that it has received, and waits again. The HCAs are stepped in all
 * these phases, because peers may still need acknowledgements.
 */
final class AllToAll {
  private static final long SLICE_NANOS = 200_000;

  /** A collective operation: gives every rank the values of all ranks. */
  interface Gather {
    void start(String name, List<String> values);

    boolean isComplete() throws EnvironmentException;

    List<String> values();
  }

  /** The gather of ranks that are all in this process. */
  static final class LocalGather implements Gather {
    private List<String> values = List.of();

    @Override
    public void start(String name, List<String> all) {
      values = all;
    }

    @Override
    public boolean isComplete() {
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
  private final Gather gather;
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
      Gather gather,
      BooleanSupplier interrupted,
      Runnable idle,
      long nanos) {
    this.fabric = fabric;
    this.own = own;
    this.ranks = ranks;
    this.gather = gather;
    this.interrupted = interrupted;
    this.sweep =
        () -> {
          idle.run();
          return false;
        };
    this.deadline = fabric.now() + nanos;
  }

  /** The number of rounds with at least {@code messages} messages of the job. */
  static long rounds(int ranks, long messages) {
    long perRound = (long) ranks * (ranks - 1) * AllToAllTraffic.MESSAGES;
    return Math.max(1, (messages + perRound - 1) / perRound);
  }

  void run(long rounds) throws EnvironmentException {
    gather("addresses", own.stream().map(AllToAllRank::description).toList());
    List<String> all = gather.values();
    for (AllToAllRank rank : own) {
      try {
        rank.connect(all);
      } catch (ControlLine.Refused e) {
        throw failure("another process sends an illegal message: " + e.getMessage());
      }
    }
    gather("connected");
    for (long round = 0; round < rounds; round++) {
      round(round);
    }
  }

  private void round(long round) throws EnvironmentException {
    for (AllToAllRank rank : own) {
      for (AllToAllConnection connection : rank.connections) {
        connection.begin();
        stepHcas();
      }
    }
    work(this::allSent, "round %d".formatted(round));
    for (AllToAllRank rank : own) {
      for (AllToAllConnection connection : rank.connections) {
        bytesWrong += connection.wrongBytes();
        atomicsWrong += connection.wrongAtomics();
        stepHcas();
      }
    }
    gather("sent%d".formatted(round));
    fabric.quiesce();
    for (AllToAllRank rank : own) {
      for (int source = 0; source < ranks; source++) {
        bytesWrong += rank.wrongBytes(source, round);
        atomicsWrong += rank.wrongCount(source, round);
        stepHcas();
      }
    }
    gather("seen%d".formatted(round));
  }

  /** Lets the HCAs answer packets that have arrived. */
  private void stepHcas() {
    fabric.run(() -> false, 0);
  }

  private boolean allSent() throws EnvironmentException {
    boolean all = true;
    for (int i = 0; i < own.size(); i++) {
      List<AllToAllConnection> connections = own.get(i).connections;
      for (int j = 0; j < connections.size(); j++) {
        all &= connections.get(j).post();
        if (connections.get(j).failed()) {
          throw failure(
              "a connection to another rank has failed: "
                  + connections.get(j).queuePair.firstError());
        }
      }
    }
    return all;
  }

  private void gather(String name) throws EnvironmentException {
    gather(name, own.stream().map(_ -> "").toList());
  }

  private void gather(String name, List<String> values) throws EnvironmentException {
    gather.start(name, values);
    work(gather::isComplete, name);
  }

  private interface Condition {
    boolean holds() throws EnvironmentException;
  }

  private void work(Condition done, String what) throws EnvironmentException {
    long stalledAt = -1;
    while (!done.holds()) {
      if (interrupted.getAsBoolean()) {
        throw failure("interrupted in '%s'".formatted(what));
      }
      if (fabric.now() - deadline >= 0) {
        throw failure("'%s' did not end in time".formatted(what));
      }
      if (fabric.run(sweep, SLICE_NANOS) == RunOutcome.STALLED) {
        // Once: there may be more to post.
        if (fabric.now() == stalledAt) {
          throw failure("no progress in '%s'".formatted(what));
        }
        stalledAt = fabric.now();
      }
    }
  }

  private static EnvironmentException failure(String what) {
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
