package dev.doorbell.softhca;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.hca.HcaAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PacketPool;
import dev.doorbell.softhca.packet.Station;
import dev.doorbell.softhca.packet.Wire;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A host channel adapter in software, compatible with mlx5 down to the bytes of its queues.
 *
 * <p>It is an agent of a {@link Fabric}: doorbells and packets are noted as they arrive, and acted
 * on when it is stepped. Peers are found over a wire that it has joined; without one it reaches its
 * own queue pairs alone. The control path may be called between steps, on the thread that steps.
 */
public final class SoftHca implements Hca, Station {
  private static final int FIRST_NUMBER = 0x100;
  private static final int SCRATCH_BYTES = 64;
  private static final long LINK_LOCAL = 0xfe80L << 48;
  private static final int PORT = 1;

  private final Fabric fabric;
  private final Locus locus;
  private final String name;
  final HcaEngine engine;
  final SoftHcaOptions options;
  final HcaTiming timing;
  final DevicePort port;
  final boolean tracing;

  /** Nothing that the engine does takes time, and nobody traces it. */
  private final boolean immediate;

  final HcaTracer tracer;
  final PacketPool packets;
  final OnChipSpace onChip;
  final NumberTable<SoftQueuePair> queuePairs;
  final NumberTable<SoftCompletionQueue> completionQueues;
  final NumberTable<SoftSharedReceiveQueue> sharedReceiveQueues;
  final RegionTable regions = new RegionTable();

  /** Memory of the engine: a few bytes to write from, and a place to read to what nobody needs. */
  private final MemorySegment workspace =
      Arena.ofAuto().allocate(SCRATCH_BYTES + Packet.MAX_PAYLOAD, SCRATCH_BYTES);

  final long scratch = workspace.address();
  final long dropBuffer = scratch + SCRATCH_BYTES;

  private Wire wire;
  private final long gidLow;
  private boolean linkUp = true;

  /** What a fault plan does here; null for nothing. */
  @Nullable HcaFaults faults;

  private int queuePairsMade;
  private long strangers;
  private @Nullable Allocation uarPage;
  private boolean plugged;
  private final Set<SoftProtectionDomain> domains = new LinkedHashSet<>();
  private final ArrayDeque<AsyncEvent> events = new ArrayDeque<>();
  private boolean closed;

  /**
   * Opens a software HCA and attaches it to {@code fabric}.
   *
   * @param nic where it is: its on-chip memory and doorbell pages lie there
   * @param name what peers on the wire know it by
   */
  public SoftHca(Fabric fabric, Locus nic, String name, SoftHcaOptions options) {
    if (nic.part() != Locus.Part.NIC) {
      throw new HcaException("an HCA must be at a NIC's place, not at " + nic, HcaErrno.EINVAL);
    }
    this.fabric = fabric;
    this.engine = new HcaEngine(this, fabric);
    this.locus = nic;
    this.name = name;
    this.options = options;
    this.timing = options.timing();
    this.onChip = new OnChipSpace(this, options.limits().onChipBytes());
    this.queuePairs = new NumberTable<>(FIRST_NUMBER, options.limits().queuePairs());
    this.completionQueues = new NumberTable<>(FIRST_NUMBER, 2 * options.limits().queuePairs());
    this.sharedReceiveQueues = new NumberTable<>(FIRST_NUMBER, options.limits().queuePairs());
    this.packets = new PacketPool(engine::packetsReturned, options.engine().packets());
    InProcessWire self = new InProcessWire();
    this.wire = self;
    this.gidLow = interfaceIdentifier(name);
    Trace trace = fabric.trace();
    this.tracing = trace.enabled();
    this.port = fabric.attachDevice(nic, engine);
    this.immediate = port.isImmediate() && timing.equals(HcaTiming.ZERO) && !tracing;
    this.tracer = new HcaTracer(trace, port, nic);
    self.join(this);
    this.plugged = false;
  }

  /** As {@link #SoftHca(Fabric, Locus, String, SoftHcaOptions)} with the usual options. */
  public SoftHca(Fabric fabric, Locus nic, String name) {
    this(fabric, nic, name, SoftHcaOptions.DEFAULT);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Locus locus() {
    return locus;
  }

  @Override
  public HcaAttributes attributes() {
    return new HcaAttributes(
        "soft-mlx5",
        options.limits().queuePairs(),
        options.limits().maxSendBlocks(),
        options.limits().minSendBlocks(),
        options.limits().completionEntries(),
        options.limits().inlineBytes(),
        ControlSegment.MAX_DS - 2,
        options.limits().onChipBytes(),
        options.limits().blueFlameBytes(),
        options.limits().messageBytes(),
        options.limits().readAtomic(),
        true);
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    if (closed) {
      throw new HcaException("cannot allocate a protection domain: %s is closed".formatted(name));
    }
    SoftProtectionDomain domain = new SoftProtectionDomain(this);
    domains.add(domain);
    return domain;
  }

  @Override
  public CompletionChannel createCompletionChannel() {
    return new SoftCompletionChannel(this);
  }

  @Override
  public @Nullable AsyncEvent pollAsyncEvent() {
    return events.poll();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    List<SoftProtectionDomain> open = new ArrayList<>(domains);
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).closeAll();
    }
    closed = true;
    Allocation page = uarPage;
    if (page != null) {
      port.offMmio(page.address());
      freePage(page);
    }
    wire.leave(this);
    fabric.detach(engine);
    if (faults != null) {
      faults.drop();
    }
    engine.drop();
  }

  @Override
  public String toString() {
    return "HCA '%s' at %s".formatted(name, locus);
  }

  // Control path, for the objects of this HCA.

  Wire wire() {
    return wire;
  }

  @Override
  public long gidHigh() {
    return LINK_LOCAL;
  }

  @Override
  public long gidLow() {
    return gidLow;
  }

  @Override
  public PacketPool packets() {
    return packets;
  }

  @Override
  public DevicePort port() {
    return port;
  }

  @Override
  public long receiveNanos() {
    return timing.receiveNanos();
  }

  /** 40 bits of the name's hash as a locally administered EUI-64. */
  private static long interfaceIdentifier(String name) {
    long hash = 0;
    for (int i = 0; i < name.length(); i++) {
      hash = hash * 31 + name.charAt(i);
    }
    hash *= 0x9e37_79b9_7f4a_7c15L;
    return (hash & 0x0000_ff00_00ff_ffffL) | 0x0200_00ff_fe00_0000L;
  }

  /**
   * Plugs the cable in or pulls it out: packets are lost while it is out.
   *
   * <p>Raises {@link AsyncEvent.Type#PORT_ACTIVE} or {@link AsyncEvent.Type#PORT_ERROR}.
   */
  public void linkUp(boolean up) {
    if (up != linkUp) {
      linkUp = up;
      raise(up ? AsyncEvent.Type.PORT_ACTIVE : AsyncEvent.Type.PORT_ERROR, PORT);
    }
  }

  /**
   * Packets that named a connected queue pair and came from another GID than its peer's. They are
   * dropped without an answer.
   */
  public long strangers() {
    return strangers;
  }

  void countStranger() {
    strangers++;
  }

  /** True when packets are nothing but their effect: no time, no trace, no fault, no lost cable. */
  boolean isImmediate() {
    return immediate && linkUp && !closed && faults == null;
  }

  boolean isLinkUp() {
    return linkUp;
  }

  /**
   * From now on things go wrong as a fault plan says. Events are counted from now on, and queue
   * pairs from the first that was ever made here.
   *
   * @param injector the plan, bound for this HCA on the clock of its fabric
   */
  public void inject(FaultInjector injector) {
    faults = new HcaFaults(this, injector);
  }

  /** The place of a new queue pair among all that were made. */
  int nextOrdinal() {
    return queuePairsMade++;
  }

  /** The doorbell page of the HCA itself, where completion queues are armed. */
  long uarPage() {
    Allocation page = uarPage;
    if (page == null) {
      page = allocatePage(MemoryKind.UAR, Doorbell.UAR_BYTES, name + " doorbell page");
      uarPage = page;
      port.onMmio(page.address(), new Uar(this, page, 0));
    }
    return page.address();
  }

  @Override
  public void plug(Wire other) {
    if (plugged) {
      throw new HcaException(
          "%s is on a wire already; an HCA joins one".formatted(this), HcaErrno.EBUSY);
    }
    wire = other;
    plugged = true;
  }

  int reserve(NumberTable<?> table, String what) {
    int number = table.reserve();
    if (number < 0) {
      throw new HcaException(
          "%s has no %s left (the limit is %d); close some first"
              .formatted(name, what, options.limits().queuePairs()),
          HcaErrno.ENOMEM);
    }
    return number;
  }

  void requireReachable(long address, long bytes) {
    if (!fabric.reaches(address, bytes)) {
      throw new HcaException(
          "cannot register %d bytes at 0x%x: %s"
              .formatted(bytes, address, fabric.memory().describe(address, bytes)),
          HcaErrno.EINVAL);
    }
  }

  Allocation allocatePage(MemoryKind kind, long bytes, String label) {
    return fabric.memory().allocate(kind, locus, bytes, label);
  }

  void freePage(Allocation page) {
    fabric.memory().free(page);
  }

  void closed(SoftProtectionDomain domain) {
    domains.remove(domain);
  }

  void raise(AsyncEvent.Type type, int number) {
    events.add(new AsyncEvent(type, number));
  }

  @Override
  public void deliver(Packet packet) {
    HcaFaults plan = faults;
    if (plan == null || closed || !linkUp) {
      arrive(packet);
    } else {
      plan.receive(packet);
    }
  }

  /** A packet is here, whatever happened to it on its way. */
  void arrive(Packet packet) {
    if (closed || !linkUp) {
      packet.pool.release(packet);
    } else {
      engine.arrive(packet);
    }
  }
}
