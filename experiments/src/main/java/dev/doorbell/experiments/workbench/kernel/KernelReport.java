package dev.doorbell.experiments.workbench.kernel;

import java.util.List;

/**
 * What can be said of a PTX file without running it.
 *
 * @param file as given
 * @param isa its {@code .version}
 * @param target its {@code .target}
 * @param unsupported everything that keeps it from being loaded
 * @param notes what may be meant so, but often is not
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
   * @param registers that its code names
   * @param slots that the virtual machine keeps them in
   * @param sharedBytes static shared memory
   * @param dynamicShared it reads shared memory whose size the launch gives
   * @param localBytes local variables of a thread
   */
  public record Entry(
      String name,
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
   * @param line of the PTX, from 1
   * @param source where it comes from, or empty
   */
  public record Line(int line, String text, String what, String source) {}
}
