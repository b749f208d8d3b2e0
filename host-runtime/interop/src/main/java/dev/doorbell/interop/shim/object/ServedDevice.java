package dev.doorbell.interop.shim.object;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.client.ClientFabric;
import dev.doorbell.interop.shim.client.ClientProcess;
import dev.doorbell.interop.shim.client.ServedWorld;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.SoftProtectionDomain;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import dev.doorbell.softhca.wire.InProcessWire;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One of the HCAs: {@code mlx5_N}, {@code uverbsN}. It presents itself as a ConnectX-6 Dx. */
public final class ServedDevice {
  public static final String FIRMWARE = "22.36.1010";
  public static final int VENDOR_PART = 4125;

  /** Entries of the GID table, of which the first ones are in use. */
  public static final int GID_TABLE_ENTRIES = 256;

  /** The universal/local bit of an interface identifier, which a GID has inverted. */
  private static final long UNIVERSAL = 1L << 57;

  /**
   * Time after which unacknowledged packets are sent again if a fault plan may lose packets, as by
   * an adapter with adaptive retransmission. The timeouts that programs ask for are seconds.
   */
  private static final long FIRST_RETRY_NANOS = 4_000_000;

  private final int number;
  private final ClientFabric fabric;
  private final @Nullable ServedWorld world;
  private final Locus locus;
  private final SoftHca hca;
  private final List<ServedDevice> all;
  private final OnChipPages onChip;
  private final int nullKey;

  /** The network interface of each GID. */
  private final List<String> networkInterfaces = new ArrayList<>();

  private ServedDevice(
      ClientFabric fabric,
      int number,
      List<ServedDevice> all,
      Adapter adapter,
      boolean losesPackets) {
    this.number = number;
    this.fabric = fabric;
    this.all = all;
    this.onChip = new OnChipPages(number);
    this.world = fabric.world();
    SoftHcaOptions usual =
        SoftHcaOptions.DEFAULT.withRandomNumbers().withTimestamps().withAdapter(adapter);
    SoftHcaOptions options = world == null ? usual : world.hca(number, usual);
    this.locus = world == null ? Locus.nic(0, number) : world.nic(number);
    this.hca =
        new SoftHca(
            fabric,
            locus,
            "mlx5_" + number,
            losesPackets
                ? options.withEngine(options.engine().withFirstRetry(FIRST_RETRY_NANOS))
                : options);
    SoftMemoryRegion nothing =
        hca.allocateProtectionDomain()
            .register(
                0,
                ClientFabric.NOTHING,
                1L << ClientProcess.ADDRESS_BITS,
                Set.of(AccessRight.LOCAL_WRITE, AccessRight.REMOTE_WRITE, AccessRight.REMOTE_READ),
                SoftProtectionDomain.ANY_VARIANT);
    nothing.isOpenToAll = true;
    this.nullKey = nothing.lkey();
    networkInterfaces.add(DeviceAddress.LOOPBACK);
  }

  /**
   * Creates devices on one wire. A fault plan calls device n of them "rank n".
   *
   * @param addresses of the first devices, beside those that all have
   */
  public static List<ServedDevice> create(
      ClientFabric fabric,
      InProcessWire wire,
      int count,
      List<DeviceAddress> addresses,
      Adapter adapter,
      FaultPlan faults) {
    List<ServedDevice> all = new ArrayList<>();
    boolean losesPackets = !faults.faults().isEmpty();
    wire.checkSenders();
    for (int i = 0; i < count; i++) {
      ServedDevice device = new ServedDevice(fabric, i, all, adapter, losesPackets);
      device.add(DeviceAddress.loopback(i));
      if (i < addresses.size()) {
        device.add(addresses.get(i));
      }
      all.add(device);
      wire.join(device.hca);
      if (losesPackets) {
        device.hca.inject(faults.bind(i, 0, fabric.now()));
      }
    }
    return all;
  }

  public int number() {
    return number;
  }

  public String name() {
    return hca.name();
  }

  /** A queue pair has been created. */
  public void describe(QueuePair queuePair) {
    if (world != null) {
      world.queuePair(
          locus,
          queuePair.number(),
          queuePair.sendRingAddress(),
          (long) queuePair.attributes().sendBlocks() * SendQueue.BLOCK,
          queuePair.recordAddress() + DoorbellRecord.SEND_OFFSET);
    }
  }

  /** Requires that memory of the world, if it is that, has a path to this HCA. */
  public void requirePath(long address) throws ErrnoException {
    Allocation there = world == null ? null : fabric.memory().find(address);
    if (there != null && there.locus().rank() != locus.rank()) {
      System.err.printf(
          "doorbell: %s is of rank %d and has no path to memory of rank %d: use an HCA of the"
              + " GPU's own rank%n",
          name(), locus.rank(), there.locus().rank());
      throw new ErrnoException(Errno.EFAULT);
    }
  }

  public Locus locus() {
    return locus;
  }

  public SoftHca hca() {
    return hca;
  }

  /** The key of {@code ibv_alloc_null_mr}. */
  public int nullKey() {
    return nullKey;
  }

  public OnChipPages onChip() {
    return onChip;
  }

  /** Its GIDs by index: link-local, then those of its addresses. */
  public List<Gid> gids() {
    return hca.gids();
  }

  /** The interfaces of this machine to which its GIDs belong, by their index. */
  public List<String> networkInterfaces() {
    return Collections.unmodifiableList(networkInterfaces);
  }

  private void add(DeviceAddress address) {
    if (!hca.hasGid(address.gid().high(), address.gid().low())) {
      hca.addGid(address.gid());
      networkInterfaces.add(address.networkInterface());
    }
  }

  public long guid() {
    return hca.gidLow() ^ UNIVERSAL;
  }

  /** The device of the wire that has a GID, or null. */
  public @Nullable ServedDevice withGid(long high, long low) {
    for (ServedDevice device : all) {
      if (device.hca.hasGid(high, low)) {
        return device;
      }
    }
    return null;
  }

  /** Its Ethernet address, from which its link-local GID is derived. */
  public long mac() {
    long identifier = hca.gidLow() ^ UNIVERSAL;
    return identifier >>> 40 << 24 | (identifier & 0xff_ffff);
  }
}
