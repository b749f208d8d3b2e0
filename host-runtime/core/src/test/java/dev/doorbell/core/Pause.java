package dev.doorbell.core;

import java.util.concurrent.locks.LockSupport;

/** How a test waits for another thread. */
public final class Pause {
  private static final int SPINS_BETWEEN_NAPS = 256;

  private Pause() {}

  /** Spins, but leaves the core now and then: the other thread may need it. */
  public static void spin(int spins) {
    if (spins % SPINS_BETWEEN_NAPS == SPINS_BETWEEN_NAPS - 1) {
      LockSupport.parkNanos(1);
    } else {
      Thread.onSpinWait();
    }
  }
}
