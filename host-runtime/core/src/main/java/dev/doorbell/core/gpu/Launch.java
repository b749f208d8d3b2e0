package dev.doorbell.core.gpu;

/** A kernel that was started. */
public interface Launch {
  /** True when every thread has ended, or the kernel was stopped. Never blocks. */
  boolean done();

  /**
   * Succeeds when the kernel ended by itself.
   *
   * @throws GpuException when it is not done, or when it was stopped: by a bad access, a trap, a
   *     barrier misuse, its timeout; the message names kernel, PTX line, thread and address
   */
  void check();

  /** Stops the kernel if it still runs; {@link #check} then says so. */
  void cancel(String reason);

  /**
   * True when it was stopped because its threads all waited for each other, or because it did not
   * end within its timeout; {@link #check} names what they waited at.
   */
  default boolean stuck() {
    return false;
  }

  /** Returns the output of {@code printf} so far. */
  String output();

  /** Instructions executed so far, all threads together; 0 where they are not counted. */
  long instructions();

  /**
   * Names the executor of the instructions: {@code interpreter}, {@code compiled}, with the reason
   * in parentheses where another was asked for; {@code hardware} on a GPU.
   */
  default String engine() {
    return "hardware";
  }
}
