package dev.doorbell.interop.shim.gpu;

import dev.doorbell.core.emulated.GpuFactory;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.client.GpuWindow;
import dev.doorbell.interop.shim.client.LocalSocket;
import dev.doorbell.interop.shim.client.ServedWorld;
import dev.doorbell.interop.shim.client.SharedWorld;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** The emulated GPUs of all programs of a server. */
public final class ProgramGpus implements AutoCloseable {
  private static final int KEPT_TEXTS = 8;

  private final int count;
  private final GpuFactory factory;
  private final long timeoutNanos;
  private final @Nullable SharedWorld world;
  private @Nullable Doorbells doorbells;
  private final Map<Integer, GpuProgram> programs = new HashMap<>();
  private final List<GpuConnection> connections = new ArrayList<>();
  private final Map<Long, Export> exports = new HashMap<>();
  private final Map<Long, ExportedEvent> events = new HashMap<>();
  private final SortedSet<String> missing = new TreeSet<>();
  private final Map<List<ByteBuffer>, String> texts =
      new LinkedHashMap<>(2 * KEPT_TEXTS, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<List<ByteBuffer>, String> eldest) {
          return size() > KEPT_TEXTS;
        }
      };

  /** Memory that a program has exported. */
  record Export(GpuProgram of, GpuBlock block) {}

  private record ExportedEvent(GpuProgram of, EventState event) {}

  /**
   * @param count GPUs that each program sees
   * @param timeoutNanos longest time of a kernel
   */
  public ProgramGpus(int count, GpuFactory factory, long timeoutNanos) {
    this(count, factory, timeoutNanos, null);
  }

  private ProgramGpus(
      int count, GpuFactory factory, long timeoutNanos, @Nullable SharedWorld world) {
    this.count = count;
    this.factory = factory;
    this.timeoutNanos = timeoutNanos;
    this.world = world;
  }

  /** Finds the doorbell pages of programs. */
  @FunctionalInterface
  public interface Doorbells {
    /** The page that a program maps from an offset of a file, or null. */
    @Nullable Page find(int pid, Path file, long offset);
  }

  /**
   * A doorbell page.
   *
   * @param at place of its HCA
   * @param route lets kernels ring it by an address of the window
   */
  public record Page(Locus at, LongConsumer route) {}

  /** Says where doorbell pages are found. */
  public void ring(Doorbells where) {
    doorbells = where;
  }

  /** The doorbell page that kernels ring by the window from now on, or null. */
  @Nullable Page page(int pid, Path file, long offset) {
    Doorbells where = doorbells;
    return world == null || where == null ? null : where.find(pid, file, offset);
  }

  /**
   * The same GPUs in a world of its own, which is closed with them.
   *
   * @throws IOException when the system has no memory or no addresses
   */
  public ProgramGpus in(ServedWorld of) throws IOException {
    return new ProgramGpus(count, factory, timeoutNanos, SharedWorld.create(of));
  }

  /** The world in which all programs are, or null. */
  public @Nullable SharedWorld world() {
    return world;
  }

  /** No GPUs. */
  public static ProgramGpus none() {
    return new ProgramGpus(
        0,
        (_, locus) -> {
          throw new IllegalStateException("no GPU at " + locus);
        },
        0);
  }

  /** GPUs of the {@link GpuFactory} that is found as a service; arguments as of the constructor. */
  public static ProgramGpus of(int count, long timeoutNanos) {
    return new ProgramGpus(count, factory(), timeoutNanos);
  }

  /** Runs a small kernel, so that a program's first one starts sooner; true when it ended. */
  public static boolean runFirstKernel() throws IOException, CudaException {
    return FirstKernel.run(factory());
  }

  private static GpuFactory factory() {
    return ServiceLoader.load(GpuFactory.class).findFirst().orElseThrow();
  }

  /** The number of GPUs that each program sees. */
  public int count() {
    return count;
  }

  /**
   * A thread of a program connects.
   *
   * @param device number of the first HCA that the program has open; below 0 for none
   * @param rank that its launcher gave the program; below 0 for none
   */
  public GpuConnection connect(LocalSocket socket, int device, int rank) throws ErrnoException {
    ErrnoException.require(count > 0, Errno.ENODEV);
    GpuProgram program = programs.get(socket.pid());
    if (program == null) {
      try {
        int number = freeNumber(device, rank);
        program = new GpuProgram(socket.pid(), count, factory, timeoutNanos, world, number);
      } catch (IOException e) {
        throw new ErrnoException(Errno.ENOMEM);
      }
      programs.put(socket.pid(), program);
    }
    program.connections++;
    GpuConnection connection = new GpuConnection(this, program, socket.pid());
    connections.add(connection);
    return connection;
  }

  /** The number of a new program: of its HCA, or its rank, if no other has it; else the lowest. */
  private int freeNumber(int device, int rank) {
    Set<Integer> taken = new HashSet<>();
    programs.values().forEach(program -> taken.add(program.place()));
    int near = world == null || device < 0 ? rank : world.of().program(device);
    int number = near >= 0 && !taken.contains(near) ? near : 0;
    while (taken.contains(number)) {
      number++;
    }
    return number;
  }

  /** The memory of a program's GPUs, or null. */
  public @Nullable GpuWindow window(int pid) {
    GpuProgram program = programs.get(pid);
    return program == null ? null : program.window();
  }

  /** A thread's connection has ended. */
  public void disconnect(GpuConnection connection) {
    connections.remove(connection);
    connection.program().connections--;
  }

  /** Closes programs that have ended, except those whose memory devices may still reach. */
  public void retire(IntPredicate reached) {
    for (GpuProgram program : List.copyOf(programs.values())) {
      if (program.connections == 0 && !reached.test(program.pid())) {
        programs.remove(program.pid());
        exports.values().removeIf(export -> export.of().equals(program));
        events.values().removeIf(export -> export.of().equals(program));
        program.close();
      }
    }
  }

  /** Steps kernels and streams, and answers requests that have waited for them. */
  public int step() {
    int work = 0;
    for (GpuProgram program : programs.values()) {
      work += program.step();
    }
    for (int i = 0; i < connections.size(); i++) {
      work += connections.get(i).poll() ? 1 : 0;
    }
    return work;
  }

  long export(GpuProgram of, GpuBlock block) {
    for (var known : exports.entrySet()) {
      if (known.getValue().block().equals(block)) {
        return known.getKey();
      }
    }
    long key = new SecureRandom().nextLong();
    exports.put(key, new Export(of, block));
    of.onExported(block);
    return key;
  }

  /** Gives the key of an event, by which another program waits for it. */
  long export(GpuProgram of, EventState event) {
    long key = new SecureRandom().nextLong();
    events.put(key, new ExportedEvent(of, event));
    return key;
  }

  EventState exportedEvent(long key) throws CudaException {
    return CudaException.present(events.get(key), CudaStatus.INVALID_HANDLE).event();
  }

  @Nullable Export exported(long key) {
    return exports.get(key);
  }

  /** The PTX of images that were loaded lately, by their digests; null for others. */
  @Nullable String text(List<ByteBuffer> digests) {
    return texts.get(digests);
  }

  void keep(List<ByteBuffer> digests, String text) {
    texts.put(digests, text);
  }

  void miss(String function) {
    missing.add(function);
  }

  /** Names of the functions that programs have called and that are not served. */
  public List<String> missing() {
    return List.copyOf(missing);
  }

  @Override
  public void close() {
    programs.values().forEach(GpuProgram::close);
    programs.clear();
    if (world != null) {
      world.close();
    }
  }
}
