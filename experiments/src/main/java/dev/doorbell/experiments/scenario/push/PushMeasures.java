package dev.doorbell.experiments.scenario.push;

import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.push.PushChecker;
import dev.doorbell.push.PushEvent;
import dev.doorbell.push.PushEvent.PushObserver;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/**
 * The sampled metrics of a point: from the receiver's events, which it passes on to the checker,
 * and from what the senders' kernels have left.
 */
final class PushMeasures implements PushObserver {
  private static final int WARMUP_SHARE = 4;

  private final PushSettings of;
  private final Point point;
  private final PushChecker checker;

  /** When messages arrived, in nanoseconds. */
  private long[] arrivals = new long[1024];

  private int arrived;

  PushMeasures(PushSettings of, PushChecker checker) {
    this.of = of;
    this.point = of.point();
    this.checker = checker;
  }

  @Override
  public void happened(PushEvent event) {
    checker.happened(event);
    if (event.kind() == PushEvent.Kind.DELIVERED) {
      if (arrived == arrivals.length) {
        arrivals = Arrays.copyOf(arrivals, 2 * arrived);
      }
      arrivals[arrived++] = event.nanos();
    }
  }

  /** The point's sampled metrics, of kernels that have ended. */
  List<Samples> samples(List<PushNode> nodes) {
    List<Samples> all = new ArrayList<>();
    for (String metric : point.metrics()) {
      switch (metric) {
        case "full" -> all.add(Samples.of(metric, "", full(nodes.getFirst())));
        case "goodput" -> all.add(Samples.of(metric, "GB/s", goodput()));
        case "wait" ->
            all.add(Samples.of(metric, "ns", nodes.stream().flatMapToLong(this::waits).toArray()));
        case "stall" ->
            all.add(
                Samples.of(
                    metric,
                    "ns",
                    nodes.stream().mapToLong(node -> Arrays.stream(node.waits()).sum()).toArray()));
        case "completion" ->
            all.add(
                Samples.of(
                    metric,
                    "ns",
                    nodes.stream().mapToLong(node -> node.ended() - first(nodes)).toArray()));
        default -> {
          // counted
        }
      }
    }
    return all;
  }

  private static long first(List<PushNode> nodes) {
    return nodes.stream().mapToLong(PushNode::started).min().orElseThrow();
  }

  /** How long each message waited for room; of random times without those of the warm-up. */
  private LongStream waits(PushNode node) {
    int warmup = of.random() ? point.warmup() * PushSettings.BATCH_MESSAGES : 0;
    return Arrays.stream(node.waits()).skip(warmup).filter(wait -> wait >= 0);
  }

  /**
   * Of the last three quarters of all messages, as they arrive: the steady state. Whole turns of
   * the ring, where there are any: what is held up by credits arrives in bursts of the ring's size,
   * and six bursts with five pauses between them would look faster than they are.
   */
  private double goodput() {
    int steps = arrived - 1 - arrived / WARMUP_SHARE;
    int turn = Math.max(1, of.slots() * of.senders());
    int counted = steps < turn ? steps : steps - steps % turn;
    return (double) counted * of.size() / (arrivals[arrived - 1] - arrivals[arrived - 1 - counted]);
  }

  /**
   * For each batch the share of messages that found the ring full: they waited, or were dropped.
   */
  private double[] full(PushNode node) {
    long[] waits = node.waits();
    double[] shares = new double[point.samples()];
    for (int batch = 0; batch < shares.length; batch++) {
      int from = (point.warmup() + batch) * PushSettings.BATCH_MESSAGES;
      long full =
          Arrays.stream(waits, from, from + PushSettings.BATCH_MESSAGES)
              .filter(wait -> wait != 0)
              .count();
      shares[batch] = (double) full / PushSettings.BATCH_MESSAGES;
    }
    return shares;
  }
}
