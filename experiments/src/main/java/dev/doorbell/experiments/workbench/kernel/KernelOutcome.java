package dev.doorbell.experiments.workbench.kernel;

import java.util.List;
import java.util.Optional;

/**
 * The result of a {@link KernelRun}.
 *
 * @param failure why it was stopped, with place and thread
 * @param interrupted the user stopped it
 * @param output what {@code printf} wrote
 * @param instructions of all threads together
 * @param nanos wall time
 * @param buffers the final content of each buffer, in the order of the arguments; empty for scalars
 * @param opcodes how often each opcode was executed, most often first; empty without a profile
 * @param lines likewise the lines of the PTX
 */
public record KernelOutcome(
    Optional<String> failure,
    boolean interrupted,
    String output,
    long instructions,
    long nanos,
    List<Optional<byte[]>> buffers,
    List<Count> opcodes,
    List<Count> lines) {

  public KernelOutcome {
    buffers = List.copyOf(buffers);
    opcodes = List.copyOf(opcodes);
    lines = List.copyOf(lines);
  }

  /**
   * The number of executions of an opcode or a line.
   *
   * @param skipped of these, how often its guard was false
   * @param line of the PTX; 0 for opcodes
   * @param source of the line, or empty
   */
  public record Count(String what, long executed, long skipped, int line, String source) {}
}
