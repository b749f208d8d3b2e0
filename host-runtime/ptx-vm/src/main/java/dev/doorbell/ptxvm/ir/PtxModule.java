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
 */
public record PtxModule(
    String name,
    String version,
    String target,
    Map<String, Function> functions,
    List<Variable> variables,
    List<String> lines) {

  /** The text of a line, trimmed; empty when there is no such line. */
  public String text(int line) {
    return line >= 1 && line <= lines.size() ? lines.get(line - 1).strip() : "";
  }
}
