package dev.doorbell.core.fabric.timed.interconnect;

import dev.doorbell.core.fabric.ArrivalListener;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.fabric.timed.event.Event;
import dev.doorbell.core.fabric.timed.event.EventQueue;
import dev.doorbell.core.fabric.timed.event.Picos;
import dev.doorbell.core.fabric.timed.link.Links;
import dev.doorbell.core.fabric.timed.link.Route;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.trace.TraceEvent;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The parts that join the components of a node: their links, the posted writes under way, the
 * registers and the memory where those arrive, and the watches that a write wakes. One host thread
 * at a time works on it.
 */
public final class Interconnect {
  /** Parts the seeds of threads, whose generators count up by another constant. */
  private static final long SPREAD = 0xbf58_476d_1ce4_e5b9L;

  private final Fabric fabric;
  private final AddressSpace memory;
  private final Topology topology;
  private final EventQueue queue;
  private final Watches watches = new Watches();
  private final Buffers buffers = new Buffers();
  private final Links links;
  private final Map<Locus, Component> components = new HashMap<>();
  private final Map<Long, Register> registers = new HashMap<>();
  private final IdentityHashMap<Allocation, ArrivalListener> listeners = new IdentityHashMap<>();
  private final long seed;
  private @Nullable PostedWrite sparePosts;

  /** A doorbell page: its target, and what is called after a write. */
  private record Register(MmioTarget target, Runnable written) {}

  /** A posted store of a thread under way. */
  private final class PostedWrite extends Event {
    private AccessPath path;
    private long address;
    private long buffer;
    private int bytes;
    private @Nullable PostedWrite next;

    PostedWrite(AccessPath path) {
      this.path = path;
    }

    @Override
    protected void fire() {
      arrive(path, address, buffer, bytes, time());
      buffers.give(buffer, bytes);
      queue.underWay(-1);
      next = sparePosts;
      sparePosts = this;
    }
  }

  /**
   * Joins the components of a node of {@code topology} over the memory of {@code fabric}.
   *
   * @param fabric whose trace gets the TLPs
   * @param queue of the node
   * @param jitter of all nodes, where the topology has any
   * @param seed of the phases of pollers
   */
  public Interconnect(
      Fabric fabric,
      AddressSpace memory,
      Topology topology,
      EventQueue queue,
      SplittableRandom jitter,
      long seed) {
    this.fabric = fabric;
    this.memory = memory;
    this.topology = topology;
    this.queue = queue;
    this.seed = seed;
    this.links = new Links(topology, queue, jitter);
  }

  /** Phases at which writes find the poller {@code number}: drawn by the run's seed. */
  public SplittableRandom phases(long number) {
    return new SplittableRandom(seed ^ number * SPREAD);
  }

  /** The memory of all nodes. */
  public AddressSpace memory() {
    return memory;
  }

  public Topology topology() {
    return topology;
  }

  /** The events to come, and the clock. */
  public EventQueue queue() {
    return queue;
  }

  /** The sleepers that wait for writes, by the bytes. */
  public Watches watches() {
    return watches;
  }

  /** Memory for the bytes of TLPs under way. */
  public Buffers buffers() {
    return buffers;
  }

  public Links links() {
    return links;
  }

  public Component component(Locus locus) {
    Component component = components.get(locus);
    if (component == null) {
      if (!topology.has(locus.part(), locus.index())) {
        throw new IllegalArgumentException(
            "topology '%s' has no %s, which %s needs; it has %d CPUs, %d GPUs and %d HCAs a node"
                .formatted(
                    topology.name(),
                    Topology.component(locus),
                    locus,
                    topology.cpus().size(),
                    topology.gpus().size(),
                    topology.nics().size()));
      }
      component = new Component(this, locus, topology);
      components.put(locus, component);
    }
    return component;
  }

  /** Counts posted writes, and lines of stores that wait for more, that have not arrived yet. */
  public void underWay(int change) {
    queue.underWay(change);
  }

  /**
   * Refuses reads that no root complex routes.
   *
   * @throws IllegalStateException for a read between peers where the topology routes none
   */
  public void requirePeerReads(AccessPath path, Component reader) {
    if (!path.readableFrom(reader)) {
      throw new IllegalStateException(
          "%s reads %s, but topology '%s' does not route reads between peers there"
              .formatted(reader.locus, path.allocation, topology.name()));
    }
  }

  /** Routes writes to the page at {@code page} to {@code target}, then calls {@code written}. */
  public void routeMmio(long page, MmioTarget target, Runnable written) {
    registers.put(page, new Register(target, written));
  }

  /** Undoes {@link #routeMmio}. */
  public void unrouteMmio(long page) {
    registers.remove(page);
  }

  /**
   * Requires that writes to {@code address} are routed.
   *
   * @throws dev.doorbell.core.memory.AccessFault when they are not
   */
  public void requireRegister(long address, int bytes) {
    if (!registers.containsKey(address & -AddressSpace.PAGE)) {
      throw memory.fault("store", address, bytes);
    }
  }

  /**
   * Sends a thread's posted store, whose bytes lie in {@code buffer} of {@link Buffers}.
   *
   * @param at picoseconds
   * @return when the store is acknowledged
   */
  public long post(AccessPath path, long address, long buffer, int bytes, long at) {
    AccessPath.Members members = path.members;
    if (members != null) {
      return post(members, path, address, buffer, bytes, at);
    }
    Route route = path.out();
    long arrival = route.write(at, address, bytes, false, queue.clock());
    traceTransfer("MWr", route, address, bytes, at, arrival);
    arriveAt(path, address, buffer, bytes, arrival);
    return arrival + path.acknowledgement();
  }

  /** Sends a store that the switch copies to each member of a multicast object. */
  private long post(
      AccessPath.Members members, AccessPath path, long address, long buffer, int bytes, long at) {
    int count = path.multiplicity();
    long[] arrivals = new long[count];
    long last = members.way().write(at, bytes, queue.clock(), arrivals);
    traceTransfer("MWr", path.out(), address, bytes, at, last);
    for (int i = 0; i < count; i++) {
      long copy = i == count - 1 ? buffer : buffers.take(bytes);
      if (copy != buffer) {
        RawMemory.copy(buffer, copy, bytes);
      }
      arriveAt(members.paths().get(i), path.inMember(i, address), copy, bytes, arrivals[i]);
    }
    return last + path.acknowledgement();
  }

  private void arriveAt(AccessPath path, long address, long buffer, int bytes, long arrival) {
    PostedWrite write = sparePosts;
    if (write == null) {
      write = new PostedWrite(path);
    } else {
      sparePosts = write.next;
    }
    write.path = path;
    write.address = address;
    write.buffer = buffer;
    write.bytes = bytes;
    queue.schedule(write, arrival);
    queue.underWay(1);
  }

  /** Notifies of what arrives in an allocation from now on. */
  public void watch(Allocation at, ArrivalListener listener) {
    listeners.put(at, listener);
  }

  /** Bytes have arrived: in memory, or at a device's registers. */
  public void arrive(AccessPath path, long address, long source, int bytes, long when) {
    if (!path.uar) {
      // Memory that was freed meanwhile takes nothing.
      if (memory.accessibleRange(address, bytes)) {
        RawMemory.copy(source, address, bytes);
        ArrivalListener listener = listeners.get(path.allocation);
        if (listener != null) {
          listener.arrived(address, bytes, when);
        }
        changed(path.owner, address, bytes, when);
      }
      return;
    }
    Register register = registers.get(address & -AddressSpace.PAGE);
    if (register == null || !memory.isRegister(address)) {
      return;
    }
    RawMemory.copy(source, address, bytes);
    if (tracing()) {
      long first = bytes >= Long.BYTES ? RawMemory.getLong(source) : RawMemory.getInt(source);
      trace(
          when,
          path.owner.locus,
          TraceEvent.Kind.MMIO,
          address,
          first,
          bytes,
          bytes > Long.BYTES ? "BlueFlame" : "doorbell");
    }
    register.target.mmioWrite(address, source, bytes);
    register.written.run();
  }

  /** Memory of {@code owner} changed at {@code when}: wakes what waits for it. */
  public void written(Component owner, long address, long bytes, long when) {
    owner.cached(address, bytes);
    changed(owner, address, bytes, when);
  }

  private void changed(Component owner, long address, long bytes, long when) {
    watches.written(address, bytes, when);
    owner.wake(when);
  }

  /** Returns true if anything is traced. */
  public boolean tracing() {
    return fabric.trace().enabled();
  }

  /** Traces TLPs that leave at {@code at} and have all arrived at {@code arrival}, picoseconds. */
  public void traceTransfer(
      String kind, Route route, long address, int bytes, long at, long arrival) {
    if (tracing()) {
      trace(
          at,
          route.from,
          TraceEvent.Kind.TLP,
          address,
          arrival / Picos.PER_NANO,
          bytes,
          "%s %d bytes %s".formatted(kind, bytes, route.name));
    }
  }

  /** Traces one event; {@code when} is in picoseconds. */
  public void trace(
      long when,
      Locus at,
      TraceEvent.Kind kind,
      long subject,
      long value,
      long bytes,
      String text) {
    fabric
        .trace()
        .record(new TraceEvent(when / Picos.PER_NANO, at, kind, subject, value, bytes, text));
  }

  /** Frees the buffers. */
  public void close() {
    buffers.close();
  }

  /** Native memory for the bytes of TLPs in flight, in two sizes that are reused. */
  public static final class Buffers {
    /** Bytes of a buffer for a combined store. */
    public static final int LINE = 128;

    /** Bytes of a buffer for a piece of a DMA transfer. */
    public static final int CHUNK = 4096;

    /** Memory that a node takes at a time: there may be hundreds of nodes. */
    private static final int SLAB = 64 * 1024;

    private final Arena arena = Arena.ofShared();
    private final Stack lines = new Stack(LINE);
    private final Stack chunks = new Stack(CHUNK);

    /** Buffers of one size that are free. */
    private final class Stack {
      private final int size;
      private long[] free = new long[SLAB / LINE];
      private int count;

      Stack(int size) {
        this.size = size;
      }

      long take() {
        if (count == 0) {
          long base = arena.allocate(SLAB, size).address();
          while (count < SLAB / size) {
            free[count] = base + (long) count * size;
            count++;
          }
        }
        return free[--count];
      }

      void give(long buffer) {
        if (count == free.length) {
          free = Arrays.copyOf(free, count * 2);
        }
        free[count++] = buffer;
      }
    }

    /** A buffer of at least {@code bytes} bytes, at most {@link #CHUNK}. */
    public long take(int bytes) {
      return (bytes <= LINE ? lines : chunks).take();
    }

    /** Gives back what {@link #take} gave for {@code bytes}. */
    public void give(long buffer, int bytes) {
      (bytes <= LINE ? lines : chunks).give(buffer);
    }

    void close() {
      arena.close();
    }
  }
}
