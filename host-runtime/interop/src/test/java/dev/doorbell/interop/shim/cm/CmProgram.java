package dev.doorbell.interop.shim.cm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.uverbs.generated.CmAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.abi.UserMemory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A program with an open {@code rdma_cm} file and a memory of one page at {@link #MEMORY}. */
final class CmProgram implements UserMemory {
  static final long MEMORY = 0x10_0000;
  private static final int ROOM = 4096;

  private final byte[] memory = new byte[ROOM];
  final CmChannel channel;
  private final CmCommands commands;
  int readable;

  /** The part of an event that the program reads. */
  record Event(int type, int status, int id, long userHandle, Struct all) {
    String data() {
      int length = all.u8(20 + CmParameters.DATA_LENGTH);
      return new String(all.content(), 28, length, StandardCharsets.UTF_8).replace("\0", "");
    }

    int dataLength() {
      return all.u8(20 + CmParameters.DATA_LENGTH);
    }

    int queuePair() {
      return all.u32(20);
    }
  }

  CmProgram(ConnectionManager connections, int pid) {
    channel = new CmChannel(pid, () -> readable++);
    commands = new CmCommands(connections, number -> number == 3 ? channel : null, channel, this);
  }

  /** Another file of the same program; descriptor 3 is the first one. */
  CmProgram(ConnectionManager connections, CmProgram first) {
    channel = new CmChannel(first.channel.pid(), () -> readable++);
    commands =
        new CmCommands(connections, number -> number == 3 ? first.channel : null, channel, this);
  }

  @Override
  public void copyIn(long address, byte[] to) throws ErrnoException {
    check(address, to.length);
    System.arraycopy(memory, (int) (address - MEMORY), to, 0, to.length);
  }

  @Override
  public void copyOut(long address, byte[] from) throws ErrnoException {
    check(address, from.length);
    System.arraycopy(from, 0, memory, (int) (address - MEMORY), from.length);
  }

  private static void check(long address, int bytes) throws ErrnoException {
    ErrnoException.require(address >= MEMORY && address + bytes <= MEMORY + ROOM, Errno.EFAULT);
  }

  int raw(byte[] bytes) {
    return commands.run(bytes);
  }

  int run(int command, Struct in) {
    Struct all = new Struct(8 + in.size()).u32(0, command).u16(4, in.size()).u16(6, ROOM);
    return raw(all.copy(in, 0, 8, in.size()).content());
  }

  void succeed(int command, Struct in) {
    assertThat(run(command, in)).as("command %d", command).isZero();
  }

  Struct answer(int bytes) {
    return new Struct(Arrays.copyOf(memory, bytes));
  }

  int create(int portSpace, long userHandle) {
    succeed(
        CmAbi.CREATE_ID,
        new Struct(24).u64(0, userHandle).u64(8, MEMORY).u16(16, portSpace).u8(18, 2));
    return answer(4).u32(0);
  }

  int destroy(int id) {
    succeed(CmAbi.DESTROY_ID, new Struct(16).u64(0, MEMORY).u32(8, id));
    return answer(4).u32(0);
  }

  private static void putAddress(Struct to, int at, int ipv4, int port) {
    to.u16(at, CmAddress.INET).be16(at + 2, port).be32(at + 4, ipv4);
  }

  int bind(int id, int ipv4, int port) {
    Struct in = new Struct(136).u32(0, id).u16(4, 16);
    putAddress(in, 8, ipv4, port);
    return run(CmAbi.BIND, in);
  }

  int listen(int portSpace, int ipv4, int port, int backlog) {
    int id = create(portSpace, 0xabc);
    assertThat(bind(id, ipv4, port)).isZero();
    succeed(CmAbi.LISTEN, new Struct(8).u32(0, id).u32(4, backlog));
    return id;
  }

  int resolve(int id, int ipv4, int port) {
    Struct in = new Struct(272).u32(0, id).u32(4, 1000).u16(10, 16);
    putAddress(in, 144, ipv4, port);
    return run(CmAbi.RESOLVE_ADDR, in);
  }

  /** An id that has found its way. */
  int routed(int portSpace, int ipv4, int port) {
    int id = create(portSpace, 0xdef);
    assertThat(resolve(id, ipv4, port)).isZero();
    assertThat(next().type()).isEqualTo(CmAbi.ADDR_RESOLVED);
    succeed(CmAbi.RESOLVE_ROUTE, new Struct(8).u32(0, id));
    assertThat(next().type()).isEqualTo(CmAbi.ROUTE_RESOLVED);
    return id;
  }

  private static void putParameters(Struct to, int at, int queuePair, String data) {
    byte[] bytes = data.getBytes(StandardCharsets.UTF_8);
    to.u32(at, queuePair)
        .copy(new Struct(bytes), 0, at + 8, bytes.length)
        .u8(at + 264, bytes.length)
        .u8(at + 266, 3) // responder_resources
        .u8(at + 267, 5) // initiator_depth
        .u8(at + 269, 7)
        .u8(at + 270, 6)
        .u8(at + 271, 1);
  }

  int connect(int id, int queuePair, String data) {
    Struct in = new Struct(288).u32(272, id).u32(280, 0x15b3);
    putParameters(in, 0, queuePair, data);
    return run(CmAbi.CONNECT, in);
  }

  int accept(int id, int queuePair, String data) {
    Struct in = new Struct(296).u64(0, 0x123).u32(280, id);
    putParameters(in, 8, queuePair, data);
    return run(CmAbi.ACCEPT, in);
  }

  /** Sends RTU. */
  int acceptResponse(int id) {
    return run(CmAbi.ACCEPT, new Struct(296).u32(280, id));
  }

  int reject(int id, String data) {
    byte[] bytes = data.getBytes(StandardCharsets.UTF_8);
    return run(
        CmAbi.REJECT,
        new Struct(264).u32(0, id).u8(4, bytes.length).copy(new Struct(bytes), 0, 8, bytes.length));
  }

  int disconnect(int id) {
    return run(CmAbi.DISCONNECT, new Struct(8).u32(0, id));
  }

  /** Joins a group; returns the error. */
  int join(int id, int ipv4, long userHandle) {
    Struct in = new Struct(152).u64(0, MEMORY).u64(8, userHandle).u32(16, id).u16(20, 16);
    putAddress(in, 24, ipv4, 0);
    return run(CmAbi.JOIN_MCAST, in);
  }

  int leave(int membership) {
    return run(CmAbi.LEAVE_MCAST, new Struct(16).u64(0, MEMORY).u32(8, membership));
  }

  @Nullable Event poll() {
    int error = run(CmAbi.GET_EVENT, new Struct(8).u64(0, MEMORY));
    if (error == Errno.EAGAIN) {
      return null;
    }
    assertThat(error).isZero();
    Struct all = answer(CmEvent.BYTES);
    return new Event(all.u32(12), all.u32(16), all.u32(8), all.u64(0), all);
  }

  Event next() {
    Event event = poll();
    assertThat(event).isNotNull();
    if (event == null) {
      throw new AssertionError();
    }
    return event;
  }

  void expect(int type, int status) {
    Event event = next();
    assertThat(event.type()).isEqualTo(type);
    assertThat(event.status()).isEqualTo(status);
  }

  void expectNothing() {
    assertThat(poll()).isNull();
  }

  /** Attributes of the queue pair for a state. */
  Struct attributes(int id, int state) {
    succeed(CmAbi.INIT_QP_ATTR, new Struct(16).u64(0, MEMORY).u32(8, id).u32(12, state));
    return answer(144);
  }
}
