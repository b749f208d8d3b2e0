package dev.doorbell.ptxvm.engine.machine;

import dev.doorbell.core.fabric.ThreadPort;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One of the sixteen barriers of a block (PTX ISA, {@code barrier}). */
public final class Barrier {
  /** A thread at a barrier. */
  public interface Participant {
    ThreadPort port();

    /**
     * The barrier that it waits at is complete.
     *
     * @param trueCount how many threads arrived with a true predicate
     * @param waiting how many threads waited
     */
    void barrierCompleted(int trueCount, int waiting);
  }

  private final int id;
  private final List<Participant> waiting = new ArrayList<>();
  private int expected;
  private int arrived;
  private int trueCount;
  private @Nullable Object meeting;

  Barrier(int id) {
    this.id = id;
  }

  /**
   * A thread arrives.
   *
   * @param count how many threads the instruction names; a partial last warp counts as a whole one
   * @param weight 1, or more for the thread that stands for the missing lanes of its warp
   * @param waits false for {@code arrive}
   */
  public void arrive(Participant t, int count, int weight, boolean waits, boolean predicate) {
    if (arrived != 0 && count != expected) {
      throw new Fault(
          "barrier %d: this thread expects %d threads, those before it expect %d"
              .formatted(id, count, expected));
    }
    expected = count;
    arrived += weight;
    meeting = t.port().arrive(meeting);
    trueCount += predicate ? 1 : 0;
    if (waits) {
      waiting.add(t);
    }
    if (arrived > expected) {
      throw new Fault(
          "barrier %d: %d threads arrive where %d are expected".formatted(id, arrived, expected));
    }
    if (arrived == expected) {
      complete();
    }
  }

  private void complete() {
    List<Participant> all = List.copyOf(waiting);
    int isTrue = trueCount;
    Object met = meeting;
    meeting = null;
    waiting.clear();
    arrived = 0;
    trueCount = 0;
    for (Participant thread : all) {
      thread.port().leave(met);
      thread.barrierCompleted(isTrue, all.size());
    }
  }

  @Override
  public String toString() {
    return "barrier %d: %d of %d threads have arrived".formatted(id, arrived, expected);
  }

  boolean isIdle() {
    return arrived == 0;
  }
}
