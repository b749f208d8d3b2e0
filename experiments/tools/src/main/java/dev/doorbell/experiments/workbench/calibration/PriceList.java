package dev.doorbell.experiments.workbench.calibration;

import dev.doorbell.core.Basis;
import dev.doorbell.core.fabric.timed.machine.Link;
import dev.doorbell.core.fabric.timed.machine.Path;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.experiments.workbench.calibration.Calibration.Measurement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Finds the constants of a topology that a GPU's measurements give: each with how it was found. An
 * operation was timed as one instruction of a loop, so that its price is what is left without the
 * instruction.
 */
final class PriceList {
  private static final int WARP = 32;
  private static final int WIDE = 16;
  private static final int BLOCKS = 132;
  private static final String ONE_WARP = "loads.host.1x32.";
  private static final String WARP_EACH = "loads.host." + BLOCKS + "x32.4";

  private static final String INSTRUCTION = "instruction";
  private static final String RESULT = "instruction.chain";
  private static final String DECISION = "instruction.decision";

  /** Instructions of a round of the loop that stores, but for the store. */
  private static final int ROUND_INSTRUCTIONS = 5;

  private static final int SMALLEST_LINE = 32;
  private static final int LARGEST_LINE = 128;

  private final Calibration calibration;
  private final Link link;
  private final double service;
  private final double instruction;
  private final Map<String, Object> constants = new LinkedHashMap<>();

  PriceList(Calibration calibration, Topology base) {
    this.calibration = calibration;
    Path path = base.path("gpu0", "cpu0");
    this.link = base.link(path.hops().getFirst().link());
    this.service = base.cpus().getFirst().memoryService();
    this.instruction =
        has(INSTRUCTION)
            ? median(INSTRUCTION)
            : Math.max(0, (median("round") - median("store")) / ROUND_INSTRUCTIONS);
  }

  Map<String, Object> gpu() {
    if (has(INSTRUCTION)) {
      put("instruction_ns", instruction, INSTRUCTION, "");
    } else if (has("round", "store")) {
      put("instruction_ns", instruction, "round", ", less the store, a fifth");
    }
    latencies();
    own("load_ns", "load");
    own("load_hit_ns", "load.hit");
    own("strong_load_ns", "load.strong");
    own("store_ns", "store");
    own("remote_store_ns", "store.host");
    own("atomic_ns", "atomic");
    beyond("fence_ns", "fence", "store");
    beyond("fence_system_ns", "fence.system", "store");
    own("fence_floor_ns", "fence.floor");
    own("fence_system_floor_ns", "fence.system.floor");
    beyond("fence_remote_ns", "fence.host", "store.host");
    beyond("fence_system_remote_ns", "fence.system.host", "store.host");
    fenceAwaitsArrival();
    if (has("load.host", "atomic.host")) {
      double both = Math.min(median("load.host"), median("atomic.host"));
      put("remote_load_ns", median("load.host") - both, "load.host", ", beyond the way");
      put("remote_atomic_ns", median("atomic.host") - both, "atomic.host", ", beyond the way");
    }
    spread();
    contention();
    loadGranule();
    if (has("load.in_flight")) {
      put("loads_in_flight", Math.rint(median("load.in_flight")), "load.in_flight", "");
    }
    own("load_issue_ns", "load.issue");
    most("block_store_gb_s", name -> name.startsWith("stores.device.1x"));
    most("device_load_gb_s", name -> name.startsWith("loads.device."));
    most("device_store_gb_s", name -> name.startsWith("stores.device."));
    if (has("copy.small", "copy.out")) {
      put("copy_engine_start_ns", median("copy.small"), "copy.small", "");
      put("copy_engine_gb_s", median("copy.out"), "copy.out", "");
    }
    return constants;
  }

  /**
   * Adds the latencies for which instructions wait: each kernel has one thing more than the last
   * one.
   */
  private void latencies() {
    double result = median(RESULT);
    less("result_ns", RESULT, 0, "");
    less("decision_ns", DECISION, result, ", less the addition");
    less("jump_ns", "instruction.jump", median(DECISION), ", less the comparison and the addition");
    less("call_ns", "instruction.call", result, ", less the addition");
  }

  private void less(String key, String name, double less, String how) {
    if (has(name)) {
      put(key, Math.max(0, median(name) - less), name, how);
    }
  }

  double way() {
    return Math.max(0, (median(wayOf()) - instruction - service) / 2);
  }

  /**
   * Returns the measurement that the way was taken from: a load may do more than go there and back.
   */
  String wayOf() {
    boolean atomic = has("atomic.host") && median("atomic.host") < median("load.host");
    return atomic ? "atomic.host" : "load.host";
  }

  /**
   * The share of the link that TLPs get, from what the copy engine, which sends and reads the
   * largest ones, reaches each way.
   */
  double efficiency() {
    double payload = link.maxPayload();
    double out = median("copy.out") * (payload + link.writeOverhead()) / payload;
    double in = median("copy.in") * (payload + link.completionOverhead()) / payload;
    return (out + in) / 2 / link.bytesPerNano();
  }

  boolean has(String... names) {
    return List.of(names).stream().allMatch(name -> calibration.find(name).isPresent());
  }

  Map<String, Object> constant(double value, String name, String how) {
    Measurement measurement = calibration.find(name).orElseThrow();
    var summary = measurement.summary();
    Map<String, Object> constant = new LinkedHashMap<>();
    constant.put("value", MachineFile.rounded(value));
    constant.put(
        "source",
        String.format(
            Locale.ROOT,
            "%s: %s%s, %s, median %.4g%s of %d",
            calibration.basis() == Basis.MEASURED ? "measured here" : "assumed",
            measurement.what(),
            how,
            calibration.gpu(),
            summary.median(),
            summary
                .interval()
                .map(ci -> String.format(Locale.ROOT, " [%.4g, %.4g]", ci.lower(), ci.upper()))
                .orElse(""),
            summary.n()));
    return constant;
  }

  private double median(String name) {
    return calibration.find(name).map(each -> each.summary().median()).orElse(0.0);
  }

  private void put(String key, double value, String name, String how) {
    constants.put(key, constant(value, name, how));
  }

  private void own(String key, String name) {
    less(key, name, instruction, ", less an instruction");
  }

  private void beyond(String key, String name, String less) {
    if (has(name, less)) {
      double value = Math.max(0, median(name) - median(less) - instruction);
      put(key, value, name, ", less the store and an instruction");
    }
  }

  /** An arrival is known after a TLP could have gone there and its answer come back. */
  private void fenceAwaitsArrival() {
    if (has("fence.system.host", "store.host", "load.host")) {
      double fence = median("fence.system.host") - median("store.host");
      boolean awaits = fence >= 2 * way();
      Map<String, Object> constant = constant(0, "fence.system.host", "");
      constant.put("value", awaits);
      constants.put("fence_awaits_arrival", constant);
    }
  }

  /** One warp that loads 16 bytes a thread, so 4 lines at once, against one that loads 4 bytes. */
  private void spread() {
    if (has(ONE_WARP + 4, ONE_WARP + WIDE)) {
      double each = Math.max(0, (round(ONE_WARP + WIDE) - round(ONE_WARP + 4)) / 2);
      put("remote_spread_ns", each, ONE_WARP + WIDE, ", a round less one of 4 bytes, halved");
    }
  }

  /** A warp on each multiprocessor, which are far from what the link carries, against one. */
  private void contention() {
    if (has(ONE_WARP + 4, WARP_EACH)) {
      double more = BLOCKS * round(WARP_EACH) - round(ONE_WARP + 4);
      double each = Math.max(0, more / (WARP * (BLOCKS - 1)));
      put(
          "remote_contention_ns",
          each,
          WARP_EACH,
          ", a round less one of one warp, a load's share");
    }
  }

  /** Nanoseconds in which one warp's bytes of a round are loaded. */
  private double round(String name) {
    return WARP * Integer.parseInt(name.substring(name.lastIndexOf('.') + 1)) / median(name);
  }

  /** Adds the size of the completions that explain the best rate of 4-byte loads. */
  private void loadGranule() {
    Predicate<Measurement> narrow =
        each -> each.name().startsWith("loads.host.") && each.name().endsWith(".4");
    Measurement best = best(narrow);
    if (best == null) {
      return;
    }
    double rate = best.summary().median();
    double room = link.bytesPerNano() * Math.min(1, efficiencyOrGiven()) - rate;
    double payload = room <= 0 ? LARGEST_LINE : rate * link.completionOverhead() / room;
    int line = 0;
    for (int each = SMALLEST_LINE; each <= LARGEST_LINE; each *= 2) {
      if (payload >= each / Math.sqrt(2)) {
        line = each;
      }
    }
    put("load_granule_bytes", line, best.name(), ", completions that this takes");
  }

  private double efficiencyOrGiven() {
    return has("copy.out", "copy.in") ? efficiency() : link.efficiency();
  }

  private void most(String key, Predicate<String> names) {
    Measurement best = best(each -> names.test(each.name()));
    if (best != null) {
      put(key, best.summary().median(), best.name(), "");
    }
  }

  private @Nullable Measurement best(Predicate<Measurement> which) {
    Measurement best = null;
    for (Measurement each : calibration.measurements()) {
      if (which.test(each) && (best == null || each.summary().median() > best.summary().median())) {
        best = each;
      }
    }
    return best;
  }
}
