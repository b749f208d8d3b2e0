package dev.doorbell.interop.shim.gpu;

import dev.doorbell.core.emulated.GpuFactory;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.interop.shim.client.GpuWindow;
import dev.doorbell.interop.shim.client.SharedWorld;
import dev.doorbell.interop.shim.gpu.GpuConnection.HostCall;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A program's GPUs: its window of memory, and a fabric of its own that reaches nothing else. An
 * error of a kernel stays until the program resets its device or ends.
 */
final class GpuProgram implements AutoCloseable {
  /** Memory of a GPU, as the program is told. */
  static final long MEMORY_BYTES = 8L << 30;

  private final int pid;
  private final int place;
  private final GpuWindow window;
  private final Fabric fabric;
  private final @Nullable SharedWorld world;
  private final List<Gpu> gpus = new ArrayList<>();
  private final Map<Long, StreamQueue> streams = new HashMap<>();
  private final List<StreamQueue> defaults = new ArrayList<>();
  private final Map<Long, EventState> events = new HashMap<>();
  private final Map<Long, GpuModule> modules = new HashMap<>();
  private final Map<Long, Kernel> functions = new HashMap<>();
  private final TreeMap<Long, GpuBlock> blocks = new TreeMap<>();
  private final Set<GpuBlock> exported = new HashSet<>();
  private final Map<Long, HostCall> hostCalls = new HashMap<>();
  private final List<Launch> running = new ArrayList<>();
  private final StringBuilder output = new StringBuilder();
  private final StringBuilder diagnosis = new StringBuilder();
  private final long timeoutNanos;
  private String said = "";
  private String lastFault = "";
  private int error;
  private long order;
  private long numbers = 0x1000;
  int connections;

  /**
   * @param world that all programs share; null where each has its own
   * @param place number of the program there
   */
  GpuProgram(
      int pid,
      int count,
      GpuFactory factory,
      long timeoutNanos,
      @Nullable SharedWorld world,
      int place)
      throws IOException {
    this.pid = pid;
    this.place = place;
    this.timeoutNanos = timeoutNanos;
    this.world = world;
    this.window = world == null ? GpuWindow.create() : world.window();
    this.fabric = world == null ? new DirectFabric(window.space(), 0) : world.fabric();
    for (int i = 0; i < count; i++) {
      Gpu gpu = factory.create(fabric, world == null ? Locus.gpu(0, i) : world.of().gpu(place, i));
      gpus.add(gpu);
      defaults.add(new StreamQueue(i, StreamQueue.Kind.DEFAULT, gpu.createStream()));
    }
  }

  /** Its number among the programs of a world. */
  int place() {
    return place;
  }

  int pid() {
    return pid;
  }

  GpuWindow window() {
    return window;
  }

  int error() {
    return error;
  }

  Gpu gpu(long device) throws CudaException {
    CudaException.require(device >= 0 && device < gpus.size(), CudaStatus.INVALID_VALUE);
    return gpus.get((int) device);
  }

  int gpus() {
    return gpus.size();
  }

  /**
   * Four bits a GPU, the lowest for the first: the first GPU that addresses its memory. GPUs with
   * one value address each other's.
   */
  long peers() {
    long peers = 0;
    for (int i = 0; i < gpus.size(); i++) {
      int first = 0;
      while (!arePeers(gpus.get(first), gpus.get(i))) {
        first++;
      }
      peers |= (long) first << (4 * i);
    }
    return peers;
  }

  private boolean arePeers(Gpu one, Gpu other) {
    return world == null || world.of().arePeers(one.locus(), other.locus());
  }

  private long number() {
    numbers += 0x10;
    return numbers;
  }

  /** Steps kernels and streams; returns the work done. */
  int step() {
    if (isIdle()) {
      return 0;
    }
    int work = 0;
    try {
      work = world == null ? fabric.sweep() : 0;
      advance(defaults);
      advance(streams.values());
    } catch (RuntimeException e) {
      // The program's GPUs alone are lost; those of others go on.
      fail(CudaStatus.LAUNCH_FAILED, fault(e));
    }
    // A kernel that waits still needs to be stepped.
    return work + 1;
  }

  private void advance(Iterable<StreamQueue> queues) {
    for (StreamQueue queue : queues) {
      if (queue.isIdle()) {
        continue;
      }
      try {
        queue.advance(before(queue));
      } catch (CudaException e) {
        fail(e.status(), String.valueOf(e.getMessage()));
        return;
      }
    }
  }

  /** Work of a blocking stream and of the default stream waits for what was added before it. */
  private long before(StreamQueue queue) {
    return switch (queue.kind) {
      case NON_BLOCKING -> Long.MAX_VALUE;
      case BLOCKING -> defaults.get(queue.device).first();
      case DEFAULT -> {
        long first = Long.MAX_VALUE;
        for (StreamQueue other : streams.values()) {
          if (other.kind == StreamQueue.Kind.BLOCKING && other.device == queue.device) {
            first = Math.min(first, other.first());
          }
        }
        yield first;
      }
    };
  }

  private boolean isIdle() {
    return defaults.stream().allMatch(StreamQueue::isIdle)
        && streams.values().stream().allMatch(StreamQueue::isIdle);
  }

  /** True when the stream has no work, and new work would wait for none of other streams. */
  boolean isIdle(StreamQueue queue) {
    return queue.isIdle() && before(queue) == Long.MAX_VALUE;
  }

  boolean isIdle(long device) {
    return defaults.get((int) device).isIdle()
        && streams.values().stream().allMatch(s -> s.device != device || s.isIdle());
  }

  private void fail(int status, String message) {
    if (error == CudaStatus.SUCCESS) {
      error = status;
      say(message);
      if (world != null && status != CudaStatus.SUCCESS) {
        world.of().failed(message, status == CudaStatus.LAUNCH_TIMEOUT);
      }
    }
    defaults.forEach(StreamQueue::clear);
    streams.values().forEach(StreamQueue::clear);
    for (Launch launch : List.copyOf(running)) {
      launch.cancel("another kernel of the program has failed");
    }
    running.clear();
    endEvents();
  }

  /** Nobody waits any more for what the program recorded: its streams will not get there. */
  private void endEvents() {
    events.values().stream()
        .filter(event -> this.equals(event.recorder))
        .forEach(event -> event.reached = event.recorded);
  }

  /**
   * A fault of Doorbell itself, whose stack is printed by the server.
   *
   * @return a line for the program
   */
  String fault(RuntimeException fault) {
    StringBuilder text = new StringBuilder("a fault of Doorbell, not of the program: ");
    text.append(fault);
    for (Throwable place : fault.getSuppressed()) {
      text.append("\n  at ").append(place.getMessage());
    }
    if (!text.toString().equals(lastFault)) {
      lastFault = text.toString();
      System.err.printf("doorbell: %s%n  please report it with this stack:%n", text);
      fault.printStackTrace();
    }
    return lastFault;
  }

  /** Has the program's library print a line. */
  void say(String message) {
    // A library may try hundreds of kernels that cannot be run.
    if (!message.isEmpty() && !message.equals(said)) {
      said = message;
      diagnosis.append("doorbell: ").append(message).append('\n');
    }
  }

  /** Ends all work and forgets the error, the memory and the modules of the program. */
  void reset() {
    fail(error, "");
    diagnosis.setLength(0);
    error = CudaStatus.SUCCESS;
    streams.values().forEach(stream -> stream.launches.close());
    streams.clear();
    events.clear();
    for (GpuBlock block : List.copyOf(blocks.values())) {
      release(block);
    }
  }

  /** The text of printf, or of the error, since it was taken last. */
  String take(boolean ofError, int mostCharacters) {
    StringBuilder from = ofError ? diagnosis : output;
    // A character may take three bytes.
    int end = Math.min(from.length(), mostCharacters / 3);
    String text = from.substring(0, end);
    from.delete(0, end);
    return text;
  }

  boolean hasText() {
    return !output.isEmpty() || !diagnosis.isEmpty();
  }

  // Memory

  GpuBlock allocate(long device, GpuBlock.Kind kind, long bytes) throws CudaException {
    return allocate(device, kind, bytes, null);
  }

  /**
   * @param doorbells place of the HCA whose doorbell page it is; null for memory
   */
  private GpuBlock allocate(long device, GpuBlock.Kind kind, long bytes, @Nullable Locus doorbells)
      throws CudaException {
    Gpu gpu = gpu(device);
    CudaException.require(bytes > 0, CudaStatus.INVALID_VALUE);
    CudaException.require(
        kind == GpuBlock.Kind.HOST || kind == GpuBlock.Kind.RESERVED || bytes <= free(device),
        CudaStatus.OUT_OF_MEMORY);
    MemoryKind as =
        switch (kind) {
          case DEVICE, IMPORTED, RESERVED -> MemoryKind.DEVICE;
          case MANAGED -> MemoryKind.MANAGED;
          case HOST, FILE -> doorbells == null ? MemoryKind.HOST : MemoryKind.UAR;
        };
    Locus own = as == MemoryKind.HOST ? Locus.cpu(gpu.locus().rank()) : gpu.locus();
    Locus where = doorbells == null ? own : doorbells;
    Allocation allocation;
    try {
      allocation =
          fabric
              .memory()
              .allocate(as, where, bytes, "memory of " + bytes + " bytes of the program");
    } catch (IllegalStateException e) {
      throw new CudaException(CudaStatus.OUT_OF_MEMORY, "");
    }
    GpuBlock block = new GpuBlock(allocation, (int) device, kind);
    blocks.put(allocation.address(), block);
    return block;
  }

  /** Allocates addresses and lets them be pages of a file. */
  GpuBlock overlay(long device, GpuBlock.Kind kind, long bytes, Path file, long offset)
      throws CudaException {
    GpuBlock block = allocate(device, kind, bytes);
    try {
      window.overlay(block.allocation().address(), bytes, file, offset);
      return block;
    } catch (IOException e) {
      release(block);
      throw new CudaException(CudaStatus.INVALID_VALUE, "");
    }
  }

  /** Allocates addresses of a doorbell page of the program; null when the file has none there. */
  @Nullable GpuBlock doorbells(ProgramGpus of, long device, Path file, long offset, long bytes)
      throws CudaException {
    if (world == null || bytes != AddressSpace.PAGE) {
      return null;
    }
    ProgramGpus.Page found = of.page(pid, file, offset);
    if (found == null) {
      return null;
    }
    GpuBlock page = allocate(device, GpuBlock.Kind.FILE, bytes, found.at());
    found.route().accept(page.allocation().address());
    return page;
  }

  /** Lets a part of a reserved block be pages of a file, or its own again where there is none. */
  void mapAt(long address, long bytes, @Nullable Path file, long offset) throws CudaException {
    GpuBlock block = CudaException.present(block(address), CudaStatus.INVALID_VALUE);
    CudaException.require(
        block.kind() == GpuBlock.Kind.RESERVED
            && (address & (AddressSpace.PAGE - 1)) == 0
            && block.allocation().contains(address, bytes),
        CudaStatus.INVALID_VALUE);
    if (file == null) {
      window.restore(address, bytes);
      return;
    }
    try {
      window.overlay(address, bytes, file, offset);
    } catch (IOException e) {
      throw new CudaException(CudaStatus.INVALID_VALUE, "");
    }
  }

  long free(long device) {
    long used = 0;
    for (GpuBlock block : blocks.values()) {
      if (block.device() == device && block.kind() != GpuBlock.Kind.HOST && !block.isOverlay()) {
        used += block.allocation().size();
      }
    }
    return Math.max(0, MEMORY_BYTES - used);
  }

  void release(long address) throws CudaException {
    GpuBlock block = CudaException.present(blocks.get(address), CudaStatus.INVALID_VALUE);
    release(block);
  }

  private void release(GpuBlock block) {
    Allocation allocation = block.allocation();
    blocks.remove(allocation.address());
    if (block.isOverlay() && !isLent(block)) {
      long pages = (allocation.size() + AddressSpace.PAGE - 1) & -AddressSpace.PAGE;
      window.restore(allocation.address(), pages);
    }
    if (!exported.contains(block) && !isLent(block)) {
      fabric.memory().free(allocation);
    }
  }

  /** True for memory of another program in the same window. */
  private boolean isLent(GpuBlock block) {
    return world != null && block.kind() == GpuBlock.Kind.IMPORTED;
  }

  /** Uses memory of another program in the same window. */
  void borrow(GpuBlock block) {
    blocks.put(block.allocation().address(), block);
  }

  /** Another program may have the block from now on: its pages are given to nothing else. */
  void onExported(GpuBlock block) {
    exported.add(block);
  }

  /** The block that holds an address, or null: memory of modules is in none. */
  @Nullable GpuBlock block(long address) {
    var below = blocks.floorEntry(address);
    return below != null && below.getValue().allocation().contains(address, 1)
        ? below.getValue()
        : null;
  }

  void require(long address, long bytes) throws CudaException {
    CudaException.require(
        fabric.memory().accessibleRange(address, bytes), CudaStatus.INVALID_VALUE);
  }

  // Modules

  long load(long device, String name, String ptx) throws CudaException {
    Gpu gpu = gpu(device);
    String text = world == null ? ptx : world.of().module(ptx);
    long number = number();
    modules.put(number, CudaException.of(CudaStatus.INVALID_PTX, () -> gpu.load(name, text)));
    return number;
  }

  GpuModule module(long number) throws CudaException {
    return CudaException.present(modules.get(number), CudaStatus.INVALID_HANDLE);
  }

  void unload(long number) throws CudaException {
    GpuModule module = module(number);
    functions.values().removeIf(kernel -> kernel.module().equals(module));
    CudaException.of(
        CudaStatus.INVALID_HANDLE,
        () -> {
          module.close();
          return module;
        });
    modules.remove(number);
  }

  long function(Kernel kernel) {
    for (var known : functions.entrySet()) {
      if (known.getValue().equals(kernel)) {
        return known.getKey();
      }
    }
    long number = number();
    functions.put(number, kernel);
    return number;
  }

  Kernel function(long number) throws CudaException {
    return CudaException.present(functions.get(number), CudaStatus.INVALID_HANDLE);
  }

  // Streams and events

  long addStream(long device, boolean blocking) throws CudaException {
    StreamQueue.Kind kind = blocking ? StreamQueue.Kind.BLOCKING : StreamQueue.Kind.NON_BLOCKING;
    long number = number();
    streams.put(number, new StreamQueue((int) device, kind, gpu(device).createStream()));
    return number;
  }

  /** The stream of that number; 0 is the default stream of {@code device}. */
  StreamQueue stream(long device, long number) throws CudaException {
    gpu(device);
    return CudaException.present(
        number == 0 ? defaults.get((int) device) : streams.get(number), CudaStatus.INVALID_HANDLE);
  }

  /** Removes a stream that is idle. */
  void removeStream(long number) {
    StreamQueue queue = streams.remove(number);
    if (queue != null) {
      defaults.get(queue.device).kernels.addAll(queue.kernels);
      queue.launches.close();
    }
  }

  /** Adds work of the host: it sees the ends of the kernels before it. */
  void enqueue(StreamQueue queue, StreamQueue.Work work) {
    add(
        queue,
        () -> {
          boolean ended = work.advance();
          if (ended) {
            fabric.hostSees(kernels(queue));
          }
          return ended;
        });
  }

  void add(StreamQueue queue, StreamQueue.Work work) {
    order++;
    queue.add(order, work);
  }

  /** Returns the kernels before the next work of all streams of a device. */
  Set<Object> kernels(long device) {
    Set<Object> all = new HashSet<>(defaults.get((int) device).kernels);
    streams.values().stream().filter(s -> s.device == device).forEach(s -> all.addAll(s.kernels));
    return all;
  }

  /** Returns the kernels before the next work of a stream. */
  Set<Object> kernels(StreamQueue queue) {
    Set<Object> all = new HashSet<>(queue.kernels);
    if (queue.kind == StreamQueue.Kind.BLOCKING) {
      all.addAll(defaults.get(queue.device).kernels);
    } else if (queue.kind == StreamQueue.Kind.DEFAULT) {
      streams.values().stream()
          .filter(other -> other.kind == StreamQueue.Kind.BLOCKING && other.device == queue.device)
          .forEach(other -> all.addAll(other.kernels));
    }
    return all;
  }

  /** Lets a stream wait for what an event has recorded until now. */
  void await(StreamQueue queue, EventState event) {
    long generation = event.recorded;
    add(
        queue,
        () -> {
          boolean reached = event.reached >= generation;
          if (reached) {
            queue.kernels.addAll(event.kernels);
          }
          return reached;
        });
  }

  /**
   * The host acts.
   *
   * @param kernels those of whose ends it knows; null for all that have ended
   */
  void hostSees(@Nullable Collection<Object> kernels) {
    fabric.hostSees(kernels);
  }

  long addEvent(EventState event) {
    long number = number();
    events.put(number, event);
    return number;
  }

  EventState event(long number) throws CudaException {
    return CudaException.present(events.get(number), CudaStatus.INVALID_HANDLE);
  }

  void removeEvent(long number) {
    events.remove(number);
  }

  /** Records an event behind the work of a stream. */
  void record(EventState event, StreamQueue queue) {
    event.recorded++;
    event.recorder = this;
    long generation = event.recorded;
    add(
        queue,
        () -> {
          event.kernels = kernels(queue);
          event.reached = Math.max(event.reached, generation);
          event.nanos = fabric.now();
          return true;
        });
  }

  long addHostCall(HostCall call) {
    long ticket = number();
    hostCalls.put(ticket, call);
    return ticket;
  }

  HostCall hostCall(long ticket) throws CudaException {
    return CudaException.present(hostCalls.get(ticket), CudaStatus.INVALID_HANDLE);
  }

  void endHostCall(long ticket) throws CudaException {
    hostCall(ticket).done = true;
    hostCalls.remove(ticket);
  }

  /** Adds a launch; a shape that is impossible is refused when its turn comes, as an error. */
  void launch(StreamQueue queue, Kernel kernel, LaunchConfig shape, KernelArguments arguments) {
    Gpu gpu = gpus.get(queue.device);
    LaunchConfig config = shape.withTimeout(timeoutNanos);
    add(
        queue,
        new StreamQueue.Work() {
          private @Nullable Launch launch;

          @Override
          public boolean advance() throws CudaException {
            Launch started = launch;
            if (started == null) {
              Object order = fabric.launching(kernels(queue));
              queue.kernels.clear();
              queue.kernels.add(order);
              started =
                  CudaException.of(
                      CudaStatus.LAUNCH_FAILED,
                      () -> gpu.launch(kernel, config, arguments, queue.launches));
              launch = started;
              running.add(started);
            }
            if (!started.done()) {
              return false;
            }
            running.remove(started);
            output.append(started.output());
            try {
              started.check();
            } catch (GpuException e) {
              String message = String.valueOf(e.getMessage());
              throw new CudaException(CudaStatus.ofFailure(message, started.stuck()), message);
            }
            return true;
          }
        });
  }

  @Override
  public void close() {
    endEvents();
    running.clear();
    gpus.forEach(Gpu::close);
    if (world != null) {
      exported.clear();
      List.copyOf(blocks.values()).forEach(this::release);
      return;
    }
    fabric.close();
    window.close();
  }
}
