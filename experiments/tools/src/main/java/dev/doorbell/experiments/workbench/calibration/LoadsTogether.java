package dev.doorbell.experiments.workbench.calibration;

import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.stats.Summary;
import dev.doorbell.experiments.workbench.calibration.Calibration.Measurement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Loads of one thread that do not depend on each other: what it takes to issue them and until all
 * are there, and from that how many are under way at once and what issuing one takes. Those of host
 * memory tell, since a wait for one is long there; those of device memory are for comparison.
 */
final class LoadsTogether {
  private static final String HOST = "host";
  private static final String DEVICE = "device";

  /**
   * Nanoseconds of a number of loads, sample by sample.
   *
   * @param issued until the last load was issued
   * @param there until all had returned
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Rung(double[] issued, double[] there) {}

  private final PriceRig rig;
  private final double nanosPerCycle;
  private final Consumer<String> progress;
  private final SortedMap<Integer, Rung> host = new TreeMap<>();
  private final SortedMap<Integer, Rung> device = new TreeMap<>();

  LoadsTogether(PriceRig rig, double nanosPerCycle, Consumer<String> progress) {
    this.rig = rig;
    this.nanosPerCycle = nanosPerCycle;
    this.progress = progress;
  }

  List<Measurement> measure() {
    LoadLadder ladder = new LoadLadder();
    for (int loads = ladder.next(); loads > 0; loads = ladder.next()) {
      progress.accept("together." + loads);
      try (GpuModule module = rig.load("together", PriceKernels.together(loads))) {
        Rung rung = rung(module, rig.host);
        ladder.add(loads, median(rung.issued), median(rung.there));
        host.put(loads, rung);
        device.put(loads, rung(module, rig.device));
      }
    }
    List<Measurement> found = new ArrayList<>();
    found.add(inFlight(ladder.bounded()));
    if (ladder.inFlight() > 1) {
      found.add(issue(ladder.inFlight()));
    }
    host.forEach((loads, rung) -> add(found, HOST, loads, rung));
    device.forEach((loads, rung) -> add(found, DEVICE, loads, rung));
    return found;
  }

  private Rung rung(GpuModule module, Memory memory) {
    rig.launch(
        module.kernel(PriceKernels.TOGETHER),
        1,
        1,
        new KernelArguments().add(memory).add(rig.out).add(rig.total()).add(0));
    return new Rung(nanos(rig.samples(0, 2)), nanos(rig.samples(1, 2)));
  }

  private double[] nanos(double[] cycles) {
    for (int i = 0; i < cycles.length; i++) {
      cycles[i] *= nanosPerCycle;
    }
    return cycles;
  }

  private static double median(double[] samples) {
    return Summary.of(samples, 1).median();
  }

  /** Returns what each sample says for itself, on the rungs that their medians led to. */
  private Measurement inFlight(boolean bounded) {
    double[] each = new double[host.sequencedValues().getFirst().issued.length];
    for (int i = 0; i < each.length; i++) {
      LoadLadder own = new LoadLadder();
      int sample = i;
      host.forEach((loads, rung) -> own.add(loads, rung.issued[sample], rung.there[sample]));
      each[i] = own.inFlight();
    }
    return new Measurement(
        "loads of one thread from host memory that are under way at once"
            + (bounded ? "" : ", at least"),
        Samples.of("load.in_flight", "loads", each));
  }

  /**
   * The median of what a load takes from rung to rung: what comes once, such as the fetch of more
   * instructions, is in one of them.
   */
  private Measurement issue(int loads) {
    List<Map.Entry<Integer, Rung>> free = List.copyOf(host.headMap(loads + 1).entrySet());
    double[] each = new double[free.getFirst().getValue().issued.length];
    double[] steps = new double[free.size() - 1];
    for (int i = 0; i < each.length; i++) {
      for (int k = 0; k < steps.length; k++) {
        double later = free.get(k + 1).getValue().issued[i] - free.get(k).getValue().issued[i];
        steps[k] = later / (free.get(k + 1).getKey() - free.get(k).getKey());
      }
      each[i] = median(steps);
    }
    return new Measurement(
        "issue of a load of host memory, up to %d together".formatted(loads),
        Samples.of("load.issue", "ns", each));
  }

  private static void add(List<Measurement> to, String where, int loads, Rung rung) {
    String what = "%d loads of %s memory, until ".formatted(loads, where);
    String point = ".%s.%d".formatted(where, loads);
    to.add(
        new Measurement(
            what + "the last is issued", Samples.of("issue" + point, "ns", rung.issued)));
    to.add(
        new Measurement(what + "all are there", Samples.of("together" + point, "ns", rung.there)));
  }

  /**
   * Seeks how many loads a thread has under way. Up to that number issuing them takes a little for
   * each; the next one is issued when the first of them has returned, a step as high as what is
   * left of a round trip. The number is doubled until there is such a step, and then halved into
   * it.
   */
  static final class LoadLadder {
    /**
     * The most loads that are tried: their values are all in registers, of which a thread has 255.
     */
    static final int MOST = 128;

    private final SortedMap<Integer, Double> issued = new TreeMap<>();
    private double alone;

    /**
     * Takes a rung: times until the last of some independent loads was issued and until all had
     * returned, in the unit of all rungs.
     */
    void add(int loads, double issuedAfter, double thereAfter) {
      issued.put(loads, issuedAfter);
      if (loads == 1) {
        alone = thereAfter;
      }
    }

    /** Returns the number of loads to try next; 0: it is known. One load is the first rung. */
    int next() {
      int free = free();
      int waiting = waiting();
      if (waiting == 0) {
        return free == MOST ? 0 : Math.clamp(2L * free, 1, MOST);
      }
      return waiting - free > 1 ? (free + waiting) / 2 : 0;
    }

    /**
     * Returns the number of loads under way, for as far as the rungs tell; at least 1, as one is
     * while it waits.
     */
    int inFlight() {
      return Math.max(1, free());
    }

    /**
     * Returns true if a load more has waited; if not, there may be more under way than were tried.
     */
    boolean bounded() {
      return waiting() > 0;
    }

    /** The most loads none of which waits. */
    private int free() {
      int free = 0;
      for (Map.Entry<Integer, Double> rung : issued.entrySet()) {
        if (waits(free, rung.getKey(), rung.getValue())) {
          break;
        }
        free = rung.getKey();
      }
      return free;
    }

    /** The fewest of which one waits; 0: none is known. */
    private int waiting() {
      int free = free();
      return issued.keySet().stream().filter(loads -> loads > free).findFirst().orElse(0);
    }

    /**
     * Returns true if the last of {@code loads} was issued nearer to the end of the first than to
     * where it would be if it had not waited, to go by {@code free} that have not.
     */
    private boolean waits(int free, int loads, double issuedAfter) {
      double unhindered = free == 0 ? 0 : issued.getOrDefault(free, 0.0) / free * loads;
      return unhindered < alone && issuedAfter > (unhindered + alone) / 2;
    }
  }
}
