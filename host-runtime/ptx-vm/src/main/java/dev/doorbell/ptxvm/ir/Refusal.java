package dev.doorbell.ptxvm.ir;

import java.util.List;

/**
 * A line of PTX that cannot be run.
 *
 * @param line from 1
 * @param text the line
 * @param reason why, in words
 */
public record Refusal(int line, String text, String reason) {
  private static final int SHOWN = 100;

  /** The message for a file with these refusals. */
  public static String describe(String file, List<Refusal> refusals) {
    StringBuilder message =
        new StringBuilder(
            "%s cannot be loaded: %d line%s refused"
                .formatted(file, refusals.size(), refusals.size() == 1 ? " is" : "s are"));
    for (Refusal refusal : refusals.subList(0, Math.min(SHOWN, refusals.size()))) {
      message.append(
          "\n  %s:%d: %s: %s".formatted(file, refusal.line, refusal.reason, refusal.text.strip()));
    }
    if (refusals.size() > SHOWN) {
      message.append("\n  and %d more".formatted(refusals.size() - SHOWN));
    }
    return message.toString();
  }
}
