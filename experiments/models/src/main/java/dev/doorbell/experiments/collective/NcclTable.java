package dev.doorbell.experiments.collective;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;

/**
 * The table of nccl-tests: time of the operation, algorithm and bus bandwidth as its
 * doc/PERFORMANCE.md defines them, out of place and in place, each with the number of wrong
 * elements.
 */
public final class NcclTable {
  /** Label of a row that a form says: no byte of it was compared. */
  public static final String PREDICTED = "predicted";

  private static final String NONE = "N/A";

  private final Collective collective;
  private final int ranks;
  private final DataType type;
  private final String reduction;
  private final int root;
  private final List<Double> bandwidths = new ArrayList<>();
  private final StringBuilder text = new StringBuilder();
  private boolean compared;

  public NcclTable(Collective collective, int ranks, DataType type, String reduction, int root) {
    this.collective = collective;
    this.ranks = ranks;
    this.type = type;
    this.reduction = collective.reduces() ? reduction : "none";
    this.root = collective.rooted() ? root : -1;
    text.append("#\n");
    line("# %50s           out-of-place                       in-place          ", "");
    head("size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong");
    head("(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "");
  }

  private void head(String... names) {
    line(
        "# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s %6s  %6$7s  %7$6s  %8$6s %9$6s",
        (Object[]) names);
  }

  /**
   * Adds a row.
   *
   * @param size bytes that were asked for
   * @param outOfPlace nanoseconds of it; empty where it has no result, or means nothing
   * @param label of the row, behind its columns; may be empty, or {@link #PREDICTED}
   */
  public void row(long size, OptionalDouble outOfPlace, OptionalDouble inPlace, String label) {
    line(
        "%12d  %12d  %8s  %6s  %6d  %s  %s" + (label.isEmpty() ? "" : "  " + label),
        collective.bytes(size, ranks),
        collective.count(size, ranks, type),
        type.name().toLowerCase(Locale.ROOT),
        reduction,
        root,
        half(size, outOfPlace, !label.equals(PREDICTED)),
        half(size, inPlace, !label.equals(PREDICTED)));
  }

  private String half(long size, OptionalDouble nanos, boolean compares) {
    if (nanos.isEmpty()) {
      return format("%7s  %6s  %6s  %5s", NONE, NONE, NONE, NONE);
    }
    double algorithm = collective.bytes(size, ranks) / nanos.getAsDouble();
    double bus = algorithm * collective.busFactor(ranks);
    bandwidths.add(bus);
    compared |= compares;
    String wrong = compares ? "0" : NONE;
    return format("%7s  %6.2f  %6.2f  %5s", time(nanos.getAsDouble() / 1e3), algorithm, bus, wrong);
  }

  static String time(double micros) {
    int decimals = micros >= 10_000 ? 0 : micros >= 100 ? 1 : 2;
    return format("%." + decimals + "f", micros);
  }

  public String end(int wrong) {
    boolean known = compared || wrong > 0;
    String verdict = known ? wrong + (wrong == 0 ? " OK" : " FAILED") : NONE;
    line("# Out of bounds values : %s", verdict);
    double sum = bandwidths.stream().mapToDouble(Double::doubleValue).sum();
    line("# Avg bus bandwidth    : %g ", bandwidths.isEmpty() ? 0 : sum / bandwidths.size());
    text.append("#\n");
    return text.toString();
  }

  /** Predicted nanoseconds by size and algorithm, a column each. */
  public static String explain(Map<Long, Map<String, Double>> predicted) {
    Set<String> algorithms = new LinkedHashSet<>();
    predicted.values().forEach(times -> algorithms.addAll(times.keySet()));
    StringBuilder rows = new StringBuilder(format("# %10s", "size (B)"));
    algorithms.forEach(each -> rows.append(format("  %10s", each + " us")));
    rows.append("  least\n");
    predicted.forEach(
        (size, times) -> {
          rows.append(format("%12d", size));
          for (String each : algorithms) {
            String time = time(times.getOrDefault(each, Double.NaN) / 1e3);
            rows.append(format("  %" + Math.max(10, each.length() + 3) + "s", time));
          }
          Optional<Map.Entry<String, Double>> least =
              times.entrySet().stream().min(Map.Entry.comparingByValue());
          rows.append("  ").append(least.map(Map.Entry::getKey).orElse(NONE)).append('\n');
        });
    return rows.toString();
  }

  public static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency
  private void line(String form, Object... values) {
    text.append(format(form, values)).append('\n');
  }

  @SuppressWarnings("AnnotateFormatMethod")
  private static String format(String form, Object... values) {
    return String.format(Locale.ROOT, form, values);
  }
}
