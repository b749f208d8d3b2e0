package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelRun.Shape;
import java.util.Stack;
import java.util.function.LongPredicate;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;

final class KernelRunOptions {
  private static final int MOST_THREADS = 1024;

  private KernelRunOptions() {}

  /** {@code 4}, {@code 4,2} or {@code 4,2,1}; x works for the comma. */
  static Shape shape(String option, String text) throws UsageException {
    String[] parts = text.split("[,x]", -1);
    int[] sizes = {1, 1, 1};
    boolean good = parts.length <= 3;
    for (int i = 0; good && i < parts.length; i++) {
      good = parts[i].matches("[1-9][0-9]{0,8}");
      sizes[i] = good ? Integer.parseInt(parts[i]) : 0;
    }
    if (!good) {
      throw UsageException.wrong(option, "'%s' is no size such as 4, 4,2 or 4,2,1".formatted(text));
    }
    long threads = (long) sizes[0] * sizes[1] * sizes[2];
    if (option.equals("--block") && threads > MOST_THREADS) {
      throw UsageException.wrong(
          option, "%,d threads a block; at most 1024 are possible".formatted(threads));
    }
    return new Shape(sizes[0], sizes[1], sizes[2]);
  }

  /** {@code all}, or numbers and ranges of threads: {@code 0,32-35}. */
  static LongPredicate threads(String text) throws UsageException {
    if (text.equals("all")) {
      return _ -> true;
    }
    LongPredicate chosen = _ -> false;
    for (String part : text.split(",", -1)) {
      if (!part.matches("[0-9]{1,12}(-[0-9]{1,12})?")) {
        throw UsageException.of(
            "DB-K015",
            "--trace=" + text,
            "'%s' names no threads".formatted(part),
            "numbers of threads in the grid: --trace=0, --trace=0,32-35, --trace=all");
      }
      int dash = part.indexOf('-');
      long first = Long.parseLong(dash < 0 ? part : part.substring(0, dash));
      long last = dash < 0 ? first : Long.parseLong(part.substring(dash + 1));
      chosen = chosen.or(thread -> thread >= first && thread <= last);
    }
    return chosen;
  }

  /** {@code --trace} without {@code =} is thread 0, and does not take the next argument. */
  static final class FirstThread implements IParameterPreprocessor {
    @Override
    public boolean preprocess(
        Stack<String> arguments,
        CommandSpec command,
        ArgSpec option,
        java.util.Map<String, Object> info) {
      boolean attached = "=".equals(info.get("separator"));
      if (!attached) {
        arguments.push("0");
      }
      return false;
    }
  }
}
