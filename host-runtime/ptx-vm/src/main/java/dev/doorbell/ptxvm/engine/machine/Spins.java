package dev.doorbell.ptxvm.engine.machine;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The registers of a thread at the end of its last round of a loop that changes nothing else. */
@SuppressWarnings("ReferenceEquality") // operations are compared by identity
public final class Spins {
  private @Nullable Object branch;
  private long[] registers = {};

  /** A round ends at {@code closing}. True when it left all registers as the one before did. */
  public boolean sameRound(Object closing, long[] now) {
    boolean same = branch == closing && Arrays.equals(registers, now);
    if (!same) {
      branch = closing;
      registers = now.clone();
    }
    return same;
  }
}
