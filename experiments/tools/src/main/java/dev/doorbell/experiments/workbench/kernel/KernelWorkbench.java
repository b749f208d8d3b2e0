package dev.doorbell.experiments.workbench.kernel;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.kernels.UserKernel;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.ServiceLoader;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongPredicate;

/** Work of the command line with a kernel outside of experiments. */
public interface KernelWorkbench {
  static KernelWorkbench find() {
    return ServiceLoader.load(KernelWorkbench.class)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no KernelWorkbench is on the class path"));
  }

  record Template(String name, String description) {}

  List<Template> templates();

  /** Returns the names that a new kernel must not have. */
  List<String> takenNames();

  /** Returns the files of a new kernel by name; {@code folder} is as its README spells it. */
  SequencedMap<String, String> instantiate(
      String template, String name, String folder, String compile);

  /** Returns the options of nvcc for kernels, except include folder and files. */
  List<String> compilerFlags();

  /** Reports on a PTX file without running it. */
  KernelReport check(String file, String ptx);

  /** Returns the mismatches between a descriptor and its PTX. */
  List<Problem> checkAbi(UserKernel kernel);

  /**
   * Runs a kernel whose entry and arguments have been checked against its {@link #check report}.
   *
   * @param interrupted polled during the run; stops it
   */
  KernelOutcome run(KernelRun run, BooleanSupplier interrupted);

  /**
   * The result of a {@link KernelRun}.
   *
   * @param failure why it was stopped, with place and thread
   * @param interrupted the user stopped it
   * @param output what {@code printf} wrote
   * @param instructions of all threads together
   * @param nanos wall time
   * @param buffers the final content of each buffer, in the order of the arguments; empty for
   *     scalars
   * @param opcodes how often each opcode was executed, most often first; empty without a profile
   * @param lines likewise the lines of the PTX
   */
  record KernelOutcome(
      Optional<String> failure,
      boolean interrupted,
      String output,
      long instructions,
      long nanos,
      List<Optional<byte[]>> buffers,
      List<Count> opcodes,
      List<Count> lines) {

    /**
     * The number of executions of an opcode or a line.
     *
     * @param skipped of these, how often its guard was false
     * @param line of the PTX; 0 for opcodes
     * @param source of the line, or empty
     */
    public record Count(String what, long executed, long skipped, int line, String source) {}
  }

  /**
   * A report on a PTX file, made without running it.
   *
   * @param file as given
   * @param isa its {@code .version}
   * @param target its {@code .target}
   * @param unsupported everything that prevents loading
   * @param notes constructs that are legal but often mistakes
   */
  record KernelReport(
      String file,
      String isa,
      String target,
      List<Entry> entries,
      List<Line> unsupported,
      List<Line> notes) {

    /**
     * An entry.
     *
     * @param file that it stands in, of those that were linked
     * @param registers that its code names
     * @param slots that the virtual machine keeps them in
     * @param sharedBytes static shared memory
     * @param dynamicShared it reads shared memory whose size the launch gives
     * @param localBytes local variables of a thread
     */
    public record Entry(
        String name,
        String file,
        int line,
        List<Parameter> parameters,
        long parameterBytes,
        int registers,
        int slots,
        long sharedBytes,
        boolean dynamicShared,
        long localBytes,
        int instructions) {}

    /** A parameter with its declared type. */
    public record Parameter(String name, String type, long offset, long bytes) {}

    /**
     * Something about a line.
     *
     * @param file that it stands in, of those that were linked
     * @param line of that file, from 1
     * @param source where it comes from, or empty
     */
    public record Line(String file, int line, String text, String what, String source) {}
  }

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
  record KernelRun(
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
      record Multicast(String text, List<byte[]> members) implements Argument {}
    }
  }
}
