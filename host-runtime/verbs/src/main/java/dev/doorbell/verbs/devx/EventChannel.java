package dev.doorbell.verbs.devx;

import dev.doorbell.verbs.device.DeviceContext;
import dev.doorbell.verbs.generated.mlx5dv.Mlx5dv;
import dev.doorbell.verbs.generated.mlx5dv.mlx5dv_devx_event_channel;
import dev.doorbell.verbs.library.Libraries;
import dev.doorbell.verbs.library.Mlx5Functions;
import dev.doorbell.verbs.library.NativeFunction.Answer;
import dev.doorbell.verbs.library.NativeFunction.Failure;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A channel for events of objects created by DEVX, which the events of verbs do not cover. The
 * driver returns the cookie that an event was subscribed with.
 */
final class EventChannel implements AutoCloseable {
  /** Returned by {@link #poll} if there is no event. */
  static final long NOTHING = -1;

  /** {@code MLX5_EVENT_TYPE_COMP}. */
  static final int COMPLETION = 0x00;

  /** {@code struct mlx5dv_devx_async_event_hdr}: the cookie. */
  private static final long RECORD_BYTES = Long.BYTES;

  private static final Failure OPEN =
      Failure.of("open a channel for events of DEVX objects", "this takes Linux 5.3 or later");
  private static final Failure SUBSCRIBE =
      Failure.of("subscribe to events of a DEVX object", "see dmesg for what the driver says");

  private final MemorySegment handle;
  private boolean closed;

  private EventChannel(MemorySegment handle) {
    this.handle = handle;
  }

  static EventChannel open(DeviceContext context) {
    MemorySegment handle =
        Mlx5Functions.DEVX_CREATE_EVENT_CHANNEL.pointer(
            OPEN, context.context, Mlx5dv.MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA());
    Libraries.setNonBlocking(
        mlx5dv_devx_event_channel.fd(
            handle.reinterpret(mlx5dv_devx_event_channel.layout().byteSize())));
    return new EventChannel(handle);
  }

  /**
   * Subscribes to events of one type.
   *
   * @param cookie returned by {@link #poll} for each event; not negative
   */
  void subscribe(DevxObject object, int type, long cookie) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment types = arena.allocateFrom(ValueLayout.JAVA_SHORT, (short) type);
      Mlx5Functions.DEVX_SUBSCRIBE_EVENT.require(
          SUBSCRIBE, handle, object.handle(), (short) types.byteSize(), types, cookie);
    }
  }

  /** Removes the oldest event and returns its cookie, or {@link #NOTHING}. */
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
