package dev.doorbell.experiments.scenario.recovery;

import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.fault.FaultTarget;
import dev.doorbell.core.fault.FaultTrigger;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.recovery.SupervisedKernel.Remedy;
import dev.doorbell.experiments.scenario.recovery.SupervisedKernel.Shape;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.proxy.recovery.PostingSupervisor.Recovery;
import dev.doorbell.proxy.recovery.PostingSupervisor.SupervisionPolicy;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A kernel posts puts and atomics in virtual time, something fails in the middle, and the host
 * recovers it. Each sample is a world of its own, in which the fault strikes elsewhere; in each the
 * target's memory, the fetched values and the target's own count of messages are compared with what
 * they have to be.
 */
public final class RecoveryKind extends ExperimentKind<RecoveryKind.Settings> {
  private static final Set<String> COUNTED =
      Set.of(
          "outstanding",
          "executed",
          "replayed",
          "lost.bytes",
          "duplicated.bytes",
          "lost.atomics",
          "repeated.atomics");

  private static final int MOST_BYTES = 64 << 10;
  private static final int MOST_THREADS = 32;
  private static final long NANOS_A_SAMPLE = 70_000_000;
  private static final int OPERATIONS = 256;
  private static final long RUN_NANOS = 4_000_000_000L;
  private static final int POLL_NANOS = 5_000;
  private static final long SETTLE_NANOS = 50_000;
  private static final long ARRIVE_NANOS = 1_000_000_000;
  private static final int ATTEMPTS = 8;
  private static final long LINK_DOWN_NANOS = 12_000_000;

  /** Longer than a kernel takes to fill its window; a recovery's own doorbells come later. */
  private static final long DOORBELLS_LOST_NANOS = 1_000_000;

  /** Timeout of 4.096 us x 2^8, the first noticed up to one late, and three retries. */
  private static final long RETRY_NANOS = 5_250_000;

  /** Fewest packets of a burst. */
  private static final int BURST = 64;

  private static final int SYNDROME = 0x15;

  /** Attempts of a connection to deliver a message that no receive waits for. */
  private static final int RNR_TRIES = 1 + Ports.QUICK.rnrRetry();

  /** Encodes 0.64 ms. */
  private static final int RNR_TIMER = 12;

  private static final FaultTarget SENDER = new FaultTarget(0, 0, -1);
  private static final FaultTarget RECEIVER = new FaultTarget(1, 0, -1);

  enum Failure {
    NONE,
    CQE_ERROR,
    QP_ERROR,
    PEER_ERROR,
    LINK_DOWN,
    LOSS_BURST,
    DOORBELL_LOST,
    RECEIVER_SLOW
  }

  record Settings(
      Point point, int size, Remedy remedy, Failure fault, long silence, int threads, int window) {
    Shape shape() {
      return new Shape(threads, OPERATIONS / threads, size, window, fault == Failure.RECEIVER_SLOW);
    }

    SupervisionPolicy policy() {
      return new SupervisionPolicy(
          POLL_NANOS, silence, SETTLE_NANOS, Math.max(ARRIVE_NANOS, silence), ATTEMPTS);
    }
  }

  public RecoveryKind() {
    super(
        "kernel: " + SupervisedKernel.KERNEL,
        "DB-P024",
        Settings.class,
        "detect",
        "recover",
        "outstanding",
        "executed",
        "replayed",
        "lost.bytes",
        "duplicated.bytes",
        "lost.atomics",
        "repeated.atomics");
  }

  @Override
  protected void check(Settings of, Checks checks) {
    checkAlone(of.point, "it has safe points, ports and a host of its own", checks);
    checks.refuseIf(
        of.size < Long.BYTES || of.size % Long.BYTES != 0 || of.size > MOST_BYTES,
        "a message of %d bytes".formatted(of.size),
        "use multiples of 8 up to 64 KiB");
    checks.refuseIf(
        of.threads > MOST_THREADS,
        "%d threads".formatted(of.threads),
        "a ring of 64 blocks is shared by all of them",
        "use at most 32");
    checks.refuseIf(
        of.silence < RETRY_NANOS,
        "silence of %d ns".formatted(of.silence),
        "the connection retries for up to 5.25 ms: it would be given up while it works",
        "use at least " + RETRY_NANOS);
    for (String metric : of.point.metrics()) {
      checks.refuseIf(
          metrics().contains(metric) && !COUNTED.contains(metric) && of.fault == Failure.NONE,
          "%s is not measured without a fault".formatted(metric),
          "name a fault, or drop the metric");
    }
  }

  @Override
  protected long estimateNanos(Settings of) {
    return NANOS_A_SAMPLE * of.point.samples();
  }

  private record Sample(List<Recovery> recoveries, Traffic.Verdict verdict, long executedTwice) {
    long sum(ToLongFunction<Recovery> what) {
      return recoveries.stream().mapToLong(what).sum();
    }
  }

  @Override
  protected void measure(PointRun<Settings> run) throws PointFailure {
    if (!(run.backend() instanceof ExecutionBackend.Virtual)) {
      throw run.failed("DB-P025", "its timeouts are of virtual time", "use clock: virtual");
    }
    List<Sample> samples = new ArrayList<>();
    for (int i = 0; i < run.point().samples(); i++) {
      samples.add(sample(run, run.point().seed() + i));
    }
    long failures = Math.max(1, samples.stream().mapToLong(one -> one.recoveries.size()).sum());
    for (String metric : run.point().metrics()) {
      if (COUNTED.contains(metric)) {
        int size = run.settings().size;
        double sum = samples.stream().mapToDouble(one -> count(one, metric, size)).sum();
        boolean bytes = metric.endsWith(".bytes");
        boolean absolute = bytes || metric.endsWith(".atomics");
        run.count(metric, new Quantity(absolute ? sum : sum / failures, bytes ? "B" : ""));
      } else {
        long[] nanos = samples.stream().mapToLong(one -> nanos(one, metric)).toArray();
        run.add(Samples.of(metric, "ns", nanos));
      }
    }
  }

  private static Sample sample(PointRun<Settings> run, long seed) throws PointFailure {
    Settings of = run.settings();
    FaultPlan asked = of.point.faults();
    Fault own = fault(of, seed);
    List<Fault> all = new ArrayList<>(asked.faults());
    if (own != null) {
      all.add(own);
    }
    FaultPlan plan = new FaultPlan(asked.seed() + seed, all);
    try (SupervisedKernel kernel =
        new SupervisedKernel(run.topology(), of.shape(), of.remedy, of.policy(), plan, seed)) {
      run.await(kernel, RUN_NANOS);
      List<FaultCount> counts = kernel.ports().faults(plan);
      run.tally(FaultTally.of(counts.subList(0, asked.faults().size())));
      List<Recovery> recoveries = kernel.supervisor().recoveries();
      verify(run, kernel, own == null ? null : counts.getLast());
      int messages = kernel.traffic().messages();
      long executed = kernel.executed();
      if (executed != messages) {
        throw run.mismatch(
            "the target has executed %d messages instead of %d".formatted(executed, messages));
      }
      run.verified(kernel.verifiedBytes());
      return new Sample(recoveries, kernel.traffic().verdict(), executed - messages);
    }
  }

  private static void verify(
      PointRun<Settings> run, SupervisedKernel kernel, @Nullable FaultCount own)
      throws PointFailure {
    List<Recovery> recoveries = kernel.supervisor().recoveries();
    String error = kernel.firstError();
    if (error != null) {
      throw run.failed(
          "DB-P026",
          "%s; the host met %s"
              .formatted(error, recoveries.isEmpty() ? "no failure" : recoveries.getLast()),
          "it could not be recovered");
    }
    if (own != null && (own.fired() == 0 || recoveries.isEmpty())) {
      throw run.failed(
          "DB-P027",
          "the fault %s has struck %d times, and nothing had to be recovered"
              .formatted(run.point().text("fault"), own.fired()),
          "there is nothing to measure");
    }
    String mismatch = kernel.mismatch();
    if (mismatch != null) {
      throw run.mismatch(mismatch);
    }
  }

  /** A fault that strikes somewhere in the second quarter of the messages; null for none. */
  private static @Nullable Fault fault(Settings of, long seed) {
    int messages = of.threads * (OPERATIONS / of.threads);
    long at = (long) messages / 4 + new SplittableRandom(seed).nextInt(messages / 4);
    return switch (of.fault) {
      case NONE -> null;
      case CQE_ERROR ->
          Fault.of(FaultAction.CQE_ERROR, FaultEvent.WQE, FaultTrigger.at(at))
              .with(SYNDROME)
              .on(SENDER);
      case QP_ERROR ->
          Fault.of(FaultAction.QP_ERROR, FaultEvent.WQE, FaultTrigger.at(at)).on(SENDER);
      case PEER_ERROR ->
          Fault.of(FaultAction.QP_ERROR, FaultEvent.PACKET_SENT, FaultTrigger.at(at / 4))
              .on(RECEIVER);
      case LINK_DOWN ->
          Fault.of(FaultAction.LINK_DOWN, FaultEvent.PACKET_SENT, FaultTrigger.at(at / 4))
              .lasting(LINK_DOWN_NANOS)
              .on(RECEIVER);
      case RECEIVER_SLOW ->
          Fault.of(FaultAction.RECEIVER_NOT_READY, FaultEvent.RECEIVE, burst(at / 2, RNR_TRIES))
              .with(RNR_TIMER)
              .on(RECEIVER);
      case LOSS_BURST ->
          Fault.of(FaultAction.LOSE, FaultEvent.PACKET_SENT, burst(at, lost(of))).on(SENDER);
      case DOORBELL_LOST ->
          Fault.of(FaultAction.DOORBELL_LOST, FaultEvent.DOORBELL, FaultTrigger.at(at / 4))
              .lasting(Math.min(DOORBELLS_LOST_NANOS, of.silence / 2))
              .on(SENDER);
    };
  }

  /** Returns enough packets for all attempts to deliver a full window. */
  private static int lost(Settings of) {
    int messages = Math.min(of.threads * of.window, SupervisedKernel.BLOCKS);
    int packets = messages * Math.ceilDiv(of.size, SoftHcaOptions.Engine.DEFAULT.mtu());
    return Math.max(BURST, packets * (1 + Ports.QUICK.retryCount()));
  }

  private static FaultTrigger burst(long from, int length) {
    return new FaultTrigger(from, from + length - 1, 1, 1, 0, Long.MAX_VALUE);
  }

  private static long nanos(Sample sample, String metric) {
    return switch (metric) {
      case "detect" -> sample.recoveries.getFirst().detectNanos();
      case "recover" -> sample.sum(Recovery::recoverNanos);
      default -> throw new IllegalStateException("the check lets through " + metric);
    };
  }

  private static double count(Sample sample, String metric, int size) {
    return switch (metric) {
      case "outstanding" -> sample.sum(Recovery::outstanding);
      case "executed" -> sample.sum(Recovery::executed);
      case "replayed" -> sample.sum(Recovery::replayed);
      case "lost.bytes" -> sample.verdict.lostBytes();
      case "duplicated.bytes" -> (double) sample.executedTwice * size;
      case "lost.atomics" -> sample.verdict.atomicsLost();
      case "repeated.atomics" -> sample.verdict.atomicsTwice();
      default -> throw new IllegalStateException("the check lets through " + metric);
    };
  }
}
