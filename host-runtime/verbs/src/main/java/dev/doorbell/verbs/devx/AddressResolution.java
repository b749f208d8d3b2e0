package dev.doorbell.verbs.devx;

import dev.doorbell.verbs.device.DeviceContext;
import dev.doorbell.verbs.device.PeerAddress;
import dev.doorbell.verbs.generated.mlx5dv.Mlx5dv;
import dev.doorbell.verbs.generated.mlx5dv.mlx5dv_ah;
import dev.doorbell.verbs.generated.verbs.ibv_ah_attr;
import dev.doorbell.verbs.generated.verbs.ibv_gid;
import dev.doorbell.verbs.generated.verbs.ibv_global_route;
import dev.doorbell.verbs.library.NativeFunction.Failure;
import dev.doorbell.verbs.library.VerbsFunctions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Resolves the Ethernet address of the next hop to a peer. The kernel does so when an address
 * handle is created; libmlx5 stores the result in the address vector.
 */
public final class AddressResolution {
  /** In {@code struct mlx5_wqe_av}. */
  public static final int AV_MAC_OFFSET = 20;

  public static final int AV_BYTES = 48;

  private static final int HOP_LIMIT = 255;

  private AddressResolution() {}

  static long macOf(DevxDomain domain, PeerAddress to, int trafficClass) {
    DeviceContext context = domain.context;
    try (Arena arena = Arena.ofConfined()) {
      // Zeroed: some kernels reject uninitialised fields with EINVAL.
      MemorySegment attributes = arena.allocate(ibv_ah_attr.layout());
      ibv_ah_attr.port_num(attributes, (byte) context.port.number());
      ibv_ah_attr.is_global(attributes, (byte) 1);
      MemorySegment route = ibv_ah_attr.grh(attributes);
      ibv_global_route.sgid_index(route, (byte) context.gid.entry().index());
      ibv_global_route.hop_limit(route, (byte) HOP_LIMIT);
      ibv_global_route.traffic_class(route, (byte) trafficClass);
      to.gid().write(ibv_gid.raw(ibv_global_route.dgid(route)).address());
      MemorySegment handle =
          VerbsFunctions.CREATE_AH.pointer(
              Failure.of(
                  "find the way to " + to.gid(),
                  "no route or no answer to ARP: check with 'ip route get' and 'ping', and that both GIDs are RoCE v2 of one IP version; this end is "
                      + context.describe()),
              domain.pd,
              attributes);
      try {
        MemorySegment found = arena.allocate(mlx5dv_ah.layout());
        Mlx5Objects.query(
            Failure.of("read the address vector", "update libmlx5 to that of rdma-core 44"),
            Mlx5Objects.AH_OFFSET,
            Mlx5dv.MLX5DV_OBJ_AH(),
            handle,
            found);
        MemorySegment vector = mlx5dv_ah.av(found).reinterpret(AV_BYTES);
        long mac = 0;
        for (int i = 0; i < 6; i++) {
          mac = mac << 8 | (vector.get(ValueLayout.JAVA_BYTE, AV_MAC_OFFSET + i) & 0xff);
        }
        return mac;
      } finally {
        VerbsFunctions.DESTROY_AH.call(handle);
      }
    }
  }
}
