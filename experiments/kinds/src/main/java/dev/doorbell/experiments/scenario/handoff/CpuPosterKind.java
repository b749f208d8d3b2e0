package dev.doorbell.experiments.scenario.handoff;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kernel.GuardedMemory;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.ExperimentKind.SettingName;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.QueueSettings;
import dev.doorbell.experiments.scenario.kind.QueueSettings.Dma;
import dev.doorbell.experiments.scenario.kind.WorldTrial;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.proxy.Chaining;
import dev.doorbell.proxy.HostPutLoop;
import dev.doorbell.proxy.SendQueueAccess;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Cost of a put that a CPU thread posts on its own account, as proxy_minimal's CPU threads post: no
 * GPU is in the path, but for a payload in its memory.
 */
public final class CpuPosterKind extends ExperimentKind<CpuPosterKind.Settings> {
  private static final String KERNEL = "proxy_minimal";
  private static final String RATE = "rate";
  private static final String POST = "post";
  private static final String DONE = "done";
  private static final String CQE = "cqe";
  private static final String ROUND_TRIP = "round-trip";
  private static final String LATENCY = "latency";
  private static final Set<String> BOUNCES = Set.of(ROUND_TRIP, LATENCY);
  private static final Set<String> TIMES = Set.of(POST, DONE, CQE);
  private static final int RANKS = 2;
  private static final int RATE_ROUNDS = 3;
  private static final int PUTS = 2048;

  enum Poster {
    CPU
  }

  record Settings(
      Point point,
      Poster poster,
      int size,
      QueueSettings queues,
      MemoryKind payload,
      Dma dma,
      TransferPath path,
      HandoffSettings.Ringing ringing,
      int batch,
      int window,
      @SettingName("cpu_mhz") int cpuMhz) {
    boolean inline() {
      return path == TransferPath.PUSH_INLINE;
    }
  }

  public CpuPosterKind() {
    super("poster: cpu", "DB-P026", Settings.class);
  }

  @Override
  public boolean applies(Point point) {
    return point.has("poster") && point.text("poster").equals("cpu");
  }

  @Override
  protected void check(Settings of, Checks checks) {
    checks.refuseIf(
        !of.point.kernels().equals(List.of(KERNEL)),
        "poster cpu with kernel " + String.join(", ", of.point.kernels()),
        "it is what the CPU threads of %s do by themselves".formatted(KERNEL),
        "use kernel: " + KERNEL);
  }

  @Override
  protected Map<String, Integer> numbers(Settings of) {
    return Map.of("inline_bytes", CommandEntry.INLINE_BYTES);
  }

  @Override
  protected void measure(PointRun<Settings> run) throws PointFailure {
    Settings of = run.settings();
    int count = of.point.samples();
    int warmup = of.point.warmup();
    List<Samples> samples = new ArrayList<>();
    if (run.asksFor(RATE)) {
      double[] rates = new double[Math.min(count, RATE_ROUNDS)];
      for (int round = 0; round < rates.length; round++) {
        try (Exchange exchange = new Exchange(run, PUTS, of.window, of.batch, false, round)) {
          HostPutLoop putter = run.perform(exchange, HandoffSettings.KERNEL_NANOS).putter();
          rates[round] = 1e3 * (PUTS - PUTS / 4) / putter.nanosFrom(PUTS / 4);
        }
      }
      samples.add(Samples.of(RATE, "M/s", rates));
    }
    if (!Collections.disjoint(of.point.metrics(), TIMES)) {
      try (Exchange exchange = new Exchange(run, warmup + count, 1, 1, false, 0)) {
        HostPutLoop putter = run.perform(exchange, HandoffSettings.KERNEL_NANOS).putter();
        long[] post = new long[count];
        long[] cqe = new long[count];
        long[] done = new long[count];
        for (int i = 0; i < count; i++) {
          post[i] = putter.postNanos(warmup + i);
          cqe[i] = putter.awaitNanos(warmup + i);
          done[i] = post[i] + cqe[i];
        }
        samples.add(Samples.of(POST, "ns", post));
        samples.add(Samples.of(CQE, "ns", cqe));
        samples.add(Samples.of(DONE, "ns", done));
      }
    }
    if (!Collections.disjoint(of.point.metrics(), BOUNCES)) {
      try (Exchange exchange = new Exchange(run, warmup + count, 1, 1, true, 0)) {
        HostPutLoop putter = run.perform(exchange, HandoffSettings.KERNEL_NANOS).putter();
        long[] trips = new long[count];
        for (int i = 0; i < count; i++) {
          trips[i] = putter.awaitNanos(warmup + i);
        }
        samples.add(Samples.of(ROUND_TRIP, "ns", trips));
        samples.add(
            Samples.of(
                LATENCY, "ns", Arrays.stream(trips).mapToDouble(trip -> trip / 2.0).toArray()));
      }
    }
    run.report(samples);
  }

  private static final class Exchange extends WorldTrial {
    private final Settings of;
    private final int turns;
    private final boolean bounces;
    private final byte[] payload;
    private final List<Memory> outgoing = new ArrayList<>();
    private final List<MemoryRegion> outgoingRegions = new ArrayList<>();
    private final List<GuardedMemory> inboxes = new ArrayList<>();
    private final List<MemoryRegion> inboxRegions = new ArrayList<>();
    private final List<HostPutLoop> putters = new ArrayList<>();

    Exchange(PointRun<Settings> run, int turns, int window, int batch, boolean bounces, int round) {
      Settings of = run.settings();
      long seed = run.point().seed() + round;
      super(
          run.world()
              .seed(seed)
              .mtu(of.queues.mtu())
              .payload(of.payload)
              .mover(of.dma.mover(run, of.payload != MemoryKind.HOST))
              .open());
      this.of = of;
      this.turns = turns;
      this.bounces = bounces;
      Endpoint.Shape shape = of.queues.endpoint(HandoffSettings.KERNEL_NANOS / 2).build();
      Connection connection = own(Connection.open(world, shape, Connection.Ringing.GPU, 1));
      payload = new byte[of.size];
      new SplittableRandom(seed).nextBytes(payload);
      for (int rank = 0; rank < RANKS; rank++) {
        Memory sent = allocate(rank, of.size, "payload");
        sent.putBytes(0, payload);
        outgoing.add(sent);
        outgoingRegions.add(own(world.rank(rank).domain().register(sent, Endpoint.ALL_RIGHTS)));
        Memory target = allocate(rank, of.size + 2L * GuardedMemory.GUARD, "inbox");
        inboxes.add(new GuardedMemory(target, GuardedMemory.GUARD, of.size));
        inboxRegions.add(
            own(
                world
                    .rank(rank)
                    .domain()
                    .register(target, GuardedMemory.GUARD, of.size, Endpoint.ALL_RIGHTS)));
      }
      for (int rank = 0; rank < (bounces ? RANKS : 1); rank++) {
        SendQueueAccess access =
            SendQueueAccess.of(connection.endpoints(rank).getFirst().queuePair(), 0, 0);
        putters.add(
            own(
                new HostPutLoop(
                    world.fabric(),
                    Locus.cpu(rank),
                    HandoffSettings.prices(run),
                    of.ringing == HandoffSettings.Ringing.BLUEFLAME
                        ? access
                        : access.withoutBlueFlame(),
                    Chaining.of(batch),
                    task(rank, window))));
      }
    }

    private Memory allocate(int rank, long bytes, String label) {
      return own(world.rank(rank).gpu().allocate(of.payload, bytes, label));
    }

    private HostPutLoop.Task task(int rank, int window) {
      CommandEntry put = new CommandEntry();
      put.remoteAddress = inboxes.get(1 - rank).address();
      put.remoteKey = inboxRegions.get(1 - rank).rkey();
      if (of.inline()) {
        put.opcode = CommandEntry.OP_PUT_INLINE;
        put.inline(payload);
      } else {
        put.opcode = CommandEntry.OP_PUT;
        put.localAddress = outgoing.get(rank).address();
        put.localKey = outgoingRegions.get(rank).lkey();
        put.length = of.size;
      }
      if (!bounces) {
        return HostPutLoop.Task.puts(put, turns, window);
      }
      long word = (long) of.size - Long.BYTES;
      return new HostPutLoop.Task(
          put,
          turns,
          1,
          rank == 1,
          inboxes.get(rank).address() + word,
          of.inline() ? 0 : outgoing.get(rank).address() + word);
    }

    HostPutLoop putter() {
      return putters.getFirst();
    }

    @Override
    public List<Supplier<Launch>> prepare() {
      return List.of();
    }

    @Override
    public RunOutcome advance(BooleanSupplier launched, long nanos) {
      return fabric().run(() -> putters.stream().allMatch(HostPutLoop::done), nanos);
    }

    @Override
    public @Nullable String firstError() {
      return putters.stream().anyMatch(HostPutLoop::failed)
          ? "a put of the CPU thread ended with an error CQE"
          : null;
    }

    @Override
    public @Nullable String mismatch() {
      byte[] expected = payload.clone();
      if (bounces) {
        for (int i = 0; i < Long.BYTES; i++) {
          expected[of.size - Long.BYTES + i] = (byte) ((long) turns >>> (Byte.SIZE * i));
        }
      }
      for (int rank = 0; rank < putters.size(); rank++) {
        String wrong = inboxes.get(1 - rank).mismatch(expected);
        if (wrong != null) {
          return "rank %d: %s".formatted(1 - rank, wrong);
        }
      }
      return null;
    }

    @Override
    public long verifiedBytes() {
      return (long) of.size * putters.size();
    }
  }
}
