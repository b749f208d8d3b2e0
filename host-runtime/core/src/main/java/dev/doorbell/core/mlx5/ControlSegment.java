package dev.doorbell.core.mlx5;

import dev.doorbell.core.mlx5.generated.ControlFields;

/**
 * The control segment, first 16 bytes of every WQE. Addresses are native ones that the caller has
 * checked.
 */
public final class ControlSegment extends ControlFields {
  private ControlSegment() {}

  /** Returns the fence bits of {@code fmCeSe}, in place: one of {@code FENCE_*}. */
  public static int fence(int fmCeSe) {
    return fmCeSe & FENCE_MASK;
  }

  /** Returns the completion bits of {@code fmCeSe}, in place: {@link #CQ_UPDATE} and others. */
  public static int completionMode(int fmCeSe) {
    return fmCeSe & COMPLETION_MASK;
  }

  /** Returns true if a success is reported with a CQE. */
  public static boolean isSignalled(int fmCeSe) {
    return (fmCeSe & CQ_UPDATE) != 0;
  }

  /** Returns true if the solicited bit is set. */
  public static boolean isSolicited(int fmCeSe) {
    return (fmCeSe & SOLICITED) != 0;
  }
}
