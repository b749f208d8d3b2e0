package dev.doorbell.verbs.devx;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.mlx5.prm.PrmBuffer;
import dev.doorbell.core.mlx5.prm.generated.CommandHeader;
import dev.doorbell.verbs.device.DeviceContext;
import dev.doorbell.verbs.library.Mlx5Functions;
import dev.doorbell.verbs.library.NativeFunction;
import dev.doorbell.verbs.library.NativeFunction.Answer;
import dev.doorbell.verbs.library.NativeFunction.Failure;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** An object that firmware created by DEVX, and the commands for it. */
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
   * Creates an object.
   *
   * @param what names the object in messages
   */
  static DevxObject create(DeviceContext context, String what, PrmBuffer command, int answerBytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment in = copy(arena, command);
      MemorySegment out = arena.allocate(answerBytes, Long.BYTES);
      Answer answer =
          Mlx5Functions.DEVX_OBJ_CREATE.call(
              context.context, in, in.byteSize(), out, out.byteSize());
      PrmBuffer output = read(out);
      if (answer.pointer().address() == 0) {
        throw failure("create " + what, context.name, command, answer.errno(), output);
      }
      return new DevxObject(answer.pointer(), output.number());
    }
  }

  /** The 24-bit number that firmware assigned. */
  int number() {
    return number;
  }

  void modify(String what, PrmBuffer command, int answerBytes) {
    exchange(Mlx5Functions.DEVX_OBJ_MODIFY, handle, what, command, answerBytes);
  }

  PrmBuffer query(String what, PrmBuffer command, int answerBytes) {
    return exchange(Mlx5Functions.DEVX_OBJ_QUERY, handle, what, command, answerBytes);
  }

  static PrmBuffer queryDevice(
      DeviceContext context, String what, PrmBuffer command, int answerBytes) {
    return exchange(Mlx5Functions.DEVX_GENERAL_CMD, context.context, what, command, answerBytes);
  }

  private static PrmBuffer exchange(
      NativeFunction function, MemorySegment to, String what, PrmBuffer command, int answerBytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment in = copy(arena, command);
      MemorySegment out = arena.allocate(answerBytes, Long.BYTES);
      int error = function.call(to, in, in.byteSize(), out, out.byteSize()).error();
      PrmBuffer output = read(out);
      if (error != 0) {
        throw failure(what, "the device", command, error, output);
      }
      return output;
    }
  }

  private static HcaException failure(
      String what, String device, PrmBuffer command, int errno, PrmBuffer output) {
    String fix;
    if (output.status() != 0) {
      fix = "the firmware says " + output.statusText() + "; 'dmesg' may say more";
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
