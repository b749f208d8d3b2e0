package dev.doorbell.experiments.workbench.calibration;

import static dev.doorbell.experiments.workbench.calibration.PriceKernels.ATOMIC;
import static dev.doorbell.experiments.workbench.calibration.PriceKernels.ATOMIC_WALK;
import static dev.doorbell.experiments.workbench.calibration.PriceKernels.CLOCKS;
import static dev.doorbell.experiments.workbench.calibration.PriceKernels.EMPTY;
import static dev.doorbell.experiments.workbench.calibration.PriceKernels.FENCE;
import static dev.doorbell.experiments.workbench.calibration.PriceKernels.FENCE_SYSTEM;
import static dev.doorbell.experiments.workbench.calibration.PriceKernels.ROUND_INSTRUCTIONS;
import static dev.doorbell.experiments.workbench.calibration.PriceKernels.ROUND_OF;
import static dev.doorbell.experiments.workbench.calibration.PriceKernels.STORE;
import static dev.doorbell.experiments.workbench.calibration.PriceKernels.STORE_FENCE;
import static dev.doorbell.experiments.workbench.calibration.PriceKernels.STORE_FENCE_SYSTEM;
import static dev.doorbell.experiments.workbench.calibration.PriceKernels.STRONG_LOAD;
import static dev.doorbell.experiments.workbench.calibration.PriceKernels.UNROLLED;
import static dev.doorbell.experiments.workbench.calibration.PriceKernels.WEAK_LOAD;
import static dev.doorbell.experiments.workbench.calibration.PriceKernels.WIDTHS;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.stats.Summary;
import dev.doorbell.experiments.workbench.calibration.Calibration.Measurement;
import dev.doorbell.experiments.workbench.calibration.Calibrator.Request;
import dev.doorbell.experiments.workbench.calibration.PriceKernels.Price;
import dev.doorbell.experiments.workbench.calibration.PriceRig.Workload;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Runs the price kernels on one GPU, one after the other. */
final class PriceBench implements AutoCloseable {
  private static final ValueLayout.OfLong U64 =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int LINE = 256;
  private static final int[] BLOCKS = {1, 8, 32, 132};

  private static final int LEAST_ACCESSES = 8;
  private static final int[] THREADS = {32, 256, 1024};

  private final Request request;
  private final Workload workload;
  private final PriceRig rig;
  private final GpuModule module;
  private final Memory device;
  private final Memory host;
  private final Memory out;
  private final List<Measurement> measurements = new ArrayList<>();
  private double nanosPerCycle = 1;

  /** Nanoseconds that a bandwidth kernel's stores take to drain at its end. */
  private double drain;

  private final Map<Integer, Double> empty = new HashMap<>();

  PriceBench(Request request, Fabric fabric, Gpu gpu, Workload workload) {
    this.request = request;
    this.workload = workload;
    rig = new PriceRig(fabric, gpu, workload, request.samples());
    module = rig.load("prices", PriceKernels.ptx());
    device = rig.device;
    host = rig.host;
    out = rig.out;
  }

  List<Measurement> measurements() {
    return measurements;
  }

  /** Measures everything; false when it was interrupted on the way. */
  boolean run() {
    List<Runnable> steps = new ArrayList<>(List.of(this::clocks, this::instructions));
    steps.addAll(prices());
    steps.add(this::loadsTogether);
    if (workload.copyBytes() > 0) {
      steps.add(this::copies);
    }
    for (int width : WIDTHS) {
      for (boolean stores : new boolean[] {true, false}) {
        for (int blocks : BLOCKS) {
          for (int threads : THREADS) {
            if (blocks * threads <= request.largestGrid()) {
              steps.add(() -> bandwidth(stores, width, host, blocks, threads));
              steps.add(() -> bandwidth(stores, width, device, blocks, threads));
            }
          }
        }
      }
    }
    for (Runnable step : steps) {
      if (request.interrupted().getAsBoolean()) {
        return false;
      }
      step.run();
    }
    return true;
  }

  private List<Runnable> prices() {
    int many = workload.rounds();
    int quick = workload.quickRounds();
    return List.of(
        () -> chain(WEAK_LOAD, "load", device, "weak load that misses the first cache"),
        () -> chain(STRONG_LOAD, "load.strong", device, "strong load, a poll"),
        () -> chain(STRONG_LOAD, "load.host", host, "strong load of host memory"),
        () -> self(WEAK_LOAD, "load.hit", device, quick, "weak load of one line"),
        () -> price(STORE, "store", device, 1, "weak store, 16 at once"),
        () -> price(STORE, "store.host", host, 1, "store to host memory, 16 at once"),
        () -> price(ATOMIC, "atomic", device, many, "atomic of GPU scope"),
        // The same lines as those of load.host: one may be much nearer than another.
        () -> chain(ATOMIC_WALK, "atomic.host", host, "atomic of system scope on host memory"),
        () -> price(FENCE, "fence.floor", device, many, "fence.gpu, nothing to drain"),
        () ->
            price(FENCE_SYSTEM, "fence.system.floor", device, many, "fence.sys, nothing to drain"),
        () -> price(STORE_FENCE, "fence", device, many, "store and fence.gpu"),
        () -> price(STORE_FENCE_SYSTEM, "fence.system", device, many, "store and fence.sys"),
        () -> price(STORE_FENCE, "fence.host", host, many, "store to host memory and fence.gpu"),
        () ->
            price(
                STORE_FENCE_SYSTEM,
                "fence.system.host",
                host,
                many,
                "store to host memory and fence.sys"));
  }

  private void clocks() {
    say("clocks");
    launch(CLOCKS, 1, 1, new KernelArguments().add(out).add(workload.clockNanos()));
    nanosPerCycle = (double) out.getLong(Long.BYTES) / out.getLong(0);
  }

  /** Cycles of the rounds without the operation, the readings of the clock included. */
  private double empty(int rounds) {
    return empty.computeIfAbsent(
        rounds, count -> Summary.of(cycles(EMPTY, device.address(), count), 1).median());
  }

  /**
   * Loads that each say where the next one goes: none begins before the last one has ended. They
   * find something new each time, or the virtual machine would let the thread rest as one that
   * polls.
   */
  private void chain(Price price, String name, Memory memory, String what) {
    link(memory, workload.chainBytes());
    price(price, name, memory, workload.rounds(), what);
  }

  /** Makes every line of the first {@code length} bytes point to another one. */
  private void link(Memory memory, int length) {
    int nodes = length / LINE;
    MemorySegment bytes = MemorySegment.ofArray(new byte[length]);
    // An odd stride visits every line once, and no prefetcher follows it.
    long at = 0;
    for (int i = 0; i < nodes; i++) {
      long next = (at + 97) % nodes;
      bytes.set(U64, at * LINE, memory.address() + next * LINE);
      bytes.set(U64, at * LINE + Long.BYTES, next);
      at = next;
    }
    memory.write(0, bytes);
  }

  /** Loads of a word that points to itself. */
  private void self(Price price, String name, Memory memory, int rounds, String what) {
    memory.putLong(0, memory.address());
    price(price, name, memory, rounds, what);
  }

  private void price(Price price, String name, Memory memory, int rounds, String what) {
    say(name);
    double without = empty(rounds);
    double[] cycles = cycles(price, memory.address(), rounds);
    double[] nanos = new double[cycles.length];
    for (int i = 0; i < nanos.length; i++) {
      double own = Math.max(0, cycles[i] - without);
      nanos[i] = own * nanosPerCycle / (rounds * (double) UNROLLED);
    }
    Measurement measured = new Measurement(what, Samples.of(name, "ns", nanos));
    measurements.add(measured);
    if (name.equals("fence.system")) {
      drain = measured.summary().median();
    }
  }

  private double[] cycles(Price price, long target, int rounds) {
    launch(
        price.name(),
        1,
        1,
        new KernelArguments().add(target).add(out).add(rounds).add(rig.total()));
    return rig.samples();
  }

  private void instructions() {
    measurements.addAll(new InstructionChains(rig, nanosPerCycle, request.progress()).measure());
  }

  private void loadsTogether() {
    measurements.addAll(new LoadsTogether(rig, nanosPerCycle, request.progress()).measure());
  }

  @SuppressWarnings("restricted") // the range is the pinned memory's own
  private void copies() {
    try (Arena arena = Arena.ofConfined();
        Memory large =
            rig.gpu.allocate(MemoryKind.DEVICE, workload.copyBytes(), "calibration, copy");
        Memory pinned =
            rig.gpu.allocate(MemoryKind.HOST, workload.copyBytes(), "calibration, pinned")) {
      copy("copy.small", large, arena.allocate(Long.BYTES), true);
      MemorySegment range =
          MemorySegment.ofAddress(pinned.address()).reinterpret(workload.copyBytes());
      copy("copy.out", large, range, true);
      copy("copy.in", large, range, false);
    }
  }

  private void copy(String name, Memory memory, MemorySegment range, boolean out) {
    say(name);
    boolean rate = range.byteSize() == workload.copyBytes();
    double[] values = new double[rate ? Math.min(10, request.samples()) : request.samples()];
    for (int i = -2; i < values.length; i++) {
      long start = System.nanoTime();
      if (out) {
        memory.read(0, range);
      } else {
        memory.write(0, range);
      }
      long nanos = System.nanoTime() - start;
      if (i >= 0) {
        values[i] = rate ? (double) range.byteSize() / nanos : nanos;
      }
    }
    String what =
        rate
            ? "copy of pinned memory, %s, %d MiB"
                .formatted(out ? "device to host" : "host to device", range.byteSize() >> 20)
            : "copy of 8 bytes from the device, call to return";
    measurements.add(new Measurement(what, Samples.of(name, rate ? "GB/s" : "ns", values)));
  }

  private void bandwidth(boolean stores, int width, Memory memory, int blocks, int threads) {
    String name =
        "%s.%s.%dx%d.%d"
            .formatted(
                stores ? "stores" : "loads",
                memory.kind() == MemoryKind.HOST ? "host" : "device",
                blocks,
                threads,
                width);
    say(name);
    long grid = (long) blocks * threads * width;
    long all = Math.min(workload.mostBytes() / grid, workload.accessesPerThread());
    long made = Math.clamp(workload.accesses() / ((long) blocks * threads), LEAST_ACCESSES, all);
    String kernel = PriceKernels.bandwidth(stores, width);
    double[] rates = new double[workload.repeats()];
    double[] rounds = new double[rates.length];
    for (int i = rates.length == 1 ? 0 : -1; i < rates.length; i++) {
      double nanos = elapsed(kernel, memory, blocks, threads, made * grid);
      if (made < all) {
        long half = made / 2;
        double second = nanos - elapsed(kernel, memory, blocks, threads, half * grid);
        nanos += second * (all - made) / (made - half);
      }
      if (i >= 0) {
        rates[i] = all * grid / nanos;
        rounds[i] = (nanos - drain) / all;
      }
    }
    String what =
        "%s memory, %d blocks of %d, %s of %d bytes"
            .formatted(
                memory.kind() == MemoryKind.HOST ? "host" : "device",
                blocks,
                threads,
                stores ? "stores" : "loads",
                width);
    measurements.add(new Measurement(what, Samples.of(name, "GB/s", rates)));
    if (name.equals(ROUND_OF)) {
      measurements.add(
          new Measurement(
              "a round of a warp that stores 4 bytes a thread: the store and %d instructions"
                  .formatted(ROUND_INSTRUCTIONS),
              Samples.of("round", "ns", rounds)));
    }
  }

  /** Nanoseconds from the first block's begin to the last one's end. */
  private double elapsed(String kernel, Memory memory, int blocks, int threads, long bytes) {
    launch(kernel, blocks, threads, new KernelArguments().add(memory).add(bytes).add(out));
    long begin = Long.MAX_VALUE;
    long end = Long.MIN_VALUE;
    for (int block = 0; block < blocks; block++) {
      begin = Math.min(begin, out.getLong(16L * block));
      end = Math.max(end, out.getLong(16L * block + 8));
    }
    return Math.max(1, end - begin);
  }

  private void launch(String kernel, int blocks, int threads, KernelArguments arguments) {
    rig.launch(module.kernel(kernel), blocks, threads, arguments);
  }

  private void say(String what) {
    request.progress().accept(what);
  }

  @Override
  public void close() {
    module.close();
    rig.close();
  }
}
