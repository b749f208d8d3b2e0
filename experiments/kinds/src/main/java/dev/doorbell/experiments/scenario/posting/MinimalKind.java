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
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.QueueSettings;
import dev.doorbell.experiments.scenario.kind.QueueSettings.Dma;
import dev.doorbell.experiments.scenario.kind.QueueSettings.Scope;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
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

  /** A CQE that another poster has written over is known by the 16 bits of its WQE's number. */
  private static final int MOST_SHARED_DEPTH = 1 << 14;

  private static final int WARP = 32;

  /** Control and address segments of a WQE, and the length of what it carries. */
  private static final int AROUND_INLINE = 36;

  /** A WQE says its length in units of 16 bytes by 6 bits. */
  private static final int MOST_INLINE = 63 * 16 - AROUND_INLINE;

  /** Bytes of an inline payload that fit behind its length in 16 bytes. */
  private static final int INLINE_OF_DATA_SEGMENT = 12;

  /** Bytes of an address vector. */
  private static final int VECTOR = 48;

  private static final int BLOCK = 64;
  private static final int WORD = 8;
  private static final long MOST_BYTES = 256L << 20;
  private static final int MOST_REST = 1_000_000;
  private static final long NANOS_A_POINT = 300_000_000L;
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
    super(
        "kernel: " + KERNEL,
        "DB-P026",
        Settings.class,
        RATE,
        "post",
        "done",
        "cqe",
        "look",
        ROUND_TRIP);
  }

  @Override
  protected void check(Settings of, Checks checks) {
    checkAlone(of.point, "it measures what an HCA costs without the device library", checks);
    boolean inline = of.path == TransferPath.PUSH_INLINE;
    checks.refuseIf(
        of.path != TransferPath.PULL && !inline,
        "path " + of.path.word(),
        "use pull (payload by pointer) or push.inline");
    int mostInline = MOST_INLINE - (of.isDynamic() ? VECTOR : 0);
    checks.refuseIf(
        inline && of.size > mostInline,
        "%d bytes inline".formatted(of.size),
        "a WQE has no more bits for its length",
        "use at most %d".formatted(mostInline));
    long messages = (long) of.blocks * of.threads + of.company();
    checks.refuseIf(
        messages * of.stride() > MOST_BYTES,
        "%d threads with messages of %d bytes".formatted(messages, of.stride()),
        "use at most 256 MiB of messages");
    checks.refuseIf(of.scope == Scope.BLOCK, "scope block", "use thread or warp");
    checks.refuseIf(
        of.warps() && of.threads % WARP != 0,
        "%d threads in scope warp".formatted(of.threads),
        "a poster is a warp, of 32 threads",
        "use whole warps: threads: 32");
    checks.refuseIf(
        of.warps() && of.batch != 1,
        "batch %d in scope warp".formatted(of.batch),
        "a warp rings once for its 32 lanes",
        "leave batch out");
    checks.refuseIf(
        of.doorbells() == 0,
        "%d blocks in a ring of %d"
            .formatted(of.wqesOfDoorbell() * of.blocksOfWqe(), of.queues.depth()),
        "use a larger depth");
    checks.refuseIf(
        of.alone() && !of.isDynamic() && of.posters() > of.qps,
        "%d posters share %d queue %s, and sharing is own"
            .formatted(of.posters(), of.qps, of.qps == 1 ? "pair" : "pairs"),
        "indices in registers of one are unknown to the others",
        "use sharing: lock or turns, or a queue pair for each poster");
    boolean visits = of.sharing == Sharing.VISITS && of.qps != of.posters();
    checks.refuseIf(
        visits && of.posters() > 0 && of.qps % of.posters() != 0,
        "%d queue pairs for %d posters to visit".formatted(of.qps, of.posters()),
        "each poster has queue pairs of its own, as many as the others",
        "use a multiple of the posters");
    checks.refuseIf(
        visits && of.point.metrics().contains(ROUND_TRIP),
        ROUND_TRIP + " of a poster that visits several queue pairs",
        "one word goes to and fro between two queue pairs",
        "use sharing: own");
    checks.refuseIf(
        !of.alone() && of.queues.depth() > MOST_SHARED_DEPTH,
        "a shared ring of %d".formatted(of.queues.depth()),
        "use depth: %d at most".formatted(MOST_SHARED_DEPTH));
    checks.refuseIf(
        of.state == Held.REGISTERS && of.sharing == Sharing.VISITS && !of.isDynamic(),
        "state registers with sharing visits",
        "a poster that comes to another queue pair reads that one's state",
        "use state: memory, or sharing: own");
    checks.refuseIf(
        of.state == Held.REGISTERS && inline && of.point.metrics().contains(ROUND_TRIP),
        ROUND_TRIP + " of an inline payload in registers",
        "its last word is another one each time",
        "use state: memory, or path: pull");
    checkCpu(of, checks);
    checkBackground(of, checks);
    checkReadBack(of, inline, checks);
    checks.refuseIf(of.rest > MOST_REST, "rest " + of.rest, "use at most 1000000");
    boolean bounces = of.point.metrics().contains(ROUND_TRIP);
    checks.refuseIf(
        bounces && of.point.metrics().size() > 1,
        ROUND_TRIP + " beside other metrics",
        "give it a point of its own");
    checks.refuseIf(
        bounces && (of.posters() != 1 || of.warps()),
        ROUND_TRIP + " of several posters",
        "one word goes to and fro between two of them",
        "use threads: 1, blocks: 1, scope: thread");
    checks.refuseIf(
        bounces && of.direction != PutBench.Direction.ONE,
        ROUND_TRIP + " with a direction",
        "both ranks post, one after the other",
        "leave direction out");
    checks.refuseIf(
        bounces && (of.size < WORD || of.size % WORD != 0),
        "round trips of %d bytes".formatted(of.size),
        "the last word is what the peer waits for",
        "use multiples of 8");
  }

  private static void checkReadBack(Settings of, boolean inline, Checks checks) {
    if (of.order != PostOrder.READ_BACK) {
      return;
    }
    checks.refuseIf(
        of.sharing != Sharing.OWN
            || of.warps()
            || of.isDynamic()
            || of.background > 0
            || of.posting != PosterSettings.Posting.DIRECT
            || of.point.metrics().contains(ROUND_TRIP),
        "order read-back of other posters than threads with a queue pair each",
        "the kernel has it for those alone",
        "use sharing: own, scope: thread, posting: direct, transport: rc, background: 0");
    checks.refuseIf(
        of.state != Held.REGISTERS || (inline && of.size > INLINE_OF_DATA_SEGMENT),
        "order read-back with state %s and %d bytes"
            .formatted(of.state.name().toLowerCase(Locale.ROOT), of.size),
        "it compares with registers, which hold WQEs of 48 bytes",
        "use state: registers, and path: pull or size: 12 at most");
  }

  private static void checkCpu(Settings of, Checks checks) {
    checks.refuseIf(
        of.posting == PosterSettings.Posting.PROXY,
        "posting proxy",
        "the CPU posts for proxy_minimal",
        "use kernel: proxy_minimal");
    checks.refuseIf(
        of.proxies > of.queuePairs(),
        "%d CPU threads for %d queue pairs".formatted(of.proxies, of.queuePairs()),
        "use proxies: %d at most".formatted(of.queuePairs()));
  }

  private static void checkBackground(Settings of, Checks checks) {
    if (of.background == 0) {
      return;
    }
    checks.refuseIf(
        Collections.disjoint(of.point.metrics(), TIMES) || of.point.metrics().contains(RATE),
        "a background of other metrics than times",
        "use metrics: [post, done], or background: 0");
    checks.refuseIf(
        of.blocks > 1 || of.warps(),
        "a background beside several posters or a warp",
        "the probe is one thread",
        "use blocks: 1, scope: thread");
    checks.refuseIf(
        of.sharing == Sharing.VISITS,
        "a background with sharing visits",
        "probe and background keep to their queue pairs",
        "use sharing: own, lock, turns or marks");
    checks.refuseIf(
        of.await != Awaited.PUT,
        "await %s beside a background".formatted(of.await.name().toLowerCase(Locale.ROOT)),
        "the background's queue pairs are never empty",
        "use await: put");
    checks.refuseIf(
        of.probe == Probe.OWN && of.queuePairs() < 2,
        "one queue pair for a probe of its own and for its background",
        "use qps: 2, or probe: shared");
    checks.refuseIf(
        of.probeShares() && of.blocksOfWqe() != of.blocksOfBulk(),
        "%d bytes inline on a shared queue pair".formatted(of.size),
        "WQEs of a ring that posters share have one length, the background's",
        "use at most %d, or probe: own"
            .formatted(of.blocksOfBulk() * BLOCK - AROUND_INLINE - (of.isDynamic() ? VECTOR : 0)));
    checks.refuseIf(
        of.sharing == Sharing.OWN && (of.probeShares() || of.company() >= of.queuePairs()),
        "%d threads of the background on queue pairs of their own, of which there are %d"
            .formatted(of.company(), of.probeShares() ? 0 : of.queuePairs() - 1),
        "use sharing: lock or turns, or probe: own and qps: %d".formatted(of.company() + 1));
  }

  @Override
  protected long estimateNanos(Settings of) {
    return NANOS_A_POINT * Math.max(1, of.posters() / 2);
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
