package dev.doorbell.verbs;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.mlx5.prm.CommandHeader;
import dev.doorbell.core.mlx5.prm.PrmBuffer;
import dev.doorbell.verbs.NativeFunction.Answer;
import dev.doorbell.verbs.NativeFunction.Failure;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Something that firmware made for us, and the commands that go to it. */
final class DevxObject implements AutoCloseable {
  private static final Failure DESTROY =
      Failure.of("close what DEVX made", "this is a fault in Doorbell: something still uses it");

  private final MemorySegment handle;
  private final int number;
  private boolean closed;

  private DevxObject(MemorySegment handle, int number) {
    this.handle = handle;
    this.number = number;
  }

  /**
   * Makes an object.
   *
   * @param what for messages
   */
  static DevxObject create(DeviceContext context, String what, PrmBuffer command, int answerBytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment in = copy(arena, command);
      MemorySegment out = arena.allocate(answerBytes, Long.BYTES);
      Answer answer =
          Mlx5Functions.DEVX_OBJ_CREATE.call(
              context.context, in, in.byteSize(), out, out.byteSize());
      PrmBuffer said = read(out);
      if (answer.pointer().address() == 0) {
        throw refused("create " + what, context.name, command, answer.errno(), said);
      }
      return new DevxObject(answer.pointer(), said.number());
    }
  }

  /** {@code struct mlx5dv_devx_obj}. */
  MemorySegment handle() {
    return handle;
  }

  /** The 24-bit number that firmware gave it. */
  int number() {
    return number;
  }

  /** Changes it. */
  void modify(String what, PrmBuffer command, int answerBytes) {
    exchange(Mlx5Functions.DEVX_OBJ_MODIFY, handle, what, command, answerBytes);
  }

  /** Asks it. */
  PrmBuffer query(String what, PrmBuffer command, int answerBytes) {
    return exchange(Mlx5Functions.DEVX_OBJ_QUERY, handle, what, command, answerBytes);
  }

  /** Asks the device itself. */
  static PrmBuffer ask(DeviceContext context, String what, PrmBuffer command, int answerBytes) {
    return exchange(Mlx5Functions.DEVX_GENERAL_CMD, context.context, what, command, answerBytes);
  }

  private static PrmBuffer exchange(
      NativeFunction function, MemorySegment to, String what, PrmBuffer command, int answerBytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment in = copy(arena, command);
      MemorySegment out = arena.allocate(answerBytes, Long.BYTES);
      int error = function.call(to, in, in.byteSize(), out, out.byteSize()).error();
      PrmBuffer said = read(out);
      if (error != 0) {
        throw refused(what, "the device", command, error, said);
      }
      return said;
    }
  }

  private static HcaException refused(
      String what, String device, PrmBuffer command, int errno, PrmBuffer said) {
    String fix;
    if (said.status() != 0) {
      fix = "the firmware says " + said.statusText() + "; 'dmesg' may say more";
    } else if (errno == Errno.EOPNOTSUPP || errno == Errno.EPERM) {
      fix =
          "this user has no DEVX context: a container needs CAP_NET_RAW (--cap-add=NET_RAW or"
              + " --privileged)";
    } else {
      fix = "see dmesg for what the driver says";
    }
    return new HcaException(
        "cannot %s: DEVX command 0x%x of %s answers %s; %s"
            .formatted(what, command.get(CommandHeader.OPCODE), device, Errno.describe(errno), fix),
        errno);
  }

  private static MemorySegment copy(Arena arena, PrmBuffer command) {
    return arena.allocateFrom(ValueLayout.JAVA_BYTE, command.content());
  }

  private static PrmBuffer read(MemorySegment answer) {
    PrmBuffer buffer = new PrmBuffer((int) answer.byteSize());
    MemorySegment.copy(
        answer, ValueLayout.JAVA_BYTE, 0, buffer.content(), 0, buffer.content().length);
    return buffer;
  }

  @Override
  public void close() {
    if (!closed) {
      Mlx5Functions.DEVX_OBJ_DESTROY.require(DESTROY, handle);
      closed = true;
    }
  }
}
