package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.mlx5.prm.Capabilities;
import dev.doorbell.core.mlx5.prm.PrmBuffer;
import dev.doorbell.core.mlx5.prm.PrmField;
import dev.doorbell.core.mlx5.prm.generated.CommandHeader;
import dev.doorbell.core.mlx5.prm.generated.MemoryKeyContext;
import dev.doorbell.core.mlx5.prm.generated.RoceAddress;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.PagesNotShared;
import dev.doorbell.interop.shim.abi.ShimAction;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.client.ClientProcess;
import dev.doorbell.interop.shim.client.EventFile;
import dev.doorbell.interop.shim.client.GpuRange;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.DevxSubscriptions;
import dev.doorbell.interop.shim.object.Resource;
import dev.doorbell.interop.shim.object.ServedDevice;

/**
 * DEVX: firmware commands of a program, by which GPU-initiated libraries create their queues.
 * Commands that are not implemented fail with a status, as firmware fails them. {@link DevxObjects}
 * carries out those that concern one object.
 */
final class DevxCommands {
  private static final int EQN = 5;

  /** log2 of the READs and atomics of a queue pair. */
  private static final int LOG_READS = 4;

  private static final int ETHERNET = 1;
  private static final int ROCE_UDP_PORT = 4791;

  /** Flag of an event channel: its records are cookies, without event data. */
  private static final int OMIT_EVENT_DATA = 1;

  /** Commands 0x930 to 0x93f are about flow tables. */
  private static final int FLOW_TABLES = 0x93;

  /** {@code dp_ordering_ooo_all_*} of RC, DC, XRC, UC and UD. */
  private static final PrmField OUT_OF_ORDER = new PrmField(0x74, 15, 11);

  private static final int GENERAL_2 = 0x20;
  private static final PrmField DP_ORDERING_FORCE = new PrmField(0x20, 23, 23);

  private static final int MOST_ANSWER_BYTES = 1 << 16;

  private DevxCommands() {}

  static void registerUmem(IoctlCommand command) throws ErrnoException, PagesNotShared {
    long address = command.in64(UverbsAbi.DEVX_UMEM_ADDR);
    long bytes = command.in64(UverbsAbi.DEVX_UMEM_LEN);
    boolean writable = (command.in32(UverbsAbi.DEVX_UMEM_ACCESS, 0) & 1) != 0;
    ClientContext context = command.context();
    long start =
        command.has(UverbsAbi.DEVX_UMEM_DMABUF_FD)
            ? RegionCommands.exported(command, UverbsAbi.DEVX_UMEM_DMABUF_FD, address, bytes)
            : address;
    ErrnoException.require(ClientProcess.isLegal(start, bytes), Errno.EFAULT);
    GpuRange gpu =
        context.process().isMapped(start, bytes, writable)
            ? null
            : context.process().take(start, bytes);
    Resource.Umem umem = new Resource.Umem(context.tables().nextUmem(), start, bytes, gpu);
    int handle = command.add(umem);
    command.out32(UverbsAbi.DEVX_UMEM_OUT_ID, umem.id());
    command.outHandle(UverbsAbi.DEVX_UMEM_HANDLE, handle);
  }

  static void queryEqn(IoctlCommand command) throws ErrnoException {
    ErrnoException.require(command.in32(UverbsAbi.DEVX_QUERY_EQN_USER_VEC) == 0, Errno.EINVAL);
    command.out32(UverbsAbi.DEVX_QUERY_EQN_DEV_EQN, EQN);
  }

  static void queryUar(IoctlCommand command) throws ErrnoException {
    int number = command.in32(UverbsAbi.DEVX_QUERY_UAR_USER_IDX);
    ErrnoException.require(command.context().page(number) != null, Errno.EINVAL);
    command.out32(UverbsAbi.DEVX_QUERY_UAR_DEV_IDX, number);
  }

  static void openEvents(IoctlCommand command) throws ErrnoException {
    int flags = command.in32(UverbsAbi.DEVX_EVENT_FD_FLAGS);
    ErrnoException.require((flags & ~OMIT_EVENT_DATA) == 0, Errno.EOPNOTSUPP);
    open(command, flags == OMIT_EVENT_DATA ? 0 : DevxSubscriptions.EVENT_BYTES);
  }

  /** Opens a channel for answers of {@link #queryLater}. */
  static void openAnswers(IoctlCommand command) throws ErrnoException {
    open(command, 0);
  }

  private static void open(IoctlCommand command, int eventBytes) throws ErrnoException {
    ChannelCommands.openEvents(
        command,
        command.context().openDevxEvents(eventBytes),
        UverbsAbi.DEVX_EVENT_FD_HANDLE,
        false);
  }

  /** Subscribes to events of one object. Events of the device itself are not implemented. */
  static void subscribe(IoctlCommand command) throws ErrnoException {
    ErrnoException.require(command.has(UverbsAbi.DEVX_SUBSCRIBE_OBJ_HANDLE), Errno.EOPNOTSUPP);
    ClientContext context = command.context();
    Resource of = command.find(UverbsAbi.DEVX_SUBSCRIBE_OBJ_HANDLE, Resource.class);
    Struct types = command.in(UverbsAbi.DEVX_SUBSCRIBE_TYPES, Short.BYTES);
    for (int at = 0; at < types.size(); at += Short.BYTES) {
      ErrnoException.require(
          at + Short.BYTES <= types.size() && DevxSubscriptions.isKnown(types.u16(at)),
          Errno.EINVAL);
    }
    long cookie =
        command.has(UverbsAbi.DEVX_SUBSCRIBE_COOKIE)
            ? command.in64(UverbsAbi.DEVX_SUBSCRIBE_COOKIE)
            : 0;
    EventFile file =
        command.has(UverbsAbi.DEVX_SUBSCRIBE_FD_NUM)
            ? new EventFile(context.process().pid(), command.in32(UverbsAbi.DEVX_SUBSCRIBE_FD_NUM))
            : null;
    context
        .devxSubscriptions()
        .subscribe(command.handle(UverbsAbi.DEVX_SUBSCRIBE_FD_HANDLE), of, types, cookie, file);
  }

  private static PrmBuffer input(IoctlCommand command, int attribute) throws ErrnoException {
    return new PrmBuffer(command.in(attribute, PrmBuffer.HEADER_BYTES).content());
  }

  private static PrmBuffer output(IoctlCommand command, int attribute) throws ErrnoException {
    int length = command.length(attribute);
    ErrnoException.require(length >= PrmBuffer.HEADER_BYTES, Errno.EINVAL);
    return new PrmBuffer(length);
  }

  private static void fail(PrmBuffer out, int status, int opcode) {
    out.put(CommandHeader.STATUS, status).put(CommandHeader.SYNDROME, opcode);
  }

  private static void answer(IoctlCommand command, int attribute, PrmBuffer out)
      throws ErrnoException {
    command.out(attribute, new Struct(out.content()));
    ErrnoException.require(out.status() == 0, Errno.EREMOTEIO);
  }

  /** Commands that concern no object. */
  static void other(IoctlCommand command) throws ErrnoException {
    PrmBuffer in = input(command, UverbsAbi.DEVX_OTHER_CMD_IN);
    PrmBuffer out = output(command, UverbsAbi.DEVX_OTHER_CMD_OUT);
    int opcode = in.get(CommandHeader.OPCODE);
    switch (opcode) {
      case CommandHeader.QUERY_HCA_CAP -> writeCapabilities(command, Capabilities.group(in), out);
      case CommandHeader.QUERY_LAG -> {
        // All fields are 0: ports are not bonded.
      }
      case CommandHeader.QUERY_ROCE_ADDRESS ->
          writeRoceAddress(command.context().device(), in.get(RoceAddress.INDEX), out);
      default -> fail(out, CommandHeader.BAD_OPCODE, opcode);
    }
    answer(command, UverbsAbi.DEVX_OTHER_CMD_OUT, out);
  }

  private static void writeCapabilities(IoctlCommand command, int group, PrmBuffer out) {
    if (group == Capabilities.GENERAL) {
      long message = command.context().device().hca().attributes().maxMessageBytes();
      out.put(Capabilities.LOG_MAX_QP_SZ, MappedQueues.MAX_SHIFT)
          .put(Capabilities.LOG_MAX_QP, 16)
          .put(Capabilities.LOG_MAX_CQ_SZ, 22)
          .put(Capabilities.LOG_MAX_CQ, 17)
          .put(Capabilities.CQE_VERSION, 1)
          .put(Capabilities.PORT_TYPE, ETHERNET)
          .put(Capabilities.NUM_PORTS, 1)
          .put(Capabilities.LOG_MAX_MSG, Long.SIZE - 1 - Long.numberOfLeadingZeros(message))
          .put(Capabilities.MAX_INDIRECTION, 1)
          .put(Capabilities.FIXED_BUFFER_SIZE, true)
          .put(Capabilities.LOG_MAX_KLM_LIST_SIZE, FixedKeys.LOG_MAX_ENTRIES)
          .put(Capabilities.LOG_MAX_RA_REQ_DC, LOG_READS)
          .put(Capabilities.LOG_MAX_RA_RES_DC, LOG_READS)
          .put(Capabilities.ECE, true)
          .put(Capabilities.DCT, true)
          .put(Capabilities.ROCE_SUPPORTED, true)
          .put(Capabilities.ATOMIC_SUPPORTED, true)
          .put(Capabilities.RC_SUPPORTED, true)
          .put(Capabilities.BLUEFLAME, true)
          .put(OUT_OF_ORDER, 0x1f)
          .put(Capabilities.LOG_BF_REG_SIZE, 9)
          .put(Capabilities.MAX_WQE_SZ_SQ, 1024)
          .put(Capabilities.MAX_WQE_SZ_RQ, 512)
          .put(Capabilities.LOG_MAX_RMP, 16);
    } else if (group == GENERAL_2) {
      out.put(DP_ORDERING_FORCE, true);
    } else if (group == Capabilities.ODP) {
      // As the kernel's query of the device says it, with the bits in the other order.
      out.put(Capabilities.ODP_RC, 0x3f)
          .put(Capabilities.ODP_UC, 0x38)
          .put(Capabilities.ODP_UD, 0x31)
          .put(Capabilities.ODP_DC, 0x3f);
    } else if (group == Capabilities.ATOMIC) {
      out.put(Capabilities.ATOMIC_8B_ENDIANNESS, 1)
          .put(Capabilities.ATOMIC_8B_ENDIANNESS_1, true)
          .put(Capabilities.ATOMIC_OPERATIONS, 0xf)
          .put(Capabilities.ATOMIC_SIZE_QP, Integer.BYTES | Long.BYTES)
          .put(Capabilities.ATOMIC_SIZE_DC, Integer.BYTES | Long.BYTES);
    } else if (group == Capabilities.ROCE) {
      out.put(Capabilities.ROCE_VERSION, 4) // bit 2: RoCE v2
          .put(Capabilities.DEST_UDP_PORT, ROCE_UDP_PORT)
          .put(Capabilities.MAX_SRC_UDP_PORT, 0xffff)
          .put(Capabilities.MIN_SRC_UDP_PORT, 0xc000)
          .put(Capabilities.ROCE_ADDRESS_TABLE_SIZE, ServedDevice.GID_TABLE_ENTRIES);
    }
  }

  /** An entry of the GID table; all fields are 0 where it is not in use. */
  private static void writeRoceAddress(ServedDevice device, int index, PrmBuffer out) {
    if (index >= device.gids().size()) {
      return;
    }
    Gid gid = device.gids().get(index);
    long mac = device.mac();
    out.putLong(RoceAddress.GID_HIGH_OFFSET, gid.high())
        .putLong(RoceAddress.GID_LOW_OFFSET, gid.low())
        .put(RoceAddress.MAC_47_32, (int) (mac >>> Integer.SIZE))
        .put(RoceAddress.MAC_31_0, (int) mac)
        .put(RoceAddress.L3_TYPE, gid.isIpv4() ? 0 : 1)
        .put(RoceAddress.VERSION, 2);
  }

  static void create(IoctlCommand command) throws ErrnoException, PagesNotShared {
    PrmBuffer in = input(command, UverbsAbi.DEVX_OBJ_CMD_IN);
    PrmBuffer out = output(command, UverbsAbi.DEVX_OBJ_CMD_OUT);
    int opcode = in.get(CommandHeader.OPCODE);
    // libmlx5 hands this errno on, where it has none for a status of "not supported".
    boolean isServed =
        switch (opcode) {
          case CommandHeader.CREATE_MKEY ->
              in.get(MemoryKeyContext.ACCESS_MODE) != MemoryKeyContext.INDIRECT;
          case CommandHeader.CREATE_TIR, CommandHeader.ALLOC_FLOW_COUNTER -> false;
          default -> opcode >>> 4 != FLOW_TABLES;
        };
    ErrnoException.require(isServed, Errno.EOPNOTSUPP);
    try {
      Resource created = DevxObjects.create(command.context(), in);
      if (created == null) {
        fail(out, CommandHeader.BAD_OPCODE, opcode);
      } else {
        out.putTruncated(CommandHeader.NUMBER, DevxObjects.number(created));
        command.outHandle(UverbsAbi.DEVX_OBJ_HANDLE, command.add(created));
      }
    } catch (HcaException e) {
      fail(
          out,
          e.errno() == Errno.ENOMEM ? CommandHeader.NO_RESOURCES : CommandHeader.BAD_PARAMETER,
          opcode);
    } catch (ErrnoException e) {
      fail(
          out,
          e.errno() == Errno.ENOENT ? CommandHeader.BAD_RESOURCE : CommandHeader.BAD_PARAMETER,
          opcode);
    }
    answer(command, UverbsAbi.DEVX_OBJ_CMD_OUT, out);
  }

  static void modify(IoctlCommand command) throws ErrnoException {
    PrmBuffer in = input(command, UverbsAbi.DEVX_OBJ_CMD_IN);
    PrmBuffer out = output(command, UverbsAbi.DEVX_OBJ_CMD_OUT);
    ClientContext context = command.context();
    Resource resource = command.find(UverbsAbi.DEVX_OBJ_HANDLE, Resource.class);
    int opcode = in.get(CommandHeader.OPCODE);
    ErrnoException.require(
        !(resource instanceof Resource.Qp
                || resource instanceof Resource.Srq
                || resource instanceof Resource.Dct)
            || in.get(CommandHeader.NUMBER) == DevxObjects.number(resource),
        Errno.EINVAL);
    try {
      if (!DevxObjects.modify(context, resource, in)) {
        fail(out, CommandHeader.BAD_OPCODE, opcode);
      }
    } catch (HcaException | ErrnoException e) {
      fail(out, CommandHeader.BAD_PARAMETER, opcode);
    }
    answer(command, UverbsAbi.DEVX_OBJ_CMD_OUT, out);
  }

  static void query(IoctlCommand command) throws ErrnoException {
    PrmBuffer out = output(command, UverbsAbi.DEVX_OBJ_CMD_OUT);
    query(command, out);
    answer(command, UverbsAbi.DEVX_OBJ_CMD_OUT, out);
  }

  /** The same, with the answer on a channel: the number that the program chose, then the answer. */
  static void queryLater(IoctlCommand command) throws ErrnoException {
    int bytes = command.in32(UverbsAbi.DEVX_ASYNC_OUT_LEN);
    ErrnoException.require(
        bytes >= PrmBuffer.HEADER_BYTES && bytes <= MOST_ANSWER_BYTES, Errno.EINVAL);
    PrmBuffer out = new PrmBuffer(bytes);
    query(command, out);
    command
        .context()
        .devxSubscriptions()
        .channel(command.handle(UverbsAbi.DEVX_ASYNC_FD))
        .add(
            new Struct(Long.BYTES + bytes)
                .u64(0, command.in64(UverbsAbi.DEVX_ASYNC_WR_ID))
                .copy(new Struct(out.content()), 0, Long.BYTES, bytes));
  }

  private static void query(IoctlCommand command, PrmBuffer out) throws ErrnoException {
    PrmBuffer in = input(command, UverbsAbi.DEVX_OBJ_CMD_IN);
    Resource resource = command.find(UverbsAbi.DEVX_OBJ_HANDLE, Resource.class);
    int opcode = in.get(CommandHeader.OPCODE);
    if (opcode == CommandHeader.QUERY_QP && resource instanceof Resource.Qp qp) {
      DevxObjects.query(qp, out);
    } else if (opcode == CommandHeader.QUERY_DCT && resource instanceof Resource.Dct target) {
      DevxDcTargets.query(target, out);
    } else {
      fail(out, CommandHeader.BAD_OPCODE, opcode);
    }
  }

  static void destroy(IoctlCommand command) throws ErrnoException {
    ClientContext context = command.context();
    Resource resource = command.remove(UverbsAbi.DEVX_OBJ_HANDLE, Resource.class);
    context.forwardCompletionEvents();
    for (ShimAction action : context.devxSubscriptions().remove(resource)) {
      command.addAction(action);
    }
  }
}
