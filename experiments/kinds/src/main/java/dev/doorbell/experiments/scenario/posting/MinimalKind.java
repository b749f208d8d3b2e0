package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.PostOrder;
import dev.doorbell.core.queue.generated.MinimalOperand;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kernel.KernelJob;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.QueueSettings;
import dev.doorbell.experiments.scenario.kind.QueueSettings.Dma;
import dev.doorbell.experiments.scenario.kind.QueueSettings.Scope;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Cost of an HCA and of a GPU's instructions without the device library: launches of put_minimal,
 * put_minimal_rare or put_dynamic, whose puts take the fewest accesses that an HCA requires.
 */
public final class MinimalKind extends ExperimentKind<MinimalKind.Settings> {
  private static final String KERNEL = "put_minimal";

  /** Its twin for what is rarely measured, which would make its code longer. */
  private static final String RARE = "put_minimal_rare";

  /** Its twin whose WQEs have address vectors. */
  private static final String DYNAMIC = "put_dynamic";

  private static final String RATE = "rate";
  private static final String ROUND_TRIP = "round-trip";
  private static final Set<String> TIMES = Set.of("post", "done", "cqe", "look");

  private static final int WARP = 32;

  /** Control and address segments of a WQE, and the length of what it carries. */
  private static final int AROUND_INLINE = 36;

  /** A WQE says its length in units of 16 bytes by 6 bits. */
  private static final int MOST_INLINE = 63 * 16 - AROUND_INLINE;

  /** Bytes of an address vector. */
  private static final int VECTOR = 48;

  private static final int BLOCK = 64;
  private static final int WARMUP_SHARE = 4;

  /** In virtual time rates settle within a few windows. */
  private static final int WINDOWS = 4;

  private static final int FEWEST_DOORBELLS = 24;

  /** Ways of sharing a queue pair, by the kernel's numbers. */
  enum Sharing {
    OWN(0),
    LOCK(1),
    TURNS(2),
    MARKS(3),
    VISITS(4);

    private final int number;

    Sharing(int number) {
      this.number = number;
    }
  }

  enum Signaled {
    ALL,
    LAST
  }

  enum Looks {
    LAST,
    EACH
  }

  enum Held {
    MEMORY,
    REGISTERS
  }

  enum Awaited {
    PUT,
    QUEUE,
    ALL
  }

  enum Transport {
    RC,
    DC
  }

  /** Owner of the timed thread's queue pair. */
  enum Probe {
    OWN,
    SHARED
  }

  record Settings(
      Point point,
      int size,
      QueueSettings queues,
      int threads,
      int blocks,
      int qps,
      MemoryKind payload,
      Dma dma,
      TransferPath path,
      Scope scope,
      int batch,
      int window,
      PostOrder order,
      Sharing sharing,
      Signaled signaled,
      Looks looks,
      Held state,
      Held keys,
      Awaited await,
      PutBench.Direction direction,
      Transport transport,
      PosterSettings.Posting posting,
      int proxies,
      int background,
      int bulk,
      Probe probe,
      int rest) {

    boolean alone() {
      return sharing == Sharing.OWN || sharing == Sharing.VISITS;
    }

    boolean warps() {
      return scope == Scope.WARP;
    }

    int wqesOfDoorbell() {
      return warps() ? WARP : batch;
    }

    int blocksOfWqe() {
      return blocksOfWqe(path == TransferPath.PUSH_INLINE ? size : 0);
    }

    int blocksOfBulk() {
      return blocksOfWqe(0);
    }

    private int blocksOfWqe(int inline) {
      return Math.ceilDiv(AROUND_INLINE + inline + (isDynamic() ? VECTOR : 0), BLOCK);
    }

    boolean visitsSeveral() {
      return sharing == Sharing.VISITS && !isDynamic() && qps > posters();
    }

    /** Returns true if put_minimal lacks the way of measuring the rate or round trips. */
    boolean isRare() {
      boolean bounces = point.metrics().contains(ROUND_TRIP);
      boolean registers = state == Held.REGISTERS;
      boolean marks = sharing == Sharing.MARKS;
      if (posting == PosterSettings.Posting.CPU_RUNG) {
        return registers || marks || sharing == Sharing.VISITS || bounces || background > 0;
      }
      return bounces
          ? registers || keys == Held.MEMORY
          : registers && (marks || sharing == Sharing.LOCK);
    }

    boolean isDynamic() {
      return transport == Transport.DC;
    }

    int posters() {
      return blocks * (warps() ? threads / WARP : threads);
    }

    int doorbells() {
      return Math.min(window, queues.depth() / (wqesOfDoorbell() * blocksOfWqe()));
    }

    int queuePairs() {
      if (!isDynamic()) {
        return qps;
      }
      if (background == 0) {
        return alone() ? posters() : 1;
      }
      return probeShares() ? 1 : 1 + (alone() ? company() : 1);
    }

    int company() {
      return background * threads;
    }

    boolean probeShares() {
      return background > 0 && probe == Probe.SHARED;
    }

    int stride() {
      return background > 0 ? Math.max(size, bulk) : size;
    }

    PosterSettings poster() {
      return new PosterSettings(
          stride(),
          queues,
          threads,
          blocks + background,
          queuePairs(),
          posting,
          PosterSettings.Ringing.RECORD_FIRST,
          PosterSettings.Fence.NEEDED,
          payload,
          dma,
          proxies);
    }

    Endpoint.Shape shape() {
      return queues.endpoint(PosterSettings.KERNEL_NANOS / 2).exclusive(alone()).build();
    }
  }

  public MinimalKind() {
    super("kernel: " + KERNEL, "DB-P026", Settings.class);
  }

  @Override
  protected Map<String, Integer> numbers(Settings of) {
    Map<String, Integer> numbers = new HashMap<>();
    int vector = of.isDynamic() ? VECTOR : 0;
    numbers.put("posters", of.posters());
    numbers.put("pairs", of.queuePairs());
    numbers.put("company", of.company());
    numbers.put("stride", of.stride());
    numbers.put("wqes", of.wqesOfDoorbell());
    numbers.put("doorbells", of.doorbells());
    numbers.put("wqe", of.blocksOfWqe());
    numbers.put("bulk_wqe", of.blocksOfBulk());
    numbers.put("most_inline", MOST_INLINE - vector);
    numbers.put("inline_of_bulk", of.blocksOfBulk() * BLOCK - AROUND_INLINE - vector);
    return numbers;
  }

  @Override
  protected void measure(PointRun<Settings> run) throws PointFailure {
    Settings of = run.settings();
    boolean bounces = run.asksFor(ROUND_TRIP);
    List<Samples> samples = new ArrayList<>();
    try (PutBench bench =
        new PutBench(
            run,
            of.poster(),
            of.shape(),
            of.background > 0 ? 1 + of.company() : of.poster().allThreads(),
            bounces ? PutBench.Direction.BOTH : of.direction,
            of.isDynamic() ? of.qps : 0)) {
      if (of.keys == Held.MEMORY) {
        bench.putKeys();
      }
      if (of.background > 0) {
        bench.shorten(of.size, of.bulk);
      }
      if (bounces) {
        samples.add(roundTrips(run, bench));
      }
      if (run.asksFor(RATE)) {
        samples.add(rates(run, bench));
      }
      if (!Collections.disjoint(run.point().metrics(), TIMES)) {
        samples.addAll(times(run, bench));
      }
    }
    run.report(samples);
  }

  private static String kernel(Settings of) {
    return of.isDynamic() ? DYNAMIC : of.isRare() ? RARE : KERNEL;
  }

  private static String kernelOfTimes(Settings of) {
    return of.visitsSeveral() ? RARE : kernel(of);
  }

  private static Samples rates(PointRun<Settings> run, PutBench bench) throws PointFailure {
    Settings of = run.settings();
    long puts = of.poster().putsOfThread(1, run.backend());
    // The posters of a queue pair share its window.
    long window =
        Math.ceilDiv((long) of.doorbells() * Math.min(of.queuePairs(), of.posters()), of.posters());
    long each =
        Math.max(
            Math.max(FEWEST_DOORBELLS, WINDOWS * window),
            puts / of.posters() / of.wqesOfDoorbell());
    long warmup = Math.max(each / WARMUP_SHARE, window);
    if (of.sharing == Sharing.VISITS) {
      // Each queue pair is visited equally often, so that the next launch finds them alike.
      int round = Math.max(1, of.qps / of.posters());
      each = Math.ceilDiv(each, round) * round;
      warmup = Math.ceilDiv(warmup, round) * round;
    }
    double[] rates = new double[run.point().launches()];
    KernelJob kernel = bench.kernel(kernel(of));
    // What is in flight when the count begins ends within it, and the last answer is awaited: in
    // virtual time a launch of half the length, which has the same ends, is taken off.
    boolean exact = run.backend() instanceof ExecutionBackend.Virtual;
    long count = exact ? 2 * each : each;
    long ends = exact ? nanos(of, bench, kernel, each, warmup) : 0;
    for (int launch = 0; launch < rates.length; launch++) {
      long nanos = nanos(of, bench, kernel, count, warmup) - ends;
      rates[launch] = 1e3 * each * of.posters() * of.wqesOfDoorbell() / Math.max(1, nanos);
    }
    return Samples.of(RATE, "M/s", rates);
  }

  /** From the first of {@code count} doorbells of each poster to the last answer. */
  private static long nanos(Settings of, PutBench bench, KernelJob kernel, long count, long warmup)
      throws PointFailure {
    JobView job = job(of, bench.job(count, warmup), of.doorbells());
    return bench.launch(kernel, job, true, () -> null);
  }

  private static List<Samples> times(PointRun<Settings> run, PutBench bench) throws PointFailure {
    int count = run.point().samples();
    KernelJob kernel = bench.kernel(kernelOfTimes(run.settings()));
    Memory memory = kernel.allocate(MemoryKind.DEVICE, 3L * Long.BYTES * count, "samples");
    JobView job = job(run.settings(), bench.job(count, run.point().warmup()), 1);
    job.samples = memory.address();
    job.chunkBytes = run.settings().rest;
    if (run.settings().background > 0) {
      bench.putWords();
      job.stagingBytes = run.settings().bulk;
      // The job's encoding swaps keys.
      job.stagingKey = BigEndian.swap(run.settings().doorbells());
    }
    bench.launch(kernel, job, true, () -> null);
    long[] post = KernelJob.longs(memory, 0, count);
    long[] done = KernelJob.longs(memory, count, count);
    long[] cqe = new long[count];
    for (int i = 0; i < count; i++) {
      cqe[i] = done[i] - post[i];
    }
    return List.of(
        Samples.of("post", "ns", post),
        Samples.of("done", "ns", done),
        Samples.of("cqe", "ns", cqe),
        Samples.of("look", "ns", KernelJob.longs(memory, 2 * count, count)));
  }

  private static Samples roundTrips(PointRun<Settings> run, PutBench bench) throws PointFailure {
    int count = run.point().samples();
    KernelJob kernel = bench.kernel(kernel(run.settings()));
    Memory memory = kernel.allocate(MemoryKind.DEVICE, (long) Long.BYTES * count, "samples");
    JobView job = job(run.settings(), bench.job(count, run.point().warmup()), 1);
    job.samples = memory.address();
    bench.bounce(kernel, job);
    return Samples.of(ROUND_TRIP, "ns", KernelJob.longs(memory, 0, count));
  }

  private static JobView job(Settings of, JobView job, int window) {
    job.bytes = of.size;
    job.opcode = of.path == TransferPath.PUSH_INLINE ? JobView.OP_PUT_INLINE : JobView.OP_PUT;
    job.scope = of.warps() ? JobView.SCOPE_WARP : JobView.SCOPE_THREAD;
    job.operand =
        of.order.number()
            | ((long) of.sharing.number << MinimalOperand.SHARING_SHIFT)
            | (of.signaled == Signaled.LAST ? MinimalOperand.LAST_ONLY : 0)
            | (of.looks == Looks.EACH ? MinimalOperand.EACH_CQE : 0)
            | (of.state == Held.REGISTERS ? MinimalOperand.REGISTERS : 0)
            | (of.await == Awaited.ALL ? MinimalOperand.AWAITS_ALL : 0)
            | (of.await == Awaited.QUEUE ? MinimalOperand.AWAITS_QUEUE : 0)
            | (of.posting == PosterSettings.Posting.CPU_RUNG ? MinimalOperand.RUNG_BY_CPU : 0)
            | (of.probeShares() ? MinimalOperand.SHARED_PROBE : 0);
    job.compare = of.wqesOfDoorbell();
    job.window = window;
    return job;
  }
}
