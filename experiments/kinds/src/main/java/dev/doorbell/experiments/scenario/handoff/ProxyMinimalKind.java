package dev.doorbell.experiments.scenario.handoff;

import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Cost of having the CPU post, without the device library: launches of proxy_minimal. One probe for
 * times, alone or beside a background of bulk messages; all threads for rates.
 */
public final class ProxyMinimalKind extends ExperimentKind<HandoffSettings> {
  private static final String KERNEL = "proxy_minimal";
  private static final String RATE = "rate";
  private static final String POST = "post";
  private static final String DONE = "done";
  private static final String CQE = "cqe";
  private static final String ROUND_TRIP = "round-trip";
  private static final Set<String> TIMES = Set.of(POST, DONE, CQE, ROUND_TRIP);
  private static final int PUTS_IN_VIRTUAL_TIME = 2048;
  private static final int PUTS_IN_WALL_TIME = 1 << 13;
  private static final int FEWEST_OF_A_THREAD = 24;
  private static final int WARMUP_SHARE = 4;

  public ProxyMinimalKind() {
    super("kernel: " + KERNEL, "DB-P026", HandoffSettings.class);
  }

  @Override
  protected Map<String, Integer> numbers(HandoffSettings of) {
    boolean times = !Collections.disjoint(of.point().metrics(), TIMES);
    return Map.of(
        "times",
        times ? 1 : 0,
        "producers",
        times ? of.company() : of.producers(),
        "for_them",
        times ? of.rings() - 1 : of.rings(),
        "stride",
        of.stride(),
        "inline_bytes",
        CommandEntry.INLINE_BYTES);
  }

  @Override
  protected void check(HandoffSettings of, ExecutionBackend backend, Checks checks) {
    super.check(of, backend, checks);
    checks.refuseIf(
        backend instanceof ExecutionBackend.Cuda && of.counter() != MemoryKind.HOST,
        "counter gpu on a real GPU",
        "the CPU cannot store to its memory",
        "use counter: host");
  }

  @Override
  protected void measure(PointRun<HandoffSettings> run) throws PointFailure {
    HandoffSettings of = run.settings();
    List<Samples> samples = new ArrayList<>();
    if (run.asksFor(RATE)) {
      samples.add(rates(run));
    }
    if (run.asksFor(POST) || run.asksFor(DONE) || run.asksFor(CQE)) {
      HandoffBench.Load load = probe(run, 2, false);
      try (HandoffBench bench = new HandoffBench(run, of, load, run.point().seed())) {
        bench.launch();
        long[] post = bench.samples(0);
        long[] done = bench.samples(1);
        samples.add(Samples.of(POST, "ns", post));
        samples.add(Samples.of(DONE, "ns", done));
        samples.add(
            Samples.of(
                CQE,
                "ns",
                IntStream.range(0, post.length).mapToLong(i -> done[i] - post[i]).toArray()));
      }
    }
    if (run.asksFor(ROUND_TRIP)) {
      HandoffBench.Load load = probe(run, 1, true);
      try (HandoffBench bench = new HandoffBench(run, of, load, run.point().seed())) {
        samples.add(Samples.of(ROUND_TRIP, "ns", bench.launch().samples(0)));
      }
    }
    run.report(samples);
  }

  private static HandoffBench.Load probe(
      PointRun<HandoffSettings> run, int samples, boolean bounces) {
    HandoffSettings of = run.settings();
    return new HandoffBench.Load(
        LaunchConfig.of(1 + of.background(), of.threads()),
        1 + of.company(),
        run.point().samples(),
        run.point().warmup(),
        1,
        samples,
        bounces);
  }

  private static Samples rates(PointRun<HandoffSettings> run) throws PointFailure {
    HandoffSettings of = run.settings();
    int puts =
        run.backend() instanceof ExecutionBackend.Virtual
            ? PUTS_IN_VIRTUAL_TIME
            : PUTS_IN_WALL_TIME;
    int each = Math.max(FEWEST_OF_A_THREAD, puts / of.producers());
    HandoffBench.Load load =
        new HandoffBench.Load(
            LaunchConfig.of(of.blocks(), of.threads()),
            of.producers(),
            each,
            each / WARMUP_SHARE,
            of.window(),
            0,
            false);
    double[] rates = new double[run.point().launches()];
    for (int launch = 0; launch < rates.length; launch++) {
      try (HandoffBench bench = new HandoffBench(run, of, load, run.point().seed() + launch)) {
        rates[launch] = 1e3 * each * of.producers() / bench.launch().nanos();
      }
    }
    return Samples.of(RATE, "M/s", rates);
  }
}
