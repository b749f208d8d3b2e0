package dev.doorbell.experiments.workbench.validation;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.topology.TopologyException;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.experiments.workbench.dma.DmaProbe;
import dev.doorbell.experiments.workbench.dma.DmaSetting;

/**
 * Rows of a device's DMA, which no kernel posts: their config is {@code dma:} and the words of a
 * {@link DmaSetting}. The model's answer is one of {@link DmaProbe}.
 */
final class DmaRow {
  private static final String PREFIX = "dma:";

  private DmaRow() {}

  /** Whether {@code config} is one. */
  static boolean is(String config) {
    return config.startsWith(PREFIX);
  }

  /** Holds {@code row} against {@code machine}. */
  static CheckedRow check(Row row, ModelMachine machine) {
    try {
      DmaSetting setting = setting(row.config());
      double measured = DmaProbe.measure(TopologyFile.load(machine.topology()), setting);
      return switch (row.unit()) {
        case "ns" -> of(row, machine, setting, true, measured);
        case "us" -> of(row, machine, setting, true, measured / 1e3);
        default -> of(row, machine, setting, false, measured);
      };
    } catch (IllegalArgumentException e) {
      return wrong(row, machine, CheckedRow.State.WRONG_CONFIG, String.valueOf(e.getMessage()));
    } catch (TopologyException e) {
      return CheckedRow.without(
          row, machine.topology(), CheckedRow.State.FAILED, e.problems().getFirst());
    }
  }

  /**
   * Reads a config.
   *
   * @throws IllegalArgumentException with a sentence for users
   */
  static DmaSetting setting(String config) {
    return DmaSetting.parse(config.substring(PREFIX.length()));
  }

  private static CheckedRow of(
      Row row, ModelMachine machine, DmaSetting setting, boolean time, double value) {
    if (time != setting.transfer().latency() || row.unit().equals("M/s")) {
      return wrong(
          row,
          machine,
          CheckedRow.State.FAILED,
          "%s is in %s, and the row in %s"
              .formatted(
                  setting.transfer().word(),
                  setting.transfer().latency() ? "ns" : "GB/s",
                  row.unit()));
    }
    return CheckedRow.run(row, machine, value);
  }

  private static CheckedRow wrong(
      Row row, ModelMachine machine, CheckedRow.State state, String what) {
    return CheckedRow.without(
        row, machine.topology(), state, Problem.of("DB-C081", row.place(), what));
  }
}
