package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.experiments.cli.command.TextTable;
import dev.doorbell.experiments.workbench.kernel.KernelOutcome;
import java.io.PrintStream;
import java.util.List;

/** Where a kernel's instructions went. */
final class KernelProfile {
  private static final int OPCODES = 30;
  private static final int LINES = 12;

  private KernelProfile() {}

  static void print(PrintStream out, KernelOutcome outcome) {
    long all = outcome.opcodes().stream().mapToLong(KernelOutcome.Count::executed).sum();
    TextTable opcodes =
        new TextTable().left("opcode").right("executed").right("share").right("skipped");
    rows(outcome.opcodes(), OPCODES)
        .forEach(
            count ->
                opcodes.row(
                    List.of(
                        count.what(),
                        "%,d".formatted(count.executed()),
                        share(count.executed(), all),
                        count.skipped() == 0 ? "" : "%,d".formatted(count.skipped()))));
    out.print(opcodes.text());
    more(out, outcome.opcodes().size(), OPCODES, "opcodes");
    out.println();
    TextTable lines =
        new TextTable()
            .right("line")
            .right("executed")
            .right("share")
            .left("instruction")
            .left("source");
    rows(outcome.lines(), LINES)
        .forEach(
            count ->
                lines.row(
                    List.of(
                        Integer.toString(count.line()),
                        "%,d".formatted(count.executed()),
                        share(count.executed(), all),
                        count.what(),
                        count.source())));
    out.print(lines.text());
    more(out, outcome.lines().size(), LINES, "lines");
    out.println();
  }

  private static List<KernelOutcome.Count> rows(List<KernelOutcome.Count> counts, int most) {
    return counts.subList(0, Math.min(most, counts.size()));
  }

  private static String share(long part, long all) {
    return "%.1f %%".formatted(100.0 * part / Math.max(1, all));
  }

  private static void more(PrintStream out, int found, int shown, String what) {
    if (found > shown) {
      out.printf("... and %d more %s%n", found - shown, what);
    }
  }
}
