package dev.doorbell.ptxvm.ir;

import java.util.List;

/**
 * A line of PTX that cannot be run.
 *
 * @param line from 1
 * @param text the line, trimmed
 * @param reason why, in words
 * @param source the line of the CUDA source that it comes from, if the file says
 */
public record Refusal(int line, String text, String reason, SourceLine source) {
  private static final int SHOWN = 100;

  public Refusal {
    text = text.strip();
  }

  public Refusal(int line, String text, String reason) {
    this(line, text, reason, SourceLine.NONE);
  }

  /** {@code put.ptx:88: clusters are not supported: barrier.cluster.arrive; (put.cu:17)}. */
  public String describe(PtxModule module) {
    String at = "%s: %s: %s".formatted(module.place(line), reason, text);
    return source.isEmpty() ? at : at + " (" + source + ")";
  }

  /** The message for a module with these refusals. */
  public static String describe(PtxModule module, List<Refusal> refusals) {
    StringBuilder message =
        new StringBuilder(
            "%s cannot be loaded: %d line%s refused"
                .formatted(module.name(), refusals.size(), refusals.size() == 1 ? " is" : "s are"));
    for (Refusal refusal : refusals.subList(0, Math.min(SHOWN, refusals.size()))) {
      message.append("\n  ").append(refusal.describe(module));
    }
    if (refusals.size() > SHOWN) {
      message.append("\n  and %d more".formatted(refusals.size() - SHOWN));
    }
    return message.toString();
  }
}
