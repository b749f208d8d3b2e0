package dev.doorbell.experiments.workbench.kernel;

import java.util.List;

/**
 * A report on a PTX file, made without running it.
 *
 * @param file as given
 * @param isa its {@code .version}
 * @param target its {@code .target}
 * @param unsupported everything that prevents loading
 * @param notes constructs that are legal but often mistakes
 */
public record KernelReport(
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
