package dev.doorbell.core.fabric;

import org.jspecify.annotations.Nullable;

/** Called by a fabric when a transfer or a delay that did not finish at once has finished. */
@FunctionalInterface
public interface Completion {
  /**
   * The transfer ended.
   *
   * @param ok false when the path refused it (for example a root complex that does not route
   *     peer-to-peer reads); no byte was moved then
   */
  void completed(boolean ok);

  /** May be given to {@link DevicePort#cancelTimer}. */
  abstract class Cancellable implements Completion {
    /** What the port keeps of the timer that this was given to last. */
    public @Nullable Object timer;
  }
}
