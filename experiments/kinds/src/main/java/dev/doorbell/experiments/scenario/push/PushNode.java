package dev.doorbell.experiments.scenario.push;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.push.generated.PushCredit;
import dev.doorbell.core.push.generated.PushRingView;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.scenario.kernel.KernelStatus;
import dev.doorbell.kernels.KernelCatalogue;
import dev.doorbell.push.PushEngine;
import dev.doorbell.push.PushEvent.PushObserver;
import dev.doorbell.push.PushOptions;
import dev.doorbell.push.SendRing;
import dev.doorbell.push.network.Network;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A GPU and a push engine of one rank, with what the GPU sends. */
final class PushNode implements AutoCloseable {
  private static final String KERNEL = "push_ring";

  /** The kernel for several blocks to a ring. */
  private static final String SHARED_KERNEL = "push_shared";

  private static final KernelCatalogue CATALOGUE = KernelCatalogue.load();

  private final Gpu gpu;
  private final PushEngine engine;
  private final List<SendRing> rings = new ArrayList<>();
  private final List<Registers> registers = new ArrayList<>();
  private final List<Memory> credits = new ArrayList<>();
  private final List<Memory> counters = new ArrayList<>();
  private @Nullable PushTraffic traffic;
  private @Nullable Memory payload;
  private @Nullable Memory samples;
  private @Nullable Memory stamps;
  private @Nullable KernelStatus status;
  private @Nullable Launch launch;

  /**
   * Registers of a ring as kernels address them: {@code moved} is added to addresses of on-chip
   * memory.
   */
  private record Registers(long moved, long doorbell) {}

  PushNode(Fabric fabric, Gpu gpu, Network network, PushOptions options, PushObserver observer) {
    this.gpu = gpu;
    this.engine =
        new PushEngine(fabric, Locus.nic(gpu.locus().rank(), 0), network, options, observer);
  }

  PushEngine engine() {
    return engine;
  }

  SendRing ring(int index) {
    return rings.get(index);
  }

  /** The counters of a ring's producer, which kernels move. */
  Memory counters(int index) {
    return counters.get(index);
  }

  Memory inbox(long bytes) {
    return gpu.allocate(MemoryKind.DEVICE, bytes, "inbox");
  }

  void prepare(PushTraffic wanted, long seed) {
    traffic = wanted;
    Memory data = allocate((long) wanted.total() * wanted.bytes, "payload");
    byte[] bytes = new byte[wanted.total() * wanted.bytes];
    new SplittableRandom(seed).nextBytes(bytes);
    data.putBytes(0, bytes);
    payload = data;
    for (int i = 0; i < wanted.rings; i++) {
      openRing(wanted);
    }
    samples = allocate((long) wanted.total() * Long.BYTES, "samples");
    stamps = allocate(2L * Long.BYTES, "stamps");
    status = new KernelStatus(gpu, (long) wanted.blocks() * wanted.threads);
  }

  private static String ptx(String kernel) {
    return CATALOGUE
        .find(kernel)
        .map(CATALOGUE::ptx)
        .orElseThrow(() -> new IllegalStateException("this build has no kernel " + kernel));
  }

  private void openRing(PushTraffic wanted) {
    long first = wanted.shape.first();
    Memory credit = allocate(PushCredit.BYTES, "credit");
    credit.putLong(PushCredit.RELEASED, first);
    credit.putLong(PushCredit.ACKNOWLEDGED, first);
    Memory own = allocate(PushRingView.COUNTERS_BYTES, "push counters");
    own.putLong(PushRingView.COUNTERS_RESERVED, first);
    own.putLong(PushRingView.COUNTERS_SEEN, first);
    own.putLong(PushRingView.COUNTERS_RUNG, first);
    own.putLong(PushRingView.COUNTERS_COMMITTED, first);
    SendRing ring = engine.openRing(wanted.shape, credit.address());
    registers.add(
        new Registers(
            moved(ring.onChip()), gpu.mapDeviceRegisters(ring.doorbellAddress(), Long.BYTES)));
    credits.add(credit);
    counters.add(own);
    rings.add(ring);
  }

  /** Makes on-chip memory addressable; returns how far kernels' addresses lie from the host's. */
  private long moved(Allocation chip) {
    return gpu.mapDeviceRegisters(chip.address(), chip.size()) - chip.address();
  }

  /** Starts the kernel; message n arrives at {@code remote + n * bytes}. */
  Launch launch(long remote, long timeoutNanos) {
    PushTraffic wanted = require(traffic);
    Memory views = allocate((long) wanted.rings * PushRingView.BYTES, "push rings");
    for (int i = 0; i < wanted.rings; i++) {
      int destination = wanted.firstDestination + (wanted.spread ? i : 0);
      SendRing ring = rings.get(i);
      Registers at = registers.get(i);
      PushRingView view =
          new PushRingView(
              ring.headers() + at.moved(),
              ring.payload() + at.moved(),
              ring.recordAddress() + at.moved(),
              at.doorbell(),
              credits.get(i).address(),
              counters.get(i).address(),
              wanted.deadlineNanos,
              wanted.shape.entries(),
              wanted.shape.slots(),
              wanted.shape.slotBytes(),
              wanted.batch,
              ring.number(),
              wanted.destinations,
              destination);
      views.putBytes((long) i * PushRingView.BYTES, view.encode());
    }
    JobView job = new JobView();
    job.staging = views.address();
    job.local = require(payload).address();
    job.remote = remote;
    job.bytes = wanted.bytes;
    job.stride = wanted.bytes;
    job.iterations = wanted.messages / wanted.producers;
    job.qpCount = wanted.rings;
    job.samples = require(samples).address();
    job.stamps = require(stamps).address();
    job.status = require(status).address();
    job.opcode = wanted.flags;
    long[] gaps = wanted.gaps;
    if (gaps != null) {
      Memory waits = allocate((long) gaps.length * Long.BYTES, "gaps");
      waits.write(0, MemorySegment.ofArray(gaps));
      job.operand = waits.address();
    }
    Memory jobs = allocate(JobView.BYTES, "job");
    jobs.putBytes(0, job.encode());
    String kernel = wanted.producers > 1 ? SHARED_KERNEL : KERNEL;
    GpuModule module = gpu.load(kernel, ptx(kernel));
    KernelArguments arguments = new KernelArguments();
    arguments.add(0L);
    arguments.add(jobs);
    Launch started =
        gpu.launch(
            module.kernel(kernel),
            LaunchConfig.of(wanted.blocks(), wanted.threads).withTimeout(timeoutNanos),
            arguments,
            gpu.createStream());
    launch = started;
    return started;
  }

  boolean done() {
    return require(launch).done();
  }

  /** The first status that is not ok, or {@link Abi#OK}. */
  int outcome() {
    require(launch).check();
    return require(status).first();
  }

  /** Nanoseconds for which each message waited for room; -1 for one that was dropped. */
  long[] waits() {
    Memory memory = require(samples);
    long[] values = new long[(int) (memory.size() / Long.BYTES)];
    memory.read(0, MemorySegment.ofArray(values));
    return values;
  }

  long started() {
    return require(stamps).getLong(0);
  }

  long ended() {
    return require(stamps).getLong(Long.BYTES);
  }

  int firstMissing(Memory inbox, long offset) {
    PushTraffic wanted = require(traffic);
    byte[] sent = require(payload).getBytes(0, wanted.total() * wanted.bytes);
    byte[] arrived = inbox.getBytes(offset, sent.length);
    int at = Arrays.mismatch(sent, arrived);
    return at < 0 ? -1 : at / wanted.bytes;
  }

  @Nullable String mismatch(Memory inbox, long offset) {
    PushTraffic wanted = require(traffic);
    int size = wanted.bytes;
    byte[] sent = require(payload).getBytes(0, wanted.total() * size);
    byte[] arrived = inbox.getBytes(offset, sent.length);
    long[] waits = waits();
    for (int n = 0; n < waits.length; n++) {
      int from = n * size;
      boolean dropped = waits[n] < 0;
      int at =
          dropped
              ? Arrays.mismatch(new byte[size], Arrays.copyOfRange(arrived, from, from + size))
              : Arrays.mismatch(sent, from, from + size, arrived, from, from + size);
      if (at >= 0) {
        return "byte %d of message %d%s: 0x%02x instead of 0x%02x"
            .formatted(
                at,
                n,
                dropped ? ", which was dropped" : "",
                arrived[from + at] & 0xff,
                dropped ? 0 : sent[from + at] & 0xff);
      }
    }
    return null;
  }

  private Memory allocate(long bytes, String label) {
    return gpu.allocate(MemoryKind.DEVICE, bytes, label);
  }

  private static <T> T require(@Nullable T value) {
    if (value == null) {
      throw new IllegalStateException("the node was not prepared or its kernel not launched");
    }
    return value;
  }

  @Override
  public void close() {
    engine.close();
  }
}
