package dev.doorbell.experiments.topology.machine;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.doctor.topology.PciDistance;
import dev.doorbell.experiments.topology.machine.MachineDevice.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The text of {@code nvidia-smi topo -m}: a matrix of distances, and a legend of the NICs. */
final class SmiMatrix {
  private static final Pattern COLUMN = Pattern.compile("(GPU|NIC|mlx5_)[0-9]+");
  private static final Pattern LEGEND = Pattern.compile("\\s*(NIC[0-9]+): (\\S+)\\s*");
  private static final Pattern COLOUR = Pattern.compile("\u001b\\[[0-9;]*m");

  private SmiMatrix() {}

  static MachineMap read(String file, String text) throws ConfigException {
    List<String> lines = COLOUR.matcher(text).replaceAll("").lines().toList();
    int head = 0;
    while (head < lines.size() && !lines.get(head).strip().startsWith("GPU0")) {
      head++;
    }
    if (head == lines.size()) {
      throw XmlNode.problem(
          file, 1, "this is neither XML nor a matrix that begins with a line of GPU0, GPU1, ...");
    }
    List<String> columns =
        Arrays.stream(lines.get(head).strip().split("\\s+"))
            .takeWhile(word -> COLUMN.matcher(word).matches())
            .toList();
    Map<String, String> legend = new HashMap<>();
    for (String line : lines) {
      Matcher matcher = LEGEND.matcher(line);
      if (matcher.matches()) {
        legend.put(matcher.group(1), matcher.group(2));
      }
    }
    Map<String, PciDistance> matrix = new HashMap<>();
    List<MachineDevice> devices = new ArrayList<>();
    for (int row = 0; row < columns.size(); row++) {
      int number = head + 1 + row;
      String[] cells =
          number < lines.size() ? lines.get(number).strip().split("\\s+") : new String[] {""};
      if (!cells[0].equals(columns.get(row))) {
        throw XmlNode.problem(
            file,
            number + 1,
            "'%s' where the row of %s belongs".formatted(cells[0], columns.get(row)));
      }
      if (cells.length <= columns.size()) {
        throw XmlNode.problem(
            file,
            number + 1,
            "%d distances of %s, of %d".formatted(cells.length - 1, cells[0], columns.size()));
      }
      String name = name(columns.get(row), legend);
      boolean gpu = columns.get(row).startsWith("GPU");
      devices.add(new MachineDevice(name, gpu ? Kind.GPU : Kind.HCA, "", -1, List.of(), null));
      for (int column = 0; column < columns.size(); column++) {
        if (column != row) {
          matrix.put(
              name + " " + name(columns.get(column), legend),
              distance(file, number + 1, cells[column + 1]));
        }
      }
    }
    for (int row = 0; row < devices.size(); row++) {
      for (int other = 0; other < row; other++) {
        String a = devices.get(row).name();
        String b = devices.get(other).name();
        if (matrix.get(a + " " + b) != matrix.get(b + " " + a)) {
          throw XmlNode.problem(
              file,
              head + 2 + row,
              "%s to %s is %s, back it is %s"
                  .formatted(a, b, matrix.get(a + " " + b), matrix.get(b + " " + a)));
        }
      }
    }
    return new MachineMap("nvidia-smi topo -m", devices, 0, matrix);
  }

  private static String name(String column, Map<String, String> legend) {
    return column.startsWith("GPU")
        ? "gpu" + column.substring(3)
        : legend.getOrDefault(column, column);
  }

  /** NVLink is no way to an HCA: such GPUs are as near as a switch. */
  private static PciDistance distance(String file, int line, String word) throws ConfigException {
    if (word.matches("NV[0-9]+")) {
      return PciDistance.PIX;
    }
    for (PciDistance distance : PciDistance.values()) {
      if (distance.name().equals(word)) {
        return distance;
      }
    }
    throw XmlNode.problem(
        file, line, "'%s' is no distance: X, NV#, PIX, PXB, PHB, NODE or SYS".formatted(word));
  }
}
