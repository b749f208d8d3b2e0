package dev.doorbell.experiments.workbench.calibration;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.config.document.DocumentKind;
import dev.doorbell.experiments.stats.Interval;
import dev.doorbell.experiments.stats.Summary;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.experiments.workbench.calibration.Calibration.Measurement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * A topology file in JSON whose GPU's prices, and whose way from GPU to CPU, are those of a
 * calibration. What one GPU cannot tell, an HCA above all, is that of the topology it was made
 * from. The measurements stand in it with their samples.
 */
public final class MachineFile {
  private static final String GPU = "gpu0";
  private static final String CPU = "cpu0";
  private static final DocumentKind KIND = new DocumentKind("machine", "a mapping", 'C');

  private final Calibration calibration;
  private final Topology base;
  private final PriceList prices;
  private final Map<String, Object> tree;

  private MachineFile(Calibration calibration, String base) throws ConfigException {
    this.calibration = calibration;
    this.base = TopologyFile.load(base);
    this.prices = new PriceList(calibration, this.base);
    this.tree = mapping(KIND.values(base, TopologyFile.text(base)));
  }

  /**
   * The file's text.
   *
   * @param base name or path of the topology that gives what was not measured
   * @throws ConfigException when the base cannot be read
   */
  public static String text(Calibration calibration, String base) throws ConfigException {
    return new MachineFile(calibration, base).build(base);
  }

  private String build(String baseName) {
    tree.put("name", "machine");
    tree.put(
        "description",
        "%s, calibrated; what a GPU cannot tell is that of %s"
            .formatted(calibration.gpu(), baseName));
    tree.put("source", "assumed: as in " + baseName);
    mapping(list("gpus").getFirst()).putAll(prices.gpu());
    distance();
    efficiency();
    tree.put("measured_on", calibration.gpu());
    tree.put("basis", calibration.basis().word());
    tree.put("measurements", measurements());
    return JsonMapper.builder()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .build()
            .writeValueAsString(tree)
        + "\n";
  }

  static double rounded(double value) {
    double scale = Math.abs(value) < 10 ? 1e6 : 1e3;
    return Math.round(value * scale) / scale;
  }

  /**
   * One way between GPU and CPU is half of what an access to host memory takes, less the memory's
   * own time; it is shared out over the hops as before. A hop that leads to the HCA, too, is that
   * one.
   */
  private void distance() {
    if (!prices.has("load.host")) {
      return;
    }
    double before = base.path(GPU, CPU).hops().stream().mapToDouble(hop -> hop.nanos()).sum();
    double now = prices.way();
    if (before == 0) {
      return;
    }
    List<String> own = new ArrayList<>();
    for (Object each : list("paths")) {
      Map<String, Object> path = mapping(each);
      if (joins(path, GPU, CPU)) {
        for (Object hop : list(path, "hops")) {
          own.add(String.valueOf(mapping(hop).get("link")));
        }
      }
    }
    for (Object each : list("paths")) {
      Map<String, Object> path = mapping(each);
      boolean fromGpu = path.get("between") instanceof List<?> ends && ends.contains(GPU);
      for (Object hop : fromGpu ? list(path, "hops") : List.of()) {
        Map<String, Object> step = mapping(hop);
        if (own.contains(String.valueOf(step.get("link")))) {
          double share = value(step.get("ns")) / before;
          step.put(
              "ns", prices.constant(share * now, prices.wayOf(), ", one way, this hop's share"));
        }
      }
    }
  }

  private void efficiency() {
    if (!prices.has("copy.out", "copy.in")) {
      return;
    }
    Map<String, Object> share =
        prices.constant(
            Math.clamp(prices.efficiency(), 0.5, 1), "copy.out", " and back, of the link's rate");
    for (Object each : list("links")) {
      Map<String, Object> link = mapping(each);
      boolean own =
          base.path(GPU, CPU).hops().stream().anyMatch(hop -> hop.link().equals(link.get("name")));
      if (own && link.containsKey("efficiency")) {
        link.put("efficiency", share);
      }
    }
  }

  private static double value(@Nullable Object constant) {
    return constant instanceof Map<?, ?> map && map.get("value") instanceof Number number
        ? number.doubleValue()
        : 0;
  }

  private static boolean joins(Map<String, Object> path, String one, String other) {
    return path.get("between") instanceof List<?> ends
        && ends.contains(one)
        && ends.contains(other);
  }

  private List<Object> measurements() {
    List<Object> all = new ArrayList<>();
    for (Measurement measurement : calibration.measurements()) {
      Summary summary = measurement.summary();
      Map<String, Object> each = new LinkedHashMap<>();
      each.put("name", measurement.name());
      each.put("what", measurement.what());
      each.put("unit", measurement.samples().unit());
      each.put("median", rounded(summary.median()));
      Interval ends = summary.whisker();
      each.put("ci95", List.of(rounded(ends.lower()), rounded(ends.upper())));
      List<Double> samples = new ArrayList<>();
      for (double sample : measurement.samples().values()) {
        samples.add(rounded(sample));
      }
      each.put("samples", samples);
      all.add(each);
    }
    return all;
  }

  private List<?> list(String key) {
    return list(tree, key);
  }

  private static List<?> list(Map<String, Object> of, String key) {
    return of.get(key) instanceof List<?> list ? list : List.of();
  }

  @SuppressWarnings("unchecked") // the keys of a topology that was read are words
  private static Map<String, Object> mapping(Object of) {
    return (Map<String, Object>) of;
  }
}
