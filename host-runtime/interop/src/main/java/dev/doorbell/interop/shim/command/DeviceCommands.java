package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaAttributes;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.ShimAction;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.client.Lease;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.OnChipPages;
import dev.doorbell.interop.shim.object.Resource;
import dev.doorbell.interop.shim.object.ServedDevice;
import dev.doorbell.interop.shim.object.UarPage;

/**
 * Queries of a device, its port and its GIDs, and doorbell pages. Structures are those of
 * rdma/ib_user_verbs.h and rdma/mlx5-abi.h.
 */
public final class DeviceCommands {
  /** {@link ServedDevice#FIRMWARE} as a number. */
  private static final long FIRMWARE = 22L << 32 | 36 << 16 | 1010;

  private static final int VENDOR = 0x2c9;
  private static final int ROCE_V2 = 2;
  private static final int GID_ENTRY_BYTES = 32;

  /** {@code MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD}. */
  private static final int CQE_128B_PAD = 1 << 1;

  /** {@code MLX5_IB_QUERY_DEV_RESP_FLAGS_OOO_DP}: receivers place packets in any order. */
  private static final int OUT_OF_ORDER = 1 << 4;

  /** 100 Gbit/s. */
  private static final int PORT_SPEED = 1_000;

  private static final int QP_WR = 1 << 15;

  /** {@code max_mcast_grp}. */
  private static final int MULTICAST_GROUPS = 1 << 13;

  private DeviceCommands() {}

  static void getContext(IoctlCommand command) throws ErrnoException {
    command.in(UverbsAbi.UHW_IN, 8);
    DeviceClock.publish(command.context().process());
    command.out32(UverbsAbi.GET_CONTEXT_NUM_COMP_VECTORS, 1);
    command.out64(UverbsAbi.GET_CONTEXT_CORE_SUPPORT, 1);
    command.out(UverbsAbi.UHW_OUT, contextOf(command));
  }

  /** For a program that imports a context by its file descriptor. */
  static void queryContext(IoctlCommand command) throws ErrnoException {
    command.out32(UverbsAbi.GET_CONTEXT_NUM_COMP_VECTORS, 1);
    command.out64(UverbsAbi.GET_CONTEXT_CORE_SUPPORT, 1);
    command.out(UverbsAbi.QUERY_CONTEXT_RESP_UCTX, contextOf(command));
  }

  /** {@code struct mlx5_ib_alloc_ucontext_resp}. */
  private static Struct contextOf(IoctlCommand command) {
    HcaAttributes attributes = command.context().device().hca().attributes();
    return new Struct(72)
        .u32(0, 1 << 18) // qp_tab_size
        .u32(4, 2 * attributes.blueFlameBytes()) // bf_reg_size
        .u32(8, 0) // tot_bfregs: doorbell pages are allocated one by one
        .u32(12, 64) // cache_line_size
        .u16(16, 1024) // max_sq_desc_sz
        .u16(18, 512) // max_rq_desc_sz
        .u32(20, attributes.maxSendBlocks()) // max_send_wqebb
        .u32(24, QP_WR) // max_recv_wr
        .u32(28, QP_WR - 1) // max_srq_recv_wr
        .u16(32, 1) // num_ports
        .u32(36, 1 << 1 | 1 << 2) // comp_mask: there is a dump_fill_mkey; ECE, of no options
        .u32(40, 72) // response_length
        .u8(44, 1) // cqe_version: CQEs have the program's names of queues
        .u8(45, 3) // cmds_supp_uhw: QUERY_DEVICE, CREATE_AH
        .u8(46, 1) // eth_min_inline: none
        .u8(47, 1) // clock_info_versions: bit 0 is version 1
        .u32(56, 12) // log_uar_size
        .u32(60, 1) // num_uars_per_page
        .u32(64, 512) // num_dyn_bfregs
        .u32(68, command.context().device().nullKey()); // dump_fill_mkey
  }

  static void queryDevice(IoctlCommand command, boolean extended) throws ErrnoException {
    if (!command.has(UverbsAbi.CORE_OUT)) {
      // rdma-core probes by this whether commands of the older kind may come by ioctl.
      throw new ErrnoException(Errno.ENOSPC);
    }
    Struct device = device(command.context().device());
    if (!extended) {
      command.out(UverbsAbi.CORE_OUT, device);
      return;
    }
    // struct ib_uverbs_ex_query_device_resp
    Struct answer =
        new Struct(304)
            .copy(device, 0, 0, device.size())
            .u32(180, 304) // response_length
            .u64(184, 3) // odp_caps.general_caps: ODP, implicit ODP
            .u32(192, 0x3f) // rc_odp_caps: all operations
            .u32(196, 0x07) // uc_odp_caps: SEND, RECV, WRITE
            .u32(200, 0x23) // ud_odp_caps: SEND, RECV, SRQ_RECV
            .u64(208, -1L) // timestamp_mask
            .u64(216, DeviceClock.KILOHERTZ) // hca_core_clock
            .u64(224, device.u32(60)) // device_cap_flags_ex
            .u64(288, OnChipPages.BYTES); // max_dm_size
    command.out(UverbsAbi.CORE_OUT, answer);
    command.out(
        UverbsAbi.UHW_OUT, new Struct(104).u32(4, 104).u32(60, CQE_128B_PAD | OUT_OF_ORDER));
  }

  /** {@code struct ib_uverbs_query_device_resp}. */
  private static Struct device(ServedDevice device) {
    HcaAttributes attributes = device.hca().attributes();
    int segments = ControlSegment.MAX_DS - 2;
    return new Struct(176)
        .u64(0, FIRMWARE)
        .be64(8, device.guid())
        .be64(16, device.guid())
        .u64(24, -1L) // max_mr_size
        .u64(32, -4096L) // page_size_cap
        .u32(40, VENDOR)
        .u32(44, ServedDevice.VENDOR_PART)
        .u32(52, attributes.maxQueuePairs())
        .u32(56, QP_WR)
        // Bad P_Key counter, port active event, SRQ resize, RC RNR NAK.
        .u32(60, 1 << 1 | 1 << 10 | 1 << 12)
        .u32(64, Math.min(segments, 30)) // max_sge
        .u32(68, Math.min(segments, 30)) // max_sge_rd
        .u32(72, 2 * attributes.maxQueuePairs()) // max_cq
        .u32(76, attributes.maxCompletionEntries() - 1) // max_cqe
        .u32(80, 1 << 20) // max_mr
        .u32(84, 1 << 16) // max_pd
        .u32(88, attributes.maxReadAtomic()) // max_qp_rd_atom
        .u32(96, attributes.maxReadAtomic() * attributes.maxQueuePairs()) // max_res_rd_atom
        .u32(100, attributes.maxReadAtomic()) // max_qp_init_rd_atom
        .u32(108, 1) // atomic_cap: among HCAs
        .u32(132, MULTICAST_GROUPS)
        .u32(136, attributes.maxQueuePairs()) // max_mcast_qp_attach
        .u32(140, MULTICAST_GROUPS * attributes.maxQueuePairs()) // max_total_mcast_qp_attach
        .u32(144, Integer.MAX_VALUE) // max_ah
        .u32(156, attributes.maxQueuePairs()) // max_srq
        .u32(160, QP_WR - 1) // max_srq_wr
        .u32(164, 31) // max_srq_sge
        .u16(168, 1) // max_pkeys
        .u8(170, 16) // local_ca_ack_delay
        .u8(171, 1); // phys_port_cnt
  }

  static void queryPort(IoctlCommand command) throws ErrnoException {
    requirePort(command.in(UverbsAbi.QUERY_PORT_PORT_NUM, 1).u8(0));
    HcaAttributes attributes = command.context().device().hca().attributes();
    boolean isUp = command.context().device().hca().isLinkUp();
    // struct ib_uverbs_query_port_resp_ex
    Struct answer =
        new Struct(48)
            .u32(0, 1 << 16 | 1 << 26) // CM, IP based GIDs
            .u32(4, (int) attributes.maxMessageBytes())
            .u32(16, ServedDevice.GID_TABLE_ENTRIES)
            .u16(20, 1) // pkey_tbl_len
            .u8(26, isUp ? 4 : 1) // active, or down
            .u8(27, 5) // max_mtu 4096
            .u8(28, 5)
            .u8(30, 1) // max_vl_num
            .u8(34, 2) // 4 lanes
            .u8(35, 32) // of 25 Gbit/s
            .u8(36, isUp ? 5 : 3) // link up, or disabled
            .u8(37, 2) // Ethernet
            .u8(38, 2); // a global route is required
    command.out(UverbsAbi.QUERY_PORT_RESP, answer);
  }

  /** The rate in units of 100 Mbit/s. */
  static void queryPortSpeed(IoctlCommand command) throws ErrnoException {
    requirePort(command.in32(UverbsAbi.QUERY_PORT_PORT_NUM));
    command.out64(UverbsAbi.QUERY_PORT_RESP, PORT_SPEED);
  }

  /** {@code struct mlx5_ib_uapi_query_port}: no port of a switch, so no field of it is valid. */
  static void queryDriverPort(IoctlCommand command) throws ErrnoException {
    requirePort(command.in32(UverbsAbi.DRIVER_QUERY_PORT_PORT_NUM));
    command.out(UverbsAbi.DRIVER_QUERY_PORT_RESP, new Struct(40));
  }

  static void requirePort(int port) throws ErrnoException {
    ErrnoException.require(port == 1, Errno.EINVAL);
  }

  /** {@code struct ib_uverbs_gid_entry}. */
  private static Struct gid(ServedDevice device, int index) {
    Gid gid = device.gids().get(index);
    return new Struct(GID_ENTRY_BYTES)
        .be64(0, gid.high())
        .be64(8, gid.low())
        .u32(16, index)
        .u32(20, 1)
        .u32(24, ROCE_V2)
        .u32(28, 0);
  }

  static void queryGidEntry(IoctlCommand command) throws ErrnoException {
    requirePort(command.in32(UverbsAbi.QUERY_GID_ENTRY_PORT));
    ServedDevice device = command.context().device();
    int index = command.in32(UverbsAbi.QUERY_GID_ENTRY_GID_INDEX);
    ErrnoException.require(index >= 0 && index < ServedDevice.GID_TABLE_ENTRIES, Errno.EINVAL);
    ErrnoException.require(index < device.gids().size(), Errno.ENODATA);
    command.out(UverbsAbi.QUERY_GID_ENTRY_RESP_ENTRY, gid(device, index));
  }

  static void queryGidTable(IoctlCommand command) throws ErrnoException {
    long entry = command.in64(UverbsAbi.QUERY_GID_TABLE_ENTRY_SIZE);
    int room = command.length(UverbsAbi.QUERY_GID_TABLE_RESP_ENTRIES);
    ServedDevice device = command.context().device();
    int count = device.gids().size();
    ErrnoException.require(
        entry >= GID_ENTRY_BYTES && entry <= room && room / entry >= count, Errno.EINVAL);
    Struct table = new Struct((int) entry * count);
    for (int i = 0; i < count; i++) {
      table.copy(gid(device, i), 0, (int) entry * i, GID_ENTRY_BYTES);
    }
    command.out(UverbsAbi.QUERY_GID_TABLE_RESP_ENTRIES, table);
    command.out64(UverbsAbi.QUERY_GID_TABLE_RESP_NUM_ENTRIES, count);
  }

  /** {@code MLX5_IB_METHOD_UAR_OBJ_ALLOC}: a doorbell page, which the program maps itself. */
  static void allocateUar(IoctlCommand command) throws ErrnoException {
    ErrnoException.require(command.in(UverbsAbi.UAR_ALLOC_TYPE, 1).u8(0) <= 1, Errno.EOPNOTSUPP);
    ClientContext context = command.context();
    int number = context.tables().takeUarPage();
    ErrnoException.require(number >= 0, Errno.ENOMEM);
    long offset = UverbsAbi.DEVICE_OFFSET + (long) number * Doorbell.UAR_BYTES;
    Lease lease = context.process().leaseDevice(offset, Doorbell.UAR_BYTES);
    UarPage page = new UarPage(number, offset, lease);
    command.outHandle(UverbsAbi.UAR_ALLOC_HANDLE, command.add(new Resource.Uar(page)));
    command.out64(UverbsAbi.UAR_ALLOC_MMAP_OFFSET, offset);
    command.out32(UverbsAbi.UAR_ALLOC_MMAP_LENGTH, Doorbell.UAR_BYTES);
    command.out32(UverbsAbi.UAR_ALLOC_PAGE_ID, number);
  }

  static void freeUar(IoctlCommand command) throws ErrnoException {
    UarPage page = command.remove(UverbsAbi.UAR_DESTROY_HANDLE, Resource.Uar.class).page();
    command.addAction(ShimAction.discard(page.offset(), Doorbell.UAR_BYTES));
  }
}
