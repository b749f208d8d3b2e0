package dev.doorbell.ptxvm.ir;

import java.util.List;
import java.util.Map;

/**
 * A parsed PTX file.
 *
 * @param name for messages, usually the file's name
 * @param version of the ISA, as written
 * @param target as written, {@code sm_75}
 * @param functions by name, in the order of the file
 * @param variables {@code .global}, {@code .const} and {@code .shared} ones outside of functions
 * @param lines the text, line by line, for messages
 * @param files those that were linked, in order; one that was parsed alone
 */
public record PtxModule(
    String name,
    String version,
    String target,
    Map<String, Function> functions,
    List<Variable> variables,
    List<String> lines,
    List<File> files) {
  /**
   * One of the files of a module.
   *
   * @param before lines of the text before its first one
   */
  public record File(String name, int before) {}

  /** A line of a file, from 1. */
  public record Place(String file, int line) {
    @Override
    public String toString() {
      return file + ":" + line;
    }
  }

  /** Returns true if bodies of functions are parsed and linked when something needs them. */
  public boolean isLate() {
    return functions.values().stream().anyMatch(Function::isLate);
  }

  /** Place of a line of the whole text. */
  public Place place(int line) {
    File found = files.getFirst();
    for (File file : files) {
      if (file.before < line) {
        found = file;
      }
    }
    return new Place(found.name, line - found.before);
  }

  /** The text of a line, trimmed; empty when there is no such line. */
  public String text(int line) {
    return line >= 1 && line <= lines.size() ? lines.get(line - 1).strip() : "";
  }
}
