package dev.doorbell.experiments.workbench.kernel;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongPredicate;

/**
 * A kernel to be run on its own.
 *
 * @param file of the PTX, for messages
 * @param grid blocks in x, y and z
 * @param block threads in x, y and z
 * @param sharedBytes dynamic shared memory of a block
 * @param timeoutNanos wall time after which it is stopped
 * @param seed picks the interleaving of threads
 * @param profile count instructions by opcode and by line
 * @param trace threads whose every instruction is told, by linear index in the grid
 * @param traced hears of them, line by line
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

  /** What a parameter gets; {@code text} is what the user typed. */
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

      /** What the parameter gets. */
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

      /** What the memory holds at first; large, so it is not copied. */
      public byte[] initial() {
        return initial;
      }
    }
  }
}
