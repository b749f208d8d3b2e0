package dev.doorbell.interop.shim.cm;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.uverbs.generated.CmAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.abi.UserMemory;
import java.util.Arrays;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The commands that a program writes to its {@code rdma_cm} file: a head of 8 bytes and a structure
 * each, with the address of the answer in it (rdma/rdma_user_cm.h).
 */
public final class CmCommands {
  private static final int HEAD = 8;
  private static final int INET6_BYTES = 28;
  private static final int STORAGE_BYTES = 128;
  private static final int MAX_OPTION_BYTES = 1024;

  /** {@code RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER}. */
  private static final int SEND_ONLY = 1;

  private static final int QUERY_ROUTE_BYTES = 208;
  private static final int QUERY_ADDRESS_BYTES = 280;
  private static final int PATH_BYTES = 72;
  private static final int COMM_EST = 4;
  private static final int LAST_STATE = 6;

  /** {@code IBV_MTU_4096}. */
  private static final int MTU = 5;

  /** {@code IBV_RATE_100_GBPS}. */
  private static final int RATE = 16;

  /** 4.096 us * 2^16. */
  private static final int PACKET_LIFE = 16;

  /** {@code IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL}. */
  private static final int PATH_FLAGS = 0x2b;

  /** {@code IB_SA_EQ}. */
  private static final int EXACTLY = 2;

  private final ConnectionManager connections;
  private final IntFunction<@Nullable CmChannel> byDescriptor;
  private final CmChannel channel;
  private final UserMemory memory;

  /**
   * @param byDescriptor the open file of the same program with that descriptor, or null
   */
  public CmCommands(
      ConnectionManager connections,
      IntFunction<@Nullable CmChannel> byDescriptor,
      CmChannel channel,
      UserMemory memory) {
    this.connections = connections;
    this.byDescriptor = byDescriptor;
    this.channel = channel;
    this.memory = memory;
  }

  /**
   * Carries out a command.
   *
   * @param content head and structure
   * @return 0 or an error number; EOPNOTSUPP for what Doorbell does not serve, EAGAIN for an event
   *     where none waits
   */
  public int run(byte[] content) {
    try {
      ErrnoException.require(content.length >= HEAD, Errno.EINVAL);
      Struct head = new Struct(content);
      int in = head.u16(4);
      ErrnoException.require(in + HEAD <= content.length, Errno.EINVAL);
      run(head.u32(0), new Struct(Arrays.copyOfRange(content, HEAD, HEAD + in)), head.u16(6));
      return 0;
    } catch (ErrnoException e) {
      return e.errno();
    }
  }

  private void run(int command, Struct in, int room) throws ErrnoException {
    switch (command) {
      case CmAbi.CREATE_ID -> createId(in, room);
      case CmAbi.DESTROY_ID -> destroyId(in, room);
      case CmAbi.BIND_IP -> bindIp(in);
      case CmAbi.BIND -> bind(in);
      case CmAbi.RESOLVE_IP -> resolveIp(in);
      case CmAbi.RESOLVE_ADDR -> resolveAddress(in);
      case CmAbi.RESOLVE_ROUTE -> connections.resolveRoute(channel.find(sized(in, 8).u32(0)));
      case CmAbi.QUERY_ROUTE -> queryRoute(in, room);
      case CmAbi.QUERY -> query(in, room);
      case CmAbi.CONNECT -> connect(in);
      case CmAbi.LISTEN -> listen(in);
      case CmAbi.ACCEPT -> accept(in);
      case CmAbi.REJECT -> reject(in);
      case CmAbi.DISCONNECT -> connections.disconnect(channel.find(sized(in, 4).u32(0)));
      case CmAbi.INIT_QP_ATTR -> initAttributes(in, room);
      case CmAbi.GET_EVENT -> getEvent(in, room);
      case CmAbi.SET_OPTION -> setOption(in);
      case CmAbi.NOTIFY -> onQueuePairEvent(in);
      case CmAbi.MIGRATE_ID -> migrate(in, room);
      case CmAbi.WRITE_EVENT -> writeEvent(in);
      case CmAbi.GET_OPTION -> throw new ErrnoException(Errno.ENOSYS);
      case CmAbi.LEAVE_MCAST -> leave(in, room);
      case CmAbi.JOIN_IP_MCAST -> {
        CmId id = channel.find(sized(in, 48).u32(44));
        join(in, id, CmAddress.read(in, 16, INET6_BYTES, id.portSpace), room);
      }
      case CmAbi.JOIN_MCAST -> {
        CmId id = channel.find(sized(in, 24 + STORAGE_BYTES).u32(16));
        ErrnoException.require(in.u16(22) <= SEND_ONLY, Errno.EINVAL);
        join(in, id, storage(in, 24, in.u16(20), id), room);
      }
      default -> throw new ErrnoException(Errno.EINVAL);
    }
  }

  private static Struct sized(Struct in, int least) throws ErrnoException {
    ErrnoException.require(in.size() >= least, Errno.EINVAL);
    return in;
  }

  /** Writes an answer as far as the program has room for it. */
  private void answer(long address, Struct content, int least, int room) throws ErrnoException {
    ErrnoException.require(room >= least, Errno.ENOSPC);
    memory.copyOut(address, Arrays.copyOf(content.content(), Math.min(room, content.size())));
  }

  private void createId(Struct in, int room) throws ErrnoException {
    sized(in, 24);
    ErrnoException.require(room >= Integer.BYTES, Errno.ENOSPC);
    CmId id = connections.create(channel, in.u64(0), in.u16(16), in.u8(18));
    try {
      answer(in.u64(8), new Struct(4).u32(0, id.number), 4, room);
    } catch (ErrnoException e) {
      connections.destroy(id);
      throw e;
    }
  }

  private void destroyId(Struct in, int room) throws ErrnoException {
    CmId id = channel.find(sized(in, 16).u32(8));
    ErrnoException.require(room >= Integer.BYTES, Errno.ENOSPC);
    int reported = connections.destroy(id);
    answer(in.u64(0), new Struct(4).u32(0, reported), 4, room);
  }

  private void bindIp(Struct in) throws ErrnoException {
    CmId id = channel.find(sized(in, 40).u32(36));
    connections.bind(id, CmAddress.read(in, 8, INET6_BYTES, id.portSpace));
  }

  private void bind(Struct in) throws ErrnoException {
    CmId id = channel.find(sized(in, 8 + STORAGE_BYTES).u32(0));
    ErrnoException.require(in.u16(6) == 0, Errno.EINVAL);
    connections.bind(id, storage(in, 8, in.u16(4), id));
  }

  private static CmAddress storage(Struct in, int at, int size, CmId id) throws ErrnoException {
    ErrnoException.require(size <= STORAGE_BYTES, Errno.EINVAL);
    return CmAddress.read(in, at, size, id.portSpace);
  }

  private void resolveIp(Struct in) throws ErrnoException {
    CmId id = channel.find(sized(in, 64).u32(56));
    CmAddress to = CmAddress.read(in, 28, INET6_BYTES, id.portSpace);
    boolean hasSource = in.u16(0) != 0;
    connections.resolveAddress(
        id, hasSource ? CmAddress.read(in, 0, INET6_BYTES, id.portSpace) : null, to);
  }

  private void resolveAddress(Struct in) throws ErrnoException {
    CmId id = channel.find(sized(in, 16 + 2 * STORAGE_BYTES).u32(0));
    CmAddress to = storage(in, 16 + STORAGE_BYTES, in.u16(10), id);
    ErrnoException.require(in.u32(12) == 0, Errno.EINVAL);
    int size = in.u16(8);
    connections.resolveAddress(id, size == 0 ? null : storage(in, 16, size, id), to);
  }

  private void listen(Struct in) throws ErrnoException {
    connections.listen(channel.find(sized(in, 8).u32(0)), in.u32(4));
  }

  /** Private data of a {@code struct rdma_ucm_conn_param}. */
  private static byte[] data(Struct in, int at) {
    int length = in.u8(at + CmParameters.DATA_LENGTH);
    return Arrays.copyOfRange(
        in.content(), at + CmParameters.DATA, at + CmParameters.DATA + length);
  }

  private static int word(Struct in, int at) {
    return in.size() >= at + Integer.BYTES ? in.u32(at) : 0;
  }

  private void connect(Struct in) throws ErrnoException {
    CmId id = channel.find(sized(in, CmParameters.BYTES + 8).u32(CmParameters.BYTES));
    ErrnoException.require(CmParameters.isValid(in, 0), Errno.EINVAL);
    connections.connect(
        id,
        CmParameters.read(in, 0),
        data(in, 0),
        word(in, CmParameters.BYTES + 8),
        word(in, CmParameters.BYTES + 12));
  }

  private void accept(Struct in) throws ErrnoException {
    int after = 8 + CmParameters.BYTES;
    CmId id = channel.find(sized(in, after + 8).u32(after));
    if (CmParameters.isValid(in, 8)) {
      connections.accept(
          id,
          in.u64(0),
          CmParameters.read(in, 8),
          data(in, 8),
          word(in, after + 8),
          word(in, after + 12));
    } else {
      connections.acceptResponse(id);
    }
  }

  private void reject(Struct in) throws ErrnoException {
    CmId id = channel.find(sized(in, 8 + CmAbi.PRIVATE_DATA).u32(0));
    int reason = in.u8(5) == 0 ? CmAbi.REJ_CONSUMER : in.u8(5);
    ErrnoException.require(
        reason == CmAbi.REJ_CONSUMER || reason == CmAbi.REJ_VENDOR_OPTION, Errno.EINVAL);
    connections.reject(id, Arrays.copyOfRange(in.content(), 8, 8 + in.u8(4)), reason);
  }

  private void initAttributes(Struct in, int room) throws ErrnoException {
    CmId id = channel.find(sized(in, 16).u32(8));
    int state = in.u32(12);
    ErrnoException.require(state >= 0 && state <= LAST_STATE, Errno.EINVAL);
    Struct attributes = id.queuePairAttributes(state);
    answer(in.u64(0), attributes, attributes.size(), room);
  }

  private void getEvent(Struct in, int room) throws ErrnoException {
    sized(in, 8);
    ErrnoException.require(room >= CmEvent.OLD_BYTES, Errno.ENOSPC);
    CmEvent event = ErrnoException.present(channel.peek(), Errno.EAGAIN);
    answer(in.u64(0), event.structure(), CmEvent.OLD_BYTES, room);
    connections.onEventTaken(channel, event);
  }

  private void onQueuePairEvent(Struct in) throws ErrnoException {
    CmId id = channel.find(sized(in, 8).u32(0));
    id.requireDevice();
    ErrnoException.require(in.u32(4) == COMM_EST, Errno.EINVAL);
    connections.onCommunicationEstablished(id);
  }

  /** An event of the program's own, with a number of 8 bytes. */
  private void writeEvent(Struct in) throws ErrnoException {
    CmId id = channel.find(sized(in, 24).u32(0));
    int type = in.u32(8);
    ErrnoException.require(type == CmAbi.USER || type == CmAbi.INTERNAL, Errno.EINVAL);
    channel.post(CmEvent.of(id, type, in.u32(12), in.u64(16)));
  }

  private void migrate(Struct in, int room) throws ErrnoException {
    sized(in, 16);
    CmChannel from = ErrnoException.present(byDescriptor.apply(in.u32(12)), Errno.EINVAL);
    ErrnoException.require(room >= Integer.BYTES, Errno.ENOSPC);
    int reported = connections.migrate(from.find(in.u32(8)), channel);
    answer(in.u64(0), new Struct(4).u32(0, reported), 4, room);
  }

  private void join(Struct in, CmId id, CmAddress group, int room) throws ErrnoException {
    ErrnoException.require(room >= Integer.BYTES, Errno.ENOSPC);
    CmId.Multicast joined = connections.join(id, in.u64(8), group);
    try {
      answer(in.u64(0), new Struct(4).u32(0, joined.number), 4, room);
    } catch (ErrnoException e) {
      connections.leave(channel, joined.number);
      throw e;
    }
    channel.post(CmEvent.of(joined));
  }

  private void leave(Struct in, int room) throws ErrnoException {
    sized(in, 16);
    ErrnoException.require(room >= Integer.BYTES, Errno.ENOSPC);
    int reported = connections.leave(channel, in.u32(8));
    answer(in.u64(0), new Struct(4).u32(0, reported), 4, room);
  }

  private void setOption(Struct in) throws ErrnoException {
    CmId id = channel.find(sized(in, 24).u32(8));
    int length = in.u32(20);
    ErrnoException.require(length >= 0 && length <= MAX_OPTION_BYTES, Errno.EINVAL);
    byte[] value = new byte[length];
    memory.copyIn(in.u64(0), value);
    ErrnoException.require(in.u32(12) == CmAbi.LEVEL_ID, Errno.EOPNOTSUPP);
    int wanted =
        switch (in.u32(16)) {
          case CmAbi.OPTION_TOS, CmAbi.OPTION_ACK_TIMEOUT -> 1;
          case CmAbi.OPTION_REUSEADDR, CmAbi.OPTION_AFONLY -> Integer.BYTES;
          default -> throw new ErrnoException(Errno.ENOSYS);
        };
    ErrnoException.require(length == wanted, Errno.EINVAL);
    Struct option = new Struct(Arrays.copyOf(value, Integer.BYTES));
    switch (in.u32(16)) {
      case CmAbi.OPTION_TOS -> id.typeOfService = option.u8(0);
      case CmAbi.OPTION_ACK_TIMEOUT -> {
        ErrnoException.require(option.u8(0) < 32 && !id.isDatagram(), Errno.EINVAL);
        id.ackTimeout = option.u8(0);
      }
      case CmAbi.OPTION_REUSEADDR -> {
        boolean reuse = option.u32(0) != 0;
        ErrnoException.require(
            id.state == CmId.State.IDLE || (reuse && id.state != CmId.State.LISTENING),
            Errno.EINVAL);
        id.reuseAddress = reuse;
      }
      default -> {
        // A listener for IPv6 alone: there is no IPv4 address that it would take otherwise.
      }
    }
  }

  /** {@code struct rdma_ucm_query_route_resp}. */
  private void queryRoute(Struct in, int room) throws ErrnoException {
    CmId id = channel.find(sized(in, 16).u32(8));
    Struct to = new Struct(QUERY_ROUTE_BYTES);
    ConnectionManager.Device device = id.device;
    CmAddress there = id.destination;
    id.source.write(to, 136);
    if (there != null) {
      there.write(to, 164);
    }
    if (device != null) {
      to.be64(0, device.guid()).u8(196, 1).u32(200, device.number());
      writeUserPath(to, 8, id);
      to.u32(192, hasRoute(id) ? 1 : 0);
    }
    answer(in.u64(0), to, QUERY_ROUTE_BYTES - 8, room);
  }

  private static boolean hasRoute(CmId id) {
    return switch (id.state) {
      case IDLE, BOUND, ADDRESS_RESOLVED, LISTENING -> false;
      default -> true;
    };
  }

  private static Gid gid(@Nullable CmAddress address) {
    return address == null ? new Gid(0, 0) : address.gid();
  }

  /** {@code struct ib_user_path_rec}. */
  private static void writeUserPath(Struct to, int at, CmId id) {
    to.be64(at, gid(id.destination).high())
        .be64(at + 8, gid(id.destination).low())
        .be64(at + 16, id.source.gid().high())
        .be64(at + 24, id.source.gid().low())
        .u32(at + 44, 1) // reversible
        .u32(at + 48, MTU)
        .be16(at + 52, CmId.PARTITION)
        .u8(at + 54, CmId.HOP_LIMIT)
        .u8(at + 55, id.typeOfService)
        .u8(at + 56, 1) // one path
        .u8(at + 58, EXACTLY)
        .u8(at + 59, EXACTLY)
        .u8(at + 60, RATE)
        .u8(at + 61, EXACTLY)
        .u8(at + 62, PACKET_LIFE);
  }

  private void query(Struct in, int room) throws ErrnoException {
    CmId id = channel.find(sized(in, 16).u32(8));
    switch (in.u32(12)) {
      case CmAbi.QUERY_ADDRESS, CmAbi.QUERY_GID -> {
        Struct to = address(id, in.u32(12) == CmAbi.QUERY_GID);
        answer(in.u64(0), to, QUERY_ADDRESS_BYTES - 8, room);
      }
      case CmAbi.QUERY_PATH -> queryPath(id, in.u64(0), room);
      default -> throw new ErrnoException(Errno.ENOSYS);
    }
  }

  /** {@code struct rdma_ucm_query_addr_resp}. */
  private static Struct address(CmId id, boolean asGids) {
    Struct to = new Struct(QUERY_ADDRESS_BYTES);
    ConnectionManager.Device device = id.device;
    CmAddress there = id.destination;
    if (device != null) {
      to.be64(0, device.guid()).u8(8, 1).be16(10, CmId.PARTITION).u32(272, device.number());
    }
    if (asGids) {
      CmAddress none = CmAddress.any(CmAddress.IB, 0);
      to.u16(12, none.bytes()).u16(14, none.bytes());
      (device == null ? none : id.source).writeIb(to, 16);
      (there == null ? none : there).writeIb(to, 16 + STORAGE_BYTES);
      return to;
    }
    to.u16(12, id.source.bytes());
    id.source.write(to, 16);
    if (there != null) {
      to.u16(14, there.bytes());
      there.write(to, 16 + STORAGE_BYTES);
    }
    return to;
  }

  /**
   * {@code struct rdma_ucm_query_path_resp}, with a path record as the subnet's manager packs it.
   */
  private void queryPath(CmId id, long address, int room) throws ErrnoException {
    boolean one = hasRoute(id) && room >= 8 + PATH_BYTES;
    Struct to = new Struct(one ? 8 + PATH_BYTES : 8).u32(0, hasRoute(id) ? 1 : 0);
    if (one) {
      int at = 16;
      to.u32(8, PATH_FLAGS);
      to.be64(at + 8, gid(id.destination).high())
          .be64(at + 16, gid(id.destination).low())
          .be64(at + 24, id.source.gid().high())
          .be64(at + 32, id.source.gid().low())
          .be32(at + 44, CmId.HOP_LIMIT)
          .u8(at + 48, id.typeOfService)
          .u8(at + 49, 0x81) // reversible, one path
          .be16(at + 50, CmId.PARTITION)
          .u8(at + 54, EXACTLY << 6 | MTU)
          .u8(at + 55, EXACTLY << 6 | RATE)
          .u8(at + 56, EXACTLY << 6 | PACKET_LIFE);
    }
    answer(address, to, 8, room);
  }
}
