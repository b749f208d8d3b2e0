package dev.doorbell.experiments.scenario.recovery;

import dev.doorbell.core.Basis;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.fault.FaultTarget;
import dev.doorbell.core.fault.FaultTrigger;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.recovery.KeptKernel.Remedy;
import dev.doorbell.experiments.scenario.recovery.KeptKernel.Shape;
import dev.doorbell.proxy.recovery.ModeSwitch;
import dev.doorbell.proxy.recovery.Recovery;
import dev.doorbell.proxy.recovery.SupervisionPolicy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * One point of an experiment on recovery, in virtual time: a kernel posts puts and atomics,
 * something fails in the middle, the host gets over it. Each sample is a world of its own, in which
 * the fault strikes elsewhere; in each the target's memory, the fetched values and the target's own
 * count of messages are compared with what they have to be.
 */
final class RecoveryPoint {
  static final Set<String> COUNTED =
      Set.of(
          "outstanding",
          "executed",
          "replayed",
          "lost.bytes",
          "duplicated.bytes",
          "lost.atomics",
          "repeated.atomics");

  static final String NO_FAULT = "none";
  private static final String SLOW_RECEIVER = "receiver-slow";

  /** The connection tries so often that a receive may be missing. */
  private static final int RNR_TRIES = 1 + Ports.QUICK.rnrRetry();

  /** 0.64 ms. */
  private static final int RNR_TIMER = 12;

  private static final int OPERATIONS = 256;
  private static final long RUN_NANOS = 4_000_000_000L;
  private static final long SLICE_NANOS = 20_000_000;
  static final long POLL_NANOS = 5_000;
  private static final long SETTLE_NANOS = 50_000;
  private static final long ARRIVE_NANOS = 1_000_000_000;
  private static final int ATTEMPTS = 8;
  private static final long LINK_DOWN_NANOS = 12_000_000;
  private static final int BURST = 64;
  private static final int SYNDROME = 0x15;
  private static final FaultTarget SENDER = new FaultTarget(0, 0, -1);
  private static final FaultTarget RECEIVER = new FaultTarget(1, 0, -1);

  private final Point point;
  private final PointContext context;
  private final Topology topology;
  private final boolean wall;
  private final Shape shape;
  private final String fault;
  private final List<List<FaultTally>> tallies = new ArrayList<>();

  /**
   * @param wall in wall time, in which no timeout is what a config says; refused
   */
  RecoveryPoint(Point point, PointContext context, Topology topology, boolean wall) {
    this.point = point;
    this.context = context;
    this.topology = topology;
    this.wall = wall;
    this.fault = point.text("fault");
    this.shape =
        new Shape(
            (int) point.whole("threads"),
            OPERATIONS / (int) point.whole("threads"),
            (int) point.whole("size"),
            (int) point.whole("window"),
            fault.equals(SLOW_RECEIVER));
  }

  /** Runs it. */
  PointResult run() throws PointFailure {
    if (wall) {
      throw failure("DB-P025", "its timeouts are of virtual time", "use clock: virtual");
    }
    List<Sample> samples = new ArrayList<>();
    try {
      for (int i = 0; i < point.samples(); i++) {
        samples.add(sample(point.seed() + i));
      }
    } catch (GpuException e) {
      throw failure("DB-P001", String.valueOf(e.getMessage()), "no result");
    } finally {
      if (!point.faults().faults().isEmpty()) {
        context.faults(FaultTally.total(tallies));
      }
    }
    return new PointResult(
        Basis.MODELLED,
        sampled(samples),
        counters(samples),
        samples.stream().mapToLong(sample -> sample.verdict.verifiedBytes()).sum(),
        List.of());
  }

  /** What one world gave. */
  private record Sample(
      List<Recovery> recoveries,
      List<ModeSwitch> switches,
      Traffic.Verdict verdict,
      long executedTwice) {
    long sum(ToLongFunction<Recovery> what) {
      return recoveries.stream().mapToLong(what).sum();
    }

    long switched(ModeSwitch.Poster to) {
      return switches.stream()
          .filter(one -> one.to() == to)
          .mapToLong(ModeSwitch::nanos)
          .findFirst()
          .orElse(0);
    }
  }

  private Sample sample(long seed) throws PointFailure {
    Fault own = fault(seed);
    List<Fault> all = new ArrayList<>(point.faults().faults());
    if (own != null) {
      all.add(own);
    }
    FaultPlan plan = new FaultPlan(point.faults().seed() + seed, all);
    SupervisionPolicy policy =
        new SupervisionPolicy(
            POLL_NANOS,
            point.whole("silence"),
            SETTLE_NANOS,
            Math.max(ARRIVE_NANOS, point.whole("silence")),
            ATTEMPTS,
            point.whole("hold"));
    Remedy remedy = Remedy.valueOf(point.text("remedy").toUpperCase(Locale.ROOT));
    try (KeptKernel kernel = new KeptKernel(topology, shape, remedy, policy, plan, seed)) {
      await(kernel);
      List<FaultCount> counts = kernel.ports().faults(plan);
      tallies.add(FaultTally.of(counts.subList(0, point.faults().faults().size())));
      verify(kernel, own == null ? null : counts.getLast());
      Traffic.Verdict verdict = kernel.traffic().verdict();
      List<Recovery> recoveries = kernel.keeper().recoveries();
      List<ModeSwitch> switches = kernel.keeper().switches();
      long twice = kernel.executed() - kernel.traffic().messages();
      if (twice != 0) {
        throw mismatch(
            "the target has executed %d messages instead of %d"
                .formatted(kernel.traffic().messages() + twice, kernel.traffic().messages()));
      }
      return new Sample(recoveries, switches, verdict, twice);
    }
  }

  private void await(KeptKernel kernel) throws PointFailure {
    for (long left = RUN_NANOS; left > 0; left -= SLICE_NANOS) {
      if (kernel.run(SLICE_NANOS)) {
        return;
      }
      if (context.cancelled()) {
        throw new PointFailure(
            PointFailure.Kind.CANCELLED,
            Problem.of("DB-P004", point.id(), "interrupted").effect("no result"));
      }
    }
    throw failure("DB-P005", "the kernel did not end", "no result");
  }

  private void verify(KeptKernel kernel, @Nullable FaultCount own) throws PointFailure {
    String firstError = kernel.firstError();
    if (firstError != null) {
      throw failure(
          "DB-P026",
          "%s; the host met %s"
              .formatted(
                  firstError,
                  kernel.keeper().recoveries().isEmpty()
                      ? "no failure"
                      : kernel.keeper().recoveries().getLast()),
          "it could not be recovered");
    }
    if (own != null && (own.fired() == 0 || kernel.keeper().recoveries().isEmpty())) {
      throw failure(
          "DB-P027",
          "the fault %s has struck %d times, and nothing had to be recovered"
              .formatted(fault, own.fired()),
          "there is nothing to measure");
    }
    String wrong = kernel.traffic().verdict().text();
    String disorder = wrong == null ? kernel.traffic().disorder() : wrong;
    if (disorder != null) {
      throw mismatch(disorder);
    }
  }

  /** What goes wrong, somewhere in the second quarter of the messages; null for nothing. */
  private @Nullable Fault fault(long seed) {
    int messages = shape.threads() * shape.operations();
    long at = (long) messages / 4 + new SplittableRandom(seed).nextInt(messages / 4);
    int burst = shape.threads() * Math.max(1, shape.window());
    return switch (fault) {
      case "cqe-error" ->
          Fault.of(FaultAction.CQE_ERROR, FaultEvent.WQE, FaultTrigger.at(at))
              .with(SYNDROME)
              .on(SENDER);
      case "qp-error" ->
          Fault.of(FaultAction.QP_ERROR, FaultEvent.WQE, FaultTrigger.at(at)).on(SENDER);
      case "peer-error" ->
          Fault.of(FaultAction.QP_ERROR, FaultEvent.PACKET_SENT, FaultTrigger.at(at / 4))
              .on(RECEIVER);
      case "link-down" ->
          Fault.of(FaultAction.LINK_DOWN, FaultEvent.PACKET_SENT, FaultTrigger.at(at / 4))
              .lasting(LINK_DOWN_NANOS)
              .on(RECEIVER);
      case SLOW_RECEIVER ->
          Fault.of(FaultAction.RECEIVER_NOT_READY, FaultEvent.RECEIVE, burst(at / 2, RNR_TRIES))
              .with(RNR_TIMER)
              .on(RECEIVER);
      case "loss-burst" ->
          Fault.of(FaultAction.LOSE, FaultEvent.PACKET_SENT, burst(at, BURST)).on(SENDER);
      case "doorbell-lost" ->
          Fault.of(FaultAction.DOORBELL_LOST, FaultEvent.DOORBELL, burst(at / 4, burst)).on(SENDER);
      default -> null;
    };
  }

  private static FaultTrigger burst(long from, int length) {
    return new FaultTrigger(from, from + length - 1, 1, 1, 0, Long.MAX_VALUE);
  }

  private List<Samples> sampled(List<Sample> samples) {
    List<Samples> all = new ArrayList<>();
    for (String metric : point.metrics()) {
      if (!COUNTED.contains(metric)) {
        all.add(
            Samples.of(
                metric,
                "ns",
                samples.stream().mapToLong(sample -> nanos(sample, metric)).toArray()));
      }
    }
    return all;
  }

  private static long nanos(Sample sample, String metric) {
    return switch (metric) {
      case "detect" -> sample.recoveries.getFirst().detectNanos();
      case "recover" -> sample.sum(Recovery::recoverNanos);
      case "switch" -> sample.switched(ModeSwitch.Poster.CPU);
      case "return" -> sample.switched(ModeSwitch.Poster.GPU);
      default -> throw new IllegalStateException("the check lets through " + metric);
    };
  }

  private SequencedMap<String, Quantity> counters(List<Sample> samples) {
    SequencedMap<String, Quantity> counters = new LinkedHashMap<>();
    long failures =
        Math.max(1, samples.stream().mapToLong(sample -> sample.recoveries.size()).sum());
    for (String metric : point.metrics()) {
      if (COUNTED.contains(metric)) {
        double sum = samples.stream().mapToDouble(sample -> count(sample, metric)).sum();
        boolean bytes = metric.endsWith(".bytes");
        boolean absolute = bytes || metric.endsWith(".atomics");
        counters.put(metric, new Quantity(absolute ? sum : sum / failures, bytes ? "B" : ""));
      }
    }
    return counters;
  }

  private double count(Sample sample, String metric) {
    return switch (metric) {
      case "outstanding" -> sample.sum(Recovery::outstanding);
      case "executed" -> sample.sum(Recovery::executed);
      case "replayed" -> sample.sum(Recovery::replayed);
      case "lost.bytes" -> sample.verdict.lostBytes();
      case "duplicated.bytes" -> (double) sample.executedTwice * shape.bytes();
      case "lost.atomics" -> sample.verdict.atomicsLost();
      case "repeated.atomics" -> sample.verdict.atomicsTwice();
      default -> throw new IllegalStateException("the check lets through " + metric);
    };
  }

  private PointFailure mismatch(String what) {
    return new PointFailure(
        PointFailure.Kind.MISMATCH,
        Problem.of("DB-P002", point.id(), what).effect("the point has no result"));
  }

  private PointFailure failure(String code, String what, String effect) {
    return new PointFailure(
        PointFailure.Kind.FAILED, Problem.of(code, point.id(), what).effect(effect));
  }
}
