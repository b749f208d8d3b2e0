package dev.doorbell.ptxvm.engine.machine;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The registers of a thread at the end of its last round of a loop that changes nothing else. */
@SuppressWarnings("ReferenceEquality") // operations are compared by identity
public final class Spins {
  private @Nullable Object branch;
  private long[] registers = {};

  /**
   * A round ends at {@code closing}. True when it left all registers as the one before did.
   *
   * @param counters slots that are not compared
   */
  public boolean sameRound(Object closing, long[] now, int[] counters) {
    long[] compared = now.clone();
    for (int slot : counters) {
      compared[slot] = 0;
    }
    boolean same = branch == closing && Arrays.equals(registers, compared);
    branch = closing;
    registers = compared;
    return same;
  }

  /** The loop ended: when it is entered again, its first round is compared with none before. */
  public void ended() {
    branch = null;
  }
}
