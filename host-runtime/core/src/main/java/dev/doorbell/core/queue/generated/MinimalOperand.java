package dev.doorbell.core.queue.generated;

import javax.annotation.processing.Generated;

/**
 * Bits of {@code doorbell_job.operand} of the protocol put_minimal: kernels/src/minimal.cuh. Bits
 * 7:0 are the number of a {@code PostOrder}.
 *
 * <p>Written by FormatsTest from src/main/formats/abi.txt.
 */
@Generated("FormatsTest")
public class MinimalOperand {
  /** Bits 15:8: how posters share a queue pair. */
  public static final int SHARING_SHIFT = 8;

  /** Value of the sharing: a ticket by an atomic; doorbells in turn. */
  public static final int SHARING_TURNS = 2;

  /** The last WQE of a doorbell alone is signalled. */
  public static final int LAST_ONLY = 1 << 16;

  /** Each CQE is looked at. */
  public static final int EACH_CQE = 1 << 17;

  /** The poster holds its state in registers. */
  public static final int REGISTERS = 1 << 18;

  /** The poster waits for all that was posted. */
  public static final int AWAITS_ALL = 1 << 19;

  /** The CPU rings. */
  public static final int RUNG_BY_CPU = 1 << 20;

  /** The probe shares a queue pair. */
  public static final int SHARED_PROBE = 1 << 21;

  /** The poster waits for its whole queue. */
  public static final int AWAITS_QUEUE = 1 << 22;

  protected MinimalOperand() {}
}
