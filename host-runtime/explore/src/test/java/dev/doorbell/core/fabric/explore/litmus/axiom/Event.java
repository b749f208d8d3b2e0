package dev.doorbell.core.fabric.explore.litmus.axiom;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.explore.litmus.Instruction;
import dev.doorbell.core.fabric.explore.litmus.Instruction.Address;
import org.jspecify.annotations.Nullable;

/**
 * The effect of one instruction of a trace on memory or on others. A read-modify-write is two
 * events, a read and the write that is joined to it; a compare-and-swap that fails is a read.
 *
 * @param thread the column, -1 for the write that gives a location its initial value
 * @param line of the file
 * @param text the instruction
 * @param location the index, -1 for fences and barriers
 * @param address how an access names its location; null for the initial write and all others
 * @param access {@link Access} bits
 * @param reads whether it reads
 * @param readValue what it reads, in this trace
 * @param writes whether it writes
 * @param writeValue what it writes, in this trace
 * @param joined the write of a read-modify-write, whose read is the event before it
 * @param reduction {@code red}: its read takes part in no acquire pattern
 * @param dependencies events of the same trace, by index as bits, on whose values it depends that
 *     this happens and what is written
 * @param barrier what is done when it is a barrier
 * @param proxyFence the instruction when it is a fence between proxies
 */
record Event(
    int thread,
    int line,
    String text,
    int location,
    @Nullable Address address,
    int access,
    boolean reads,
    int readValue,
    boolean writes,
    int writeValue,
    boolean joined,
    boolean reduction,
    long dependencies,
    @Nullable BarrierUse barrier,
    Instruction.@Nullable ProxyFence proxyFence) {

  private static final int INITIAL = -1;

  /**
   * A barrier instruction with its operands' values in this trace.
   *
   * @param count how many threads take part; 0 means all of the CTA
   * @param predicate what goes into a reduction, 0 or 1
   */
  record BarrierUse(Instruction.Barrier instruction, int id, int count, int predicate) {
    boolean waits() {
      return instruction.kind() != Instruction.BarrierKind.ARRIVE;
    }
  }

  static Event initial(int location, int value) {
    return new Event(
        INITIAL,
        0,
        "initial value",
        location,
        null,
        Access.RELAXED | Access.SYS,
        false,
        0,
        true,
        value,
        false,
        false,
        0,
        null,
        null);
  }

  boolean isInitial() {
    return thread == INITIAL;
  }

  boolean isMemory() {
    return location >= 0;
  }

  boolean isFence() {
    return location < 0 && barrier == null && proxyFence == null;
  }

  boolean isScFence() {
    return isFence() && Access.semantics(access) == Access.SC;
  }

  /**
   * Returns true if both go by one proxy to one address; fences and initial writes do with
   * everything.
   */
  boolean sameWay(Event other) {
    return address == null || other.address == null || address.equals(other.address);
  }

  boolean isStrong() {
    return Access.semantics(access) != Access.WEAK;
  }

  /** Releases by itself: a release write, or a fence with release semantics. */
  boolean isRelease() {
    int semantics = Access.semantics(access);
    boolean release =
        semantics == Access.RELEASE
            || semantics == Access.ACQ_REL
            || (semantics == Access.SC && isFence());
    return release && (isFence() || writes);
  }

  /** Acquires by itself: an acquire read, or a fence with acquire semantics. */
  boolean isAcquire() {
    int semantics = Access.semantics(access);
    boolean acquire =
        semantics == Access.ACQUIRE
            || semantics == Access.ACQ_REL
            || (semantics == Access.SC && isFence());
    return acquire && (isFence() || (reads && !reduction));
  }

  String where() {
    return isInitial() ? text : "P%d line %d (%s)".formatted(thread, line, text);
  }
}
