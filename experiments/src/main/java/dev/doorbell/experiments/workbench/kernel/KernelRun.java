package dev.doorbell.experiments.workbench.kernel;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongPredicate;

/**
 * A run of one kernel.
 *
 * @param file of the PTX, for messages
 * @param grid blocks in x, y and z
 * @param block threads in x, y and z
 * @param sharedBytes dynamic shared memory of a block
 * @param timeoutNanos wall time after which it is stopped
 * @param seed picks the interleaving of threads
 * @param profile count instructions by opcode and by line
 * @param trace threads to trace, by linear index in the grid
 * @param traced receives each traced instruction as a line
 */
public record KernelRun(
    String file,
    String ptx,
    String entry,
    Shape grid,
    Shape block,
    int sharedBytes,
    boolean cooperative,
    long timeoutNanos,
    long seed,
    List<Argument> arguments,
    boolean profile,
    Optional<LongPredicate> trace,
    Consumer<String> traced) {

  public KernelRun {
    arguments = List.copyOf(arguments);
  }

  /** A size in three dimensions. */
  public record Shape(int x, int y, int z) {
    @Override
    public String toString() {
      return z != 1 ? x + "," + y + "," + z : y != 1 ? x + "," + y : Integer.toString(x);
    }
  }

  /** The value of a parameter; {@code text} is what the user typed. */
  public sealed interface Argument {
    String text();

    /** Bytes by value, little-endian. */
    final class Scalar implements Argument {
      private final String text;
      private final byte[] bytes;

      public Scalar(String text, byte[] bytes) {
        this.text = text;
        this.bytes = bytes.clone();
      }

      @Override
      public String text() {
        return text;
      }

      /** Returns the value. */
      public byte[] bytes() {
        return bytes.clone();
      }
    }

    /** The address of device memory. */
    final class Buffer implements Argument {
      private final String text;
      private final byte[] initial;

      public Buffer(String text, byte[] initial) {
        this.text = text;
        this.initial = initial;
      }

      @Override
      public String text() {
        return text;
      }

      /** Returns the initial content; large, so it is not copied. */
      public byte[] initial() {
        return initial;
      }
    }

    /** The address of a multicast object over buffers of device memory. */
    record Multicast(String text, List<byte[]> members) implements Argument {
      public Multicast {
        members = List.copyOf(members);
      }
    }
  }
}
