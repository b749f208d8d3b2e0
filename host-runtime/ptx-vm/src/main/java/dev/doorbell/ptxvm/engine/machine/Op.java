package dev.doorbell.ptxvm.engine.machine;

import dev.doorbell.core.agent.NextPlaces;
import dev.doorbell.ptxvm.engine.machine.VmThread.Fault;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One instruction of a kernel, ready to run: operands are slots of the register file, constants and
 * launch constants too.
 *
 * <p>Registers hold what their width holds, zero-extended to 64 bits; an operation keeps it so.
 * Operations read all operands before they write one, and never share a slot between the two, so an
 * access that the port parked can be issued again.
 */
public abstract class Op {
  /** Next operation in the program; null only behind the end of a function. */
  public @Nullable Op next;

  /** Index in {@link KernelImage#instruction}. */
  public int place;

  /**
   * Picoseconds that it waits for instructions before it, beyond its turn; below 0 where it takes
   * no turn.
   */
  public long stall;

  public void follow(@Nullable Op after) {
    next = after;
  }

  /** Returns the operations that may come right after it, a jump's target first. */
  public List<Op> following() {
    Op after = next;
    return after == null ? List.of() : List.of(after);
  }

  /** Says whether a thread may wait here, or stops its kernel. */
  public NextPlaces.Kind kind() {
    return NextPlaces.Kind.PLAIN;
  }

  /** The operation without its guard. */
  public Op bare() {
    return this;
  }

  /**
   * Executes for {@code t}.
   *
   * @param r the thread's register file
   * @return what to execute next, or null when the thread must leave its step: it has set {@link
   *     VmThread#op} then
   */
  public abstract @Nullable Op execute(VmThread t, long[] r);

  /** The work of an operation that always goes on with the next one. */
  @FunctionalInterface
  public interface Effect {
    void apply(VmThread t, long[] r);
  }

  /** Creates an operation that applies {@code effect} and goes on with the next one. */
  public static Op of(Effect effect) {
    return new Op() {
      @Override
      public @Nullable Op execute(VmThread t, long[] r) {
        effect.apply(t, r);
        return next;
      }
    };
  }

  /** Work that says what its thread executes next. */
  @FunctionalInterface
  public interface Step {
    @Nullable Op apply(VmThread t, long[] r);
  }

  /** Creates an operation behind which its thread never goes on with the next one. */
  public static Op leaving(Step step) {
    return new Op() {
      @Override
      public List<Op> following() {
        return List.of();
      }

      @Override
      public @Nullable Op execute(VmThread t, long[] r) {
        return step.apply(t, r);
      }
    };
  }

  /** Creates an instruction that ends its kernel with what {@code step} throws. */
  public static Op failing(Step step) {
    return new Failing() {
      @Override
      public @Nullable Op execute(VmThread t, long[] r) {
        return step.apply(t, r);
      }
    };
  }

  /** An instruction behind which its kernel does not go on, since it ends it with an error. */
  public abstract static class Failing extends Op {
    @Override
    public final List<Op> following() {
      return List.of();
    }

    @Override
    public final NextPlaces.Kind kind() {
      return NextPlaces.Kind.FAILURE;
    }
  }

  /**
   * An instruction that PTX has and the virtual GPU does not execute: a fault for a thread that
   * gets there, and nothing to all others. Libraries have many such in paths that a run never
   * takes.
   */
  public static final class Stop extends Failing {
    private final String reason;

    /**
     * An instruction that stops its kernel.
     *
     * @param reason why it is not executed, in words
     */
    public Stop(String reason) {
      this.reason = reason;
    }

    public String reason() {
      return reason;
    }

    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      throw new Fault(reason);
    }
  }
}
