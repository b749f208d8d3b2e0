package dev.doorbell.verbs.device;

import dev.doorbell.core.Probe;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.verbs.generated.mlx5dv.Mlx5dv;
import dev.doorbell.verbs.generated.mlx5dv.mlx5dv_context_attr;
import dev.doorbell.verbs.generated.verbs.ibv_device_attr;
import dev.doorbell.verbs.generated.verbs.ibv_gid_entry;
import dev.doorbell.verbs.generated.verbs.ibv_port_attr;
import dev.doorbell.verbs.library.DeviceOps;
import dev.doorbell.verbs.library.Mlx5Functions;
import dev.doorbell.verbs.library.NativeFunction;
import dev.doorbell.verbs.library.NativeFunction.Failure;
import dev.doorbell.verbs.library.VerbsFunctions;
import dev.doorbell.verbs.library.VerbsProbe;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** An opened device, one of its ports, and the GID of this end. */
public final class DeviceContext implements AutoCloseable {
  private static final int LINK_LAYER_ETHERNET = 2;
  private static final int ENODATA = 61;

  private static final Failure OPEN_DEVX =
      new Failure(
          "open the device for DEVX",
          errno ->
              errno == Errno.EACCES || errno == Errno.EPERM
                  ? "let this user read and write /dev/infiniband/uverbs*; a container needs"
                      + " CAP_NET_RAW as well (--cap-add=NET_RAW or --privileged)"
                  : "DEVX takes Linux 5.1 with mlx5_ib, firmware with user contexts (ConnectX-4 or"
                      + " later), and in a container CAP_NET_RAW (--cap-add=NET_RAW)");
  private static final Failure QUERY_DEVICE =
      Failure.of("query the device", "see dmesg for what the driver says");
  private static final Failure QUERY_PORT =
      Failure.of("query a port", "see dmesg for what the driver says");

  public final String name;
  public final MemorySegment context;
  public final DeviceOps ops;
  public final PortInfo port;
  final List<GidEntry> gids;
  public final GidEntry.Choice gid;
  public final int maxQueuePairs;
  private boolean closed;

  private DeviceContext(String name, MemorySegment context, PortInfo port, int gidIndex) {
    this.name = name;
    this.context = context;
    this.ops = new DeviceOps(context);
    this.port = port;
    this.gids = gidTable(context, port);
    try (Arena arena = Arena.ofConfined()) {
      this.gid = GidEntry.choose(gids, port.ethernet(), gidIndex);
      MemorySegment attributes = arena.allocate(ibv_device_attr.layout());
      VerbsFunctions.QUERY_DEVICE.require(QUERY_DEVICE, context, attributes);
      this.maxQueuePairs = ibv_device_attr.max_qp(attributes);
    } catch (IllegalArgumentException e) {
      throw new HcaException(
          "cannot use port %d of %s: %s".formatted(port.number(), name, e.getMessage()),
          Errno.EINVAL);
    }
  }

  /**
   * Opens the first active port that {@code filter} accepts, by {@code mlx5dv_open_device}, which
   * permits firmware commands.
   *
   * @param gidIndex place in the port's GID table, or -1 to choose
   * @throws HcaException with the result of the probe, or with what each port lacks
   */
  public static DeviceContext open(DeviceFilter filter, int gidIndex) {
    Probe probe = VerbsProbe.probeMlx5();
    if (!(probe instanceof Probe.Ready ready)) {
      throw new HcaException("no RDMA device: " + probe.describe(), Errno.ENODEV);
    }
    List<String> reasons = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(ValueLayout.JAVA_INT);
      MemorySegment list =
          VerbsFunctions.GET_DEVICE_LIST.pointer(
              Failure.of("list devices", "the driver listed them a moment ago; try again"), count);
      try {
        int devices = count.get(ValueLayout.JAVA_INT, 0);
        MemorySegment array = list.reinterpret((long) devices * Long.BYTES);
        for (int i = 0; i < devices; i++) {
          DeviceContext context =
              openDevice(
                  array.getAtIndex(ValueLayout.ADDRESS, i), filter, gidIndex, ready, reasons);
          if (context != null) {
            return context;
          }
        }
      } finally {
        VerbsFunctions.FREE_DEVICE_LIST.callVoid(list);
      }
    }
    throw new HcaException(
        "no port fits '%s': %s; bring one up, or choose another with --hca"
            .formatted(filter, String.join("; ", reasons)),
        Errno.ENODEV);
  }

  private static @org.jspecify.annotations.Nullable DeviceContext openDevice(
      MemorySegment device,
      DeviceFilter filter,
      int gidIndex,
      Probe.Ready ready,
      List<String> reasons) {
    String name = nameOf(device);
    if (!ready.devices().contains(name)) {
      reasons.add(name + " is no mlx5 device");
      return null;
    }
    MemorySegment context = open(device);
    boolean keep = false;
    try {
      int ports = portCount(context);
      for (int number = 1; number <= ports; number++) {
        if (!filter.matches(name, number)) {
          reasons.add("%s:%d is filtered out".formatted(name, number));
          continue;
        }
        PortInfo port = queryPort(context, number);
        if (!port.isActive()) {
          reasons.add("%s:%d is %s".formatted(name, number, port.stateName()));
          continue;
        }
        DeviceContext opened = new DeviceContext(name, context, port, gidIndex);
        keep = true;
        return opened;
      }
      return null;
    } finally {
      if (!keep) {
        VerbsFunctions.CLOSE_DEVICE.call(context);
      }
    }
  }

  private static MemorySegment open(MemorySegment device) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(mlx5dv_context_attr.layout());
      mlx5dv_context_attr.flags(attributes, Mlx5dv.MLX5DV_CONTEXT_FLAGS_DEVX());
      return Mlx5Functions.OPEN_DEVICE.pointer(OPEN_DEVX, device, attributes);
    }
  }

  static String nameOf(MemorySegment device) {
    return VerbsFunctions.GET_DEVICE_NAME
        .call(device)
        .pointer()
        .reinterpret(Long.MAX_VALUE)
        .getString(0);
  }

  private static int portCount(MemorySegment context) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(ibv_device_attr.layout());
      VerbsFunctions.QUERY_DEVICE.require(QUERY_DEVICE, context, attributes);
      return ibv_device_attr.phys_port_cnt(attributes);
    }
  }

  /**
   * Queries a port like the macro {@code ibv_query_port}: the whole struct by the table, else its
   * older part.
   */
  private static PortInfo queryPort(MemorySegment context, int number) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(ibv_port_attr.layout());
      MemorySegment function = new DeviceOps(context).extended(DeviceOps.QUERY_PORT_OFFSET);
      if (function.address() == 0) {
        VerbsFunctions.QUERY_PORT.require(QUERY_PORT, context, (byte) number, attributes);
      } else {
        new NativeFunction(
                "ibv_query_port",
                function,
                FunctionDescriptor.of(
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_BYTE,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_LONG))
            .require(
                QUERY_PORT, context, (byte) number, attributes, ibv_port_attr.layout().byteSize());
      }
      return new PortInfo(
          number,
          ibv_port_attr.state(attributes),
          ibv_port_attr.active_mtu(attributes),
          ibv_port_attr.lid(attributes) & 0xffff,
          ibv_port_attr.gid_tbl_len(attributes),
          ibv_port_attr.link_layer(attributes) == LINK_LAYER_ETHERNET);
    }
  }

  private static List<GidEntry> gidTable(MemorySegment context, PortInfo port) {
    List<GidEntry> entries = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment entry = arena.allocate(ibv_gid_entry.layout());
      for (int index = 0; index < port.gids(); index++) {
        int error =
            VerbsFunctions.QUERY_GID_EX
                .call(context, port.number(), index, entry, 0, entry.byteSize())
                .error();
        if (error == ENODATA) {
          continue;
        }
        if (error != 0) {
          break;
        }
        Gid gid = Gid.read(ibv_gid_entry.gid(entry).address());
        if (gid.high() != 0 || gid.low() != 0) {
          entries.add(new GidEntry(index, gid, GidEntry.Type.of(ibv_gid_entry.gid_type(entry))));
        }
      }
    }
    return entries;
  }

  /** The address that a peer connects to: the GID, and on InfiniBand a comma and the LID. */
  public String address() {
    return port.ethernet() ? gid.entry().gid().toString() : gid.entry().gid() + "," + port.lid();
  }

  /**
   * Refuses partition keys of other partitions.
   *
   * @throws HcaException when the attributes name another partition than the default one
   */
  public void requireDefaultPartition(ConnectionAttributes attributes) {
    if (attributes.partitionKey() != ConnectionAttributes.DEFAULT_PARTITION) {
      throw new HcaException(
          "%s connects in the default partition alone, not in 0x%x; leave the P_Key at 0xffff"
              .formatted(name, attributes.partitionKey()),
          Errno.EINVAL);
    }
  }

  /** One line for the beginning of a run. */
  public String describe() {
    return "%s port %d, %s, MTU %d, GID %s (%s)"
        .formatted(
            name,
            port.number(),
            port.ethernet() ? "RoCE" : "InfiniBand",
            port.mtuBytes(),
            gid.entry(),
            gid.reason());
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      VerbsFunctions.CLOSE_DEVICE.require(
          Failure.of("close " + name, "this is a fault in Doorbell: something of it is still open"),
          context);
    }
  }
}
