package dev.doorbell.experiments.calibration;

import dev.doorbell.core.Basis;
import dev.doorbell.core.fabric.timed.Topology;
import dev.doorbell.experiments.stats.Summary;
import dev.doorbell.experiments.topology.TopologyException;
import dev.doorbell.experiments.topology.TopologyFile;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
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

  private final Calibration calibration;
  private final Topology base;
  private final Map<String, Object> tree;

  private MachineFile(Calibration calibration, String base) throws TopologyException {
    this.calibration = calibration;
    this.base = TopologyFile.load(base);
    LoadSettings settings = LoadSettings.builder().setLabel(base).build();
    this.tree = mapping(new Load(settings).loadFromString(TopologyFile.text(base)));
  }

  /**
   * The file's text.
   *
   * @param base name or path of the topology that gives what was not measured
   * @throws TopologyException when the base cannot be read
   */
  public static String text(Calibration calibration, String base) throws TopologyException {
    return new MachineFile(calibration, base).build(base);
  }

  private String build(String baseName) {
    tree.put("name", "machine");
    tree.put(
        "description",
        "%s, calibrated; what a GPU cannot tell is that of %s"
            .formatted(calibration.gpu(), baseName));
    tree.put("source", "assumed: as in " + baseName);
    Map<String, Object> gpu = mapping(list("gpus").getFirst());
    price(gpu, "load_ns", "load", 0);
    price(gpu, "load_hit_ns", "load.hit", 0);
    price(gpu, "strong_load_ns", "load.strong", 0);
    price(gpu, "store_ns", "store", 0);
    price(gpu, "remote_store_ns", "store.host", 0);
    price(gpu, "atomic_ns", "atomic", 0);
    double store = median("store");
    price(gpu, "fence_ns", "fence", store);
    price(gpu, "fence_system_ns", "fence.system", store);
    price(gpu, "fence_floor_ns", "fence.floor", 0);
    price(gpu, "copy_engine_start_ns", "copy.small", 0);
    price(gpu, "copy_engine_gb_s", "copy.out", 0);
    distance();
    tree.put("measurements", measurements());
    return JsonMapper.builder()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .build()
            .writeValueAsString(tree)
        + "\n";
  }

  private double median(String name) {
    return calibration.find(name).map(each -> each.summary().median()).orElse(0.0);
  }

  /** Replaces a price by a median, less what another operation has of it. */
  private void price(Map<String, Object> of, String key, String name, double less) {
    calibration
        .find(name)
        .ifPresent(
            measurement ->
                of.put(
                    key,
                    constant(
                        Math.max(0, measurement.summary().median() - less),
                        measurement,
                        less == 0 ? "" : ", less the store")));
  }

  private Map<String, Object> constant(double value, Measurement measurement, String how) {
    Summary summary = measurement.summary();
    Map<String, Object> constant = new LinkedHashMap<>();
    constant.put("value", rounded(value));
    constant.put(
        "source",
        String.format(
            Locale.ROOT,
            "%s: %s%s, %s, median %.4g [%.4g, %.4g] of %d",
            calibration.basis() == Basis.MEASURED ? "measured here" : "assumed",
            measurement.what(),
            how,
            calibration.gpu(),
            summary.median(),
            summary.lower(),
            summary.upper(),
            summary.n()));
    return constant;
  }

  private static double rounded(double value) {
    return Math.round(value * 1000) / 1000.0;
  }

  /**
   * One way between GPU and CPU is half of what a load of host memory takes, less the memory's own
   * time; it is shared out over the hops as before. A hop that leads to the HCA, too, is that one.
   */
  private void distance() {
    Measurement load = calibration.find("load.host").orElse(null);
    if (load == null) {
      return;
    }
    double before = base.path(GPU, CPU).hops().stream().mapToDouble(hop -> hop.nanos()).sum();
    double now =
        Math.max(0, (load.summary().median() - base.cpus().getFirst().memoryService()) / 2);
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
          step.put("ns", constant(share * now, load, ", one way, this hop's share"));
        }
      }
    }
  }

  /** The number of a constant. */
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
      each.put("ci95", List.of(rounded(summary.lower()), rounded(summary.upper())));
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
