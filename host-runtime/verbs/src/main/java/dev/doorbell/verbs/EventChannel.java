package dev.doorbell.verbs;

import dev.doorbell.verbs.NativeFunction.Answer;
import dev.doorbell.verbs.NativeFunction.Failure;
import dev.doorbell.verbs.generated.mlx5dv.Mlx5dv;
import dev.doorbell.verbs.generated.mlx5dv.mlx5dv_devx_event_channel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Where the driver tells of what happens to objects made by DEVX: it knows them as numbers alone,
 * and verbs' own events leave them out. Of an event the cookie comes back that was subscribed with.
 */
final class EventChannel implements AutoCloseable {
  /** {@link #poll}: nothing has happened. */
  static final long NOTHING = -1;

  // MLX5_EVENT_TYPE_*
  static final int COMPLETION = 0x00;
  static final int COMMUNICATION_ESTABLISHED = 0x02;
  static final int CQ_ERROR = 0x04;
  static final int WQ_FATAL = 0x05;
  static final int WQ_REQUEST_ERROR = 0x10;
  static final int WQ_ACCESS_ERROR = 0x11;
  static final int SRQ_ERROR = 0x12;
  static final int LAST_WQE = 0x13;
  static final int SRQ_LIMIT = 0x14;

  /** {@code struct mlx5dv_devx_async_event_hdr}: the cookie. */
  private static final long RECORD_BYTES = Long.BYTES;

  private static final Failure OPEN =
      Failure.of("open a channel for events of DEVX objects", "this takes Linux 5.3 or later");
  private static final Failure SUBSCRIBE =
      Failure.of("ask for events of a DEVX object", "see dmesg for what the driver says");

  private final MemorySegment handle;
  private boolean closed;

  private EventChannel(MemorySegment handle) {
    this.handle = handle;
  }

  static EventChannel open(DeviceContext context) {
    MemorySegment handle =
        Mlx5Functions.DEVX_CREATE_EVENT_CHANNEL.pointer(
            OPEN, context.context, Mlx5dv.MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA());
    Libraries.doNotBlock(
        mlx5dv_devx_event_channel.fd(
            handle.reinterpret(mlx5dv_devx_event_channel.layout().byteSize())));
    return new EventChannel(handle);
  }

  /**
   * Asks for events of one type.
   *
   * @param cookie what {@link #poll} answers then; not negative
   */
  void subscribe(DevxObject object, int type, long cookie) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment types = arena.allocateFrom(ValueLayout.JAVA_SHORT, (short) type);
      Mlx5Functions.DEVX_SUBSCRIBE_EVENT.require(
          SUBSCRIBE, handle, object.handle(), (short) types.byteSize(), types, cookie);
    }
  }

  /** The cookie of the oldest event that was not taken yet, or {@link #NOTHING}. */
  long poll() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment record = arena.allocate(RECORD_BYTES, Long.BYTES);
      Answer answer = Mlx5Functions.DEVX_GET_EVENT.call(handle, record, RECORD_BYTES);
      return ((Number) answer.value()).longValue() == RECORD_BYTES
          ? record.get(ValueLayout.JAVA_LONG, 0)
          : NOTHING;
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      Mlx5Functions.DEVX_DESTROY_EVENT_CHANNEL.callVoid(handle);
    }
  }
}
