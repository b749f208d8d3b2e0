package dev.doorbell.experiments.fuzz;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Feeds inputs to one target, each with a deadline. A reader that misses it is left behind with its
 * thread, and another one goes on.
 *
 * @param seed of all draws; input n of a target depends on the seed and n alone
 * @param first number of the first input
 * @param inputs how many
 * @param deadline of one input; counted in wall time, because a reader may wait for ever
 * @param stop polled between two inputs
 */
public record FuzzCampaign(
    long seed, long first, long inputs, Duration deadline, BooleanSupplier stop) {
  private static final int MOST_FINDINGS = 20;
  private static final int MOST_HANGS = 5;
  private static final long POLL_MILLIS = 50;

  /** Runs the campaign. It ends early when readers hang again and again. */
  public FuzzResult run(FuzzTarget target) {
    return new Run(target).result();
  }

  private boolean over(long number) {
    return number >= first + inputs || stop.getAsBoolean();
  }

  private SplittableRandom random(String target, long number) {
    SplittableRandom ofTarget = new SplittableRandom(seed ^ ((long) target.hashCode() << 32));
    return new SplittableRandom(ofTarget.nextLong() + number * 0x9E3779B97F4A7C15L);
  }

  private final class Run {
    private final FuzzTarget target;
    private final List<FuzzFinding> findings = new ArrayList<>();
    private long next = first;
    private long accepted;
    private long refused;
    private long crashes;
    private long hangs;
    private long memoryChanges;
    private long slowest;

    Run(FuzzTarget target) {
      this.target = target;
    }

    FuzzResult result() {
      long start = System.nanoTime();
      while (!over(next) && hangs < MOST_HANGS) {
        Reader reader = new Reader(target, next);
        reader.start();
        if (!await(reader)) {
          break;
        }
        count(reader);
      }
      return new FuzzResult(
          target.name(),
          next - first,
          accepted,
          refused,
          crashes,
          hangs,
          memoryChanges,
          slowest,
          System.nanoTime() - start,
          findings);
    }

    /** Waits until the reader has ended or missed a deadline; false if interrupted. */
    private boolean await(Reader reader) {
      try {
        do {
          reader.join(POLL_MILLIS);
        } while (reader.isAlive() && !reader.late());
        return true;
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
        return false;
      }
    }

    private void count(Reader reader) {
      FuzzFinding finding = reader.finding;
      next = reader.number.get();
      accepted += reader.accepted.get();
      refused += reader.refused.get();
      slowest = Math.max(slowest, reader.slowest);
      if (reader.isAlive() && finding == null) {
        finding = FuzzFinding.hang(target.name(), next, reader.input, reader);
        slowest = Math.max(slowest, deadline.toNanos());
        next++;
        reader.interrupt();
      }
      if (finding != null) {
        switch (finding.kind()) {
          case CRASH -> crashes++;
          case HANG -> hangs++;
          case MEMORY -> memoryChanges++;
        }
        if (findings.size() < MOST_FINDINGS && findings.stream().noneMatch(finding::resembles)) {
          findings.add(finding);
        }
      }
    }
  }

  /** Draws and reads inputs until a finding or the end. */
  private final class Reader extends Thread {
    private final FuzzTarget target;
    private final AtomicLong number;
    private volatile long since = System.nanoTime();
    private volatile byte[] input = {};
    private final AtomicLong accepted = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private volatile long slowest;
    private volatile @Nullable FuzzFinding finding;

    Reader(FuzzTarget target, long from) {
      super("fuzz-" + target.name());
      setDaemon(true);
      this.target = target;
      this.number = new AtomicLong(from);
    }

    boolean late() {
      return System.nanoTime() - since > deadline.toNanos();
    }

    @Override
    public void run() {
      FuzzFinding found = null;
      try (FuzzTarget.Session session = target.opener().open()) {
        Mutator mutator = new Mutator(session.seeds(), session.dictionary());
        while (found == null && !over(number.get())) {
          since = System.nanoTime();
          found = read(session, mutator);
          slowest = Math.max(slowest, System.nanoTime() - since);
          number.incrementAndGet();
        }
      } catch (Throwable thrown) {
        if (found == null) {
          found = FuzzFinding.crash(target.name(), number.get(), input, thrown);
          number.incrementAndGet();
        }
      }
      finding = found;
    }

    private @Nullable FuzzFinding read(FuzzTarget.Session session, Mutator mutator) {
      byte[] drawn = session.generate(random(target.name(), number.get()), mutator);
      input = drawn;
      try {
        switch (session.read(drawn.clone())) {
          case ACCEPTED -> accepted.incrementAndGet();
          case REFUSED -> refused.incrementAndGet();
          case MEMORY_CHANGED -> {
            return new FuzzFinding(
                target.name(), number.get(), FuzzFinding.Kind.MEMORY, drawn, "memory changed");
          }
        }
        return null;
      } catch (Throwable thrown) {
        return FuzzFinding.crash(target.name(), number.get(), drawn, thrown);
      }
    }
  }
}
