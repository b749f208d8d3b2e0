package dev.doorbell.experiments.workbench.kernel;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.kernels.UserKernel;
import java.util.List;
import java.util.SequencedMap;
import java.util.ServiceLoader;

/** Work of the command line with a kernel outside of experiments. */
public interface KernelWorkbench {
  static KernelWorkbench find() {
    return ServiceLoader.load(KernelWorkbench.class)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no KernelWorkbench is on the class path"));
  }

  /** Returns the names of what a new kernel may be made from. */
  List<String> templates();

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
}
