package dev.doorbell.experiments.topology;

import java.util.List;

/**
 * What a topology says of published measurements.
 *
 * @param rows names of the machines that it stands for, as the keys of {@code rows} name them
 * @param leftOut error of its fit on rows that the fit was made without, in the words of whoever
 *     fitted it; empty where nobody says
 */
public record MachineStands(List<String> rows, String leftOut) {
  public MachineStands {
    rows = List.copyOf(rows);
  }
}
