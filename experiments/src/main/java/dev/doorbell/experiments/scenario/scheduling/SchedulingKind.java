package dev.doorbell.experiments.scenario.scheduling;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.QueueSettings;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Messages that arrive at a sender faster, for a while, than its port carries them: which of those
 * that wait goes next. Each sample draws messages and their arrival by its own number, so they are
 * the same under every schedule.
 */
public final class SchedulingKind extends ExperimentKind<SchedulingKind.Settings> {
  private static final String CODE = "DB-P037";
  private static final String RESPONSE = "response";
  private static final String URGENT = "response.urgent";
  private static final String MISSED = "missed";
  private static final String COMPLETION = "completion";
  private static final String KERNEL = "put_bandwidth";
  private static final Set<TransferPath> PATHS = Set.of(TransferPath.PULL, TransferPath.PULL_BF);
  private static final int MOST_MESSAGE_BYTES = 16 << 20;
  private static final long MOST_BYTES = 256L << 20;
  private static final int MOST_PIECES = 4096;
  private static final double PERCENT = 100;
  private static final long KERNEL_NANOS = 4_000_000_000L;
  private static final long DEADLINE_NANOS = 2_000_000_000L;
  private static final long NANOS_A_POINT = 300_000_000L;
  private static final long NANOS_A_PIECE = 3_000_000L;

  /**
   * Settings of a point.
   *
   * @param messages in all
   * @param size bytes of three of four messages
   * @param bulk bytes of the others
   * @param chunk bytes of a piece of an interleaved message
   * @param window messages, or pieces, in flight
   * @param load what arrives in the mean, in percent of what the port carries; 0: all at once
   * @param deadline longest time until a message is due, in nanoseconds
   */
  record Settings(
      Point point,
      Schedule schedule,
      int messages,
      int size,
      int bulk,
      int chunk,
      int window,
      int load,
      int deadline,
      TransferPath path,
      QueueSettings queues) {
    Message.Mix mix() {
      return new Message.Mix(messages, size, bulk, deadline);
    }
  }

  public SchedulingKind() {
    super(
        "schedule: fifo, priority, shortest, deadline or interleaved",
        CODE,
        Settings.class,
        RESPONSE,
        URGENT,
        MISSED,
        COMPLETION);
  }

  @Override
  public boolean applies(Point point) {
    return point.has("schedule") && !point.text("schedule").equals("none");
  }

  @Override
  protected void check(Settings of, Checks checks) {
    checks.refuseIf(
        !of.point.kernels().equals(List.of(KERNEL)),
        "messages that wait are put by one kernel",
        "kernel: " + KERNEL);
    checks.refuseIf(
        !PATHS.contains(of.path),
        "path %s of messages that wait".formatted(of.path.word()),
        "use pull or pull.bf");
    checks.refuseIf(
        Math.max(of.size, of.bulk) > MOST_MESSAGE_BYTES
            || (long) of.messages * Math.max(of.size, of.bulk) > MOST_BYTES,
        "%d messages of %d and %d bytes".formatted(of.messages, of.size, of.bulk),
        "they may be 16 MiB each, and 256 MiB together",
        "use fewer or smaller messages");
    checks.refuseIf(
        of.schedule == Schedule.INTERLEAVED && pieces(of) > MOST_PIECES,
        "%d pieces of %d bytes".formatted(pieces(of), of.chunk),
        "each is a kernel with a queue pair of its own",
        "use a larger chunk");
  }

  private static long pieces(Settings of) {
    int most = Math.max(of.size, of.bulk);
    return of.messages * (of.schedule == Schedule.INTERLEAVED ? Math.ceilDiv(most, of.chunk) : 1L);
  }

  @Override
  protected long estimateNanos(Settings of) {
    return NANOS_A_POINT + of.point.samples() * pieces(of) * NANOS_A_PIECE;
  }

  @Override
  protected void measure(PointRun<Settings> run) throws PointFailure {
    if (!(run.backend() instanceof ExecutionBackend.Virtual)) {
      throw run.waived(
          CODE, "messages arrive in virtual time alone", "use clock: virtual, gpu: vm, hca: soft");
    }
    Settings of = run.settings();
    double rate = of.load / PERCENT * rate(run.topology());
    Responses all = new Responses();
    for (int sample = 0; sample < run.point().samples(); sample++) {
      List<Message> messages = of.mix().arriving(rate, sample);
      try (Sender sender = open(run, messages)) {
        run.perform(sender, KERNEL_NANOS);
        all.add(sender, messages);
      }
    }
    report(run, all);
  }

  /** Bytes a nanosecond that a port carries. */
  private static double rate(Topology topology) {
    return topology.network().bytesPerNano();
  }

  private static Sender open(PointRun<Settings> run, List<Message> messages) {
    Settings of = run.settings();
    Endpoint.Shape endpoint =
        Endpoint.Shape.builder(of.queues.depth(), DEADLINE_NANOS)
            .placement(of.queues.placement())
            .blueFlame(of.path.blueFlame())
            .exclusive(true)
            .build();
    Sender.Shape shape =
        new Sender.Shape(
            of.schedule, of.window, of.chunk, of.path.jobPath(), endpoint, KERNEL_NANOS);
    return new Sender(run.world().mtu(of.queues.mtu()).open(), shape, messages, run.point().seed());
  }

  private static void report(PointRun<Settings> run, Responses all) {
    for (String metric : run.point().metrics()) {
      List<Double> values =
          switch (metric) {
            case RESPONSE -> all.nanos;
            case URGENT -> all.urgent;
            case COMPLETION -> all.completion;
            default -> List.of();
          };
      if (!values.isEmpty()) {
        run.add(
            Samples.of(metric, "ns", values.stream().mapToDouble(Double::doubleValue).toArray()));
      }
    }
    run.count(MISSED, Quantity.count(all.missed));
  }

  /** What became of messages. */
  private static final class Responses {
    private final List<Double> nanos = new ArrayList<>();
    private final List<Double> urgent = new ArrayList<>();
    private final List<Double> completion = new ArrayList<>();
    private long missed;

    void add(Sender sender, List<Message> messages) {
      for (Message message : messages) {
        double response = sender.response(message);
        nanos.add(response);
        if (message.urgent()) {
          urgent.add(response);
        }
        if (sender.missed(message)) {
          missed++;
        }
      }
      completion.add((double) sender.nanos());
    }
  }
}
