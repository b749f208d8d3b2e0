package dev.doorbell.experiments.collective;

/** Reduction of elements. */
public enum Reduction {
  SUM(0),
  MAX(1),
  MIN(2);

  private final int code;

  Reduction(int code) {
    this.code = code;
  }

  /** {@code DOORBELL_REDUCE_*} of collective_abi.h. */
  public int code() {
    return code;
  }

  int of(int a, int b) {
    return switch (this) {
      case SUM -> a + b;
      case MAX -> Math.max(a, b);
      case MIN -> Math.min(a, b);
    };
  }
}
