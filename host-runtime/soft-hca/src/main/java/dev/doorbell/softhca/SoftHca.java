package dev.doorbell.softhca;

import dev.doorbell.core.Basis;
import dev.doorbell.core.adapter.Promises;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.hca.HcaAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.FabricMemory;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.softhca.congestion.CongestionOptions;
import dev.doorbell.softhca.congestion.CreditPool;
import dev.doorbell.softhca.device.DelayLine;
import dev.doorbell.softhca.device.HcaFaults;
import dev.doorbell.softhca.device.HcaFaults.FaultTarget;
import dev.doorbell.softhca.device.HcaPipeline;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.device.HcaTiming;
import dev.doorbell.softhca.device.HcaTracer;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.objects.SoftCompletionQueue.SoftCompletionChannel;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PacketPool;
import dev.doorbell.softhca.packet.PortCounters;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import dev.doorbell.softhca.packet.Wire;
import dev.doorbell.softhca.queuepair.HcaEngine;
import dev.doorbell.softhca.queuepair.HcaObjects;
import dev.doorbell.softhca.wire.InProcessWire;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A host channel adapter in software, compatible with mlx5 down to the bytes of its queues.
 *
 * <p>An agent of a {@link Fabric}: doorbells and packets are recorded as they arrive and handled
 * when it is stepped. It reaches peers over the wire that it has joined; without one, only its own
 * queue pairs. The control path may be called between steps, on the thread that steps.
 */
public final class SoftHca implements Hca, HcaServices {
  private static final long LINK_LOCAL = 0xfe80L << 48;
  private static final int PORT = 1;

  /** Bits of a connection's number that count within a millisecond of the HCA's opening. */
  private static final int CONNECTION_BITS = 20;

  private final Fabric fabric;
  private final Locus locus;
  private final String name;
  private final SoftHcaOptions options;
  final HcaObjects objects;
  private final HcaEngine engine;
  private final DevicePort port;
  private final HcaPipeline pipeline;
  private final @Nullable CreditPool credits;

  /** Request packets that wait for the engine; null where nothing limits them. */
  private final @Nullable DelayLine<Packet> waiting;

  /** True when no stage of the HCA takes time and nothing is traced. */
  private final boolean immediate;

  private final @Nullable HcaTracer tracer;

  /** {@link #scratch}, then {@link #dropBuffer}. */
  private final MemorySegment workspace =
      Arena.ofAuto().allocate(SCRATCH_BYTES + Packet.MAX_PAYLOAD, SCRATCH_BYTES);

  private Wire wire;
  private final long gidLow;
  private final List<Gid> gids = new ArrayList<>();
  private final PortCounters counters = new PortCounters();
  private boolean linkUp = true;
  private @Nullable HcaFaults faults;
  private long lastConnection;
  private long strangers;
  private @Nullable Allocation uarPage;
  private boolean plugged;
  private final Set<SoftProtectionDomain> domains = new LinkedHashSet<>();
  private final ArrayDeque<AsyncEvent> events = new ArrayDeque<>();
  private boolean closed;

  /**
   * Opens a software HCA and attaches it to {@code fabric}.
   *
   * @param nic its place: on-chip memory and doorbell pages are allocated there
   * @param name its name on the wire
   */
  public SoftHca(Fabric fabric, Locus nic, String name, SoftHcaOptions options) {
    if (nic.part() != Locus.Part.NIC) {
      throw new HcaException("an HCA must be at a NIC's place, not at " + nic, Errno.EINVAL);
    }
    this.fabric = fabric;
    this.locus = nic;
    this.name = name;
    this.options = options;
    this.objects = new HcaObjects(this, name, fabric, options);
    this.engine = objects.engine;
    InProcessWire self = new InProcessWire();
    this.wire = self;
    this.gidLow = interfaceIdentifier(name);
    gids.add(new Gid(LINK_LOCAL, gidLow));
    Trace trace = fabric.trace();
    this.port = fabric.attachDevice(nic, engine);
    this.pipeline = new HcaPipeline(port, options.timing().rates());
    CongestionOptions congestion = options.congestion();
    this.credits =
        congestion.creditBytes() == 0
            ? null
            : new CreditPool(congestion.creditBytes(), congestion.silenceNanos());
    this.waiting =
        pipeline.limitsArrivals() && !port.isImmediate()
            ? new DelayLine<>(port, engine::arrive)
            : null;
    this.immediate = port.isImmediate() && options.timing().isZero() && !trace.enabled();
    this.tracer = trace.enabled() ? new HcaTracer(trace, port, nic) : null;
    self.join(this);
    this.plugged = false;
    // Targets in other processes may remember an earlier HCA of this address.
    this.lastConnection =
        fabric.basis() == Basis.MODELLED ? 0 : System.currentTimeMillis() << CONNECTION_BITS;
  }

  /** Opens a software HCA with default options. */
  public SoftHca(Fabric fabric, Locus nic, String name) {
    this(fabric, nic, name, SoftHcaOptions.DEFAULT);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Promises promises() {
    return options.promises();
  }

  @Override
  public HcaAttributes attributes() {
    return new HcaAttributes(
        options.limits().queuePairs(),
        options.limits().maxSendBlocks(),
        options.limits().minSendBlocks(),
        options.limits().completionEntries(),
        options.limits().inlineBytes(),
        options.limits().onChipBytes(),
        options.limits().blueFlameBytes(),
        options.limits().messageBytes(),
        options.limits().readAtomic());
  }

  @Override
  public SoftProtectionDomain allocateProtectionDomain() {
    if (closed) {
      throw new HcaException("cannot allocate a protection domain: %s is closed".formatted(name));
    }
    SoftProtectionDomain domain = new SoftProtectionDomain(this, objects, domains::remove);
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
      free(page);
    }
    wire.leave(this);
    fabric.detach(engine);
    if (faults != null) {
      faults.drop();
    }
    engine.drop();
    if (waiting != null) {
      waiting.drain(packet -> packet.pool.release(packet));
    }
  }

  @Override
  public String toString() {
    return "HCA '%s' at %s".formatted(name, locus);
  }

  @Override
  public SoftHcaOptions options() {
    return options;
  }

  @Override
  public Wire wire() {
    return wire;
  }

  @Override
  public @Nullable HcaFaults faults() {
    return faults;
  }

  @Override
  public @Nullable HcaTracer tracer() {
    return tracer;
  }

  @Override
  public @Nullable FaultTarget faultTarget(int number) {
    return objects.queuePairs.find(number);
  }

  @Override
  public long scratch() {
    return workspace.address();
  }

  @Override
  public long dropBuffer() {
    return workspace.address() + SCRATCH_BYTES;
  }

  @Override
  public long gidHigh() {
    return LINK_LOCAL;
  }

  @Override
  public long gidLow() {
    return gidLow;
  }

  /** Adds a GID, such as that of an IPv4 address, to its table. */
  public void addGid(Gid gid) {
    gids.add(gid);
  }

  /** Its table of GIDs; the first one is link-local. */
  public List<Gid> gids() {
    return Collections.unmodifiableList(gids);
  }

  @Override
  public boolean hasGid(long high, long low) {
    for (int i = 0; i < gids.size(); i++) {
      Gid gid = gids.get(i);
      if (gid.low() == low && gid.high() == high) {
        return true;
      }
    }
    return false;
  }

  @Override
  public Gid sourceGid(int index) {
    return gids.get(index < gids.size() ? index : 0);
  }

  @Override
  public PacketPool packets() {
    return engine.packets();
  }

  @Override
  public DevicePort port() {
    return port;
  }

  @Override
  public long receiveNanos(Packet packet) {
    HcaTiming timing = options.timing();
    return BthOpcode.isResponse(packet.opcode) ? timing.acknowledgeNanos() : timing.receiveNanos();
  }

  @Override
  public boolean delaysArrivals() {
    return options.timing().delaysArrivals();
  }

  @Override
  public HcaPipeline pipeline() {
    return pipeline;
  }

  @Override
  public @Nullable CreditPool credits() {
    return credits;
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

  /** Raises {@link AsyncEvent.Type#PORT_ACTIVE} or {@link AsyncEvent.Type#PORT_ERROR}. */
  @Override
  public void linkUp(boolean up) {
    if (up != linkUp) {
      linkUp = up;
      if (!up) {
        counters.add(Counter.LINK_DOWNED);
      }
      raise(up ? AsyncEvent.Type.PORT_ACTIVE : AsyncEvent.Type.PORT_ERROR, PORT);
    }
  }

  /** Packets to connected queue pairs that came from another GID than the peer's; dropped. */
  public long strangers() {
    return strangers;
  }

  @Override
  public void countStranger() {
    strangers++;
  }

  @Override
  public boolean isImmediate() {
    return immediate && linkUp && !closed && faults == null;
  }

  @Override
  public boolean isLinkUp() {
    return linkUp;
  }

  /**
   * Applies a fault plan from now on. Events are counted from now on, queue pairs from the first
   * that was created here.
   *
   * @param injector the plan, bound for this HCA on the clock of its fabric
   */
  public void inject(FaultInjector injector) {
    faults = new HcaFaults(this, injector);
    port.apart(0);
  }

  @Override
  public long nextConnection() {
    return ++lastConnection;
  }

  /** Memory of the HCA's machine, for queues that no program has. */
  public MemoryProvider memory() {
    return FabricMemory.of(fabric.memory(), locus.rank());
  }

  @Override
  public long uarPage() {
    Allocation page = uarPage;
    if (page == null) {
      page = allocate(MemoryKind.UAR, Doorbell.UAR_BYTES, name + " doorbell page");
      uarPage = page;
      port.onMmio(page.address(), objects.newUar(page, 0));
    }
    return page.address();
  }

  @Override
  public void plug(Wire other) {
    if (plugged) {
      throw new HcaException(
          "%s is on a wire already; an HCA joins one".formatted(this), Errno.EBUSY);
    }
    wire = other;
    plugged = true;
  }

  @Override
  public void requireReachable(long address, long bytes) {
    if (!fabric.reaches(address, bytes)) {
      throw new HcaException(
          "cannot register %d bytes at 0x%x: %s"
              .formatted(bytes, address, fabric.memory().describe(address, bytes)),
          Errno.EINVAL);
    }
  }

  @Override
  public Allocation allocate(MemoryKind kind, long bytes, String label) {
    return fabric.memory().allocate(kind, locus, bytes, label);
  }

  @Override
  public void free(Allocation page) {
    fabric.memory().free(page);
  }

  @Override
  public void raise(AsyncEvent.Type type, int number) {
    events.add(new AsyncEvent(type, number));
  }

  @Override
  public PortCounters counters() {
    return counters;
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

  @Override
  public void arrive(Packet packet) {
    if (closed || !linkUp) {
      counters.lost++;
      packet.pool.release(packet);
      return;
    }
    counters.add(Counter.PORT_RCV_PACKETS, Counter.PORT_RCV_DATA, 1, packet.frameBytes());
    if (waiting == null || BthOpcode.isResponse(packet.opcode)) {
      engine.arrive(packet);
    } else {
      waiting.add(packet, pipeline.packet(packet));
    }
  }
}
