package dev.doorbell.experiments.run;

import com.sun.management.OperatingSystemMXBean;
import dev.doorbell.experiments.plan.PointRunner;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Collectors;

/**
 * The parts of a run's time. Simulation is the wall time in which at least one point is being run;
 * writing what it gave is not part of it. The clock starts with the process. Processor time is
 * counted beside it, since a busy machine stretches everything but that.
 */
public final class RunTimes {
  private static final String START = "start";

  private final SequencedMap<String, Long> phases = new LinkedHashMap<>();
  private final SequencedMap<String, Long> processor = new LinkedHashMap<>();
  private long lastProcessor;
  private long last;
  private long simulated;
  private long ownNanos;
  private int active;
  private long activeSince;

  public RunTimes() {
    last = System.nanoTime();
    long sinceStart =
        System.currentTimeMillis() - ManagementFactory.getRuntimeMXBean().getStartTime();
    phases.put(START, Math.max(0, sinceStart) * 1_000_000);
    lastProcessor = processorNanos();
    processor.put(START, lastProcessor);
  }

  /** CPU time of all threads of this process, including the compiler's and the collector's. */
  private static long processorNanos() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
        ? Math.max(0, system.getProcessCpuTime())
        : 0;
  }

  public void ended(String phase) {
    long now = System.nanoTime();
    phases.merge(phase, now - last, Long::sum);
    last = now;
    long used = processorNanos();
    processor.merge(phase, used - lastProcessor, Long::sum);
    lastProcessor = used;
  }

  public PointRunner watch(PointRunner runner) {
    return (point, context) -> {
      enter();
      long from = System.nanoTime();
      try {
        return runner.run(point, context);
      } finally {
        leave(System.nanoTime() - from);
      }
    };
  }

  private synchronized void enter() {
    if (active++ == 0) {
      activeSince = System.nanoTime();
    }
  }

  private synchronized void leave(long own) {
    ownNanos += own;
    if (--active == 0) {
      simulated += System.nanoTime() - activeSince;
    }
  }

  public synchronized double outside() {
    long total = total();
    return total == 0 ? 0 : (double) (total - simulated) / total;
  }

  private long total() {
    return phases.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Returns one short line. */
  public synchronized String brief() {
    String parts =
        phases.entrySet().stream()
            .map(
                phase ->
                    String.format(Locale.ROOT, "%s %.1f", phase.getKey(), phase.getValue() / 1e9))
            .collect(Collectors.joining(", "));
    return String.format(
        Locale.ROOT,
        "time     %.1f s: %s; %.1f %% not in points",
        total() / 1e9,
        parts,
        outside() * 100);
  }

  public synchronized String text() {
    String parts =
        phases.entrySet().stream()
            .map(
                phase ->
                    "%s %s, %s cpu"
                        .formatted(
                            phase.getKey(),
                            seconds(phase.getValue()),
                            seconds(processor.getOrDefault(phase.getKey(), 0L))))
            .collect(Collectors.joining("; "));
    return String.format(
        Locale.ROOT,
        "time     %s (%s); simulating %s, %.1f %% outside; %s of points one by one",
        seconds(total()),
        parts,
        seconds(simulated),
        outside() * 100,
        seconds(ownNanos));
  }

  /** Returns seconds by phase, for JSON. */
  public synchronized SequencedMap<String, Object> json() {
    SequencedMap<String, Object> json = new LinkedHashMap<>();
    for (Map.Entry<String, Long> phase : phases.entrySet()) {
      json.put(phase.getKey(), phase.getValue() / 1e9);
      json.put(phase.getKey() + "_cpu", processor.getOrDefault(phase.getKey(), 0L) / 1e9);
    }
    json.put("total", total() / 1e9);
    json.put("simulating", simulated / 1e9);
    json.put("outside_share", outside());
    return json;
  }

  private static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.2f s", nanos / 1e9);
  }
}
