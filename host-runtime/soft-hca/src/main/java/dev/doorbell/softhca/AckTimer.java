package dev.doorbell.softhca;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import java.util.function.BooleanSupplier;

/**
 * The timer of a requester that waits for acknowledgements. Starting and stopping it for every
 * message would cost more than the message: where a timer cannot be cancelled cheaply it goes on,
 * and when it fires after progress it starts anew. Silence is noticed after one to two timeouts;
 * the specification allows up to four (InfiniBand, chapter 9.7.6.1.3).
 */
final class AckTimer implements Completion {
  private static final long UNIT_NANOS = 4_096;

  private final DevicePort port;
  private final BooleanSupplier silence;
  private long nanos;
  private boolean underWay;
  private boolean wanted;
  private boolean progressed;
  private long due;
  private boolean excused;

  /** Timers that could not be cancelled and fire for nothing, after {@link #due} was. */
  private int stale;

  /**
   * @param silence called after a timeout without progress; true when the timer shall go on
   */
  AckTimer(DevicePort port, BooleanSupplier silence) {
    this.port = port;
    this.silence = silence;
  }

  /** The nanoseconds that the exponent of a timeout stands for: 4.096 us times 2^exponent. */
  static long nanos(int exponent) {
    return UNIT_NANOS << exponent;
  }

  /** True from {@link #start} to {@link #rest}. */
  boolean isWanted() {
    return wanted;
  }

  /** Starts it, unless it runs. */
  void start(long nanos) {
    if (wanted) {
      return;
    }
    wanted = true;
    this.nanos = nanos;
    if (underWay) {
      progressed = true;
    } else {
      go();
    }
  }

  private void go() {
    progressed = false;
    underWay = true;
    due = port.now() + nanos;
    port.timer(nanos, this);
  }

  /** The peer has answered something. */
  void progress() {
    progressed = true;
  }

  /** From its next start on it waits for so long. */
  void next(long nanos) {
    this.nanos = nanos;
  }

  /** As {@link #progress}, after which silence is borne for so long, which may be much less. */
  void hasten(long nanos) {
    progressed = true;
    this.nanos = nanos;
    if (wanted && underWay && due - port.now() > 2 * nanos) {
      if (!port.cancelTimer(this)) {
        stale++;
      }
      go();
    }
  }

  /** Nothing is waited for. */
  void rest() {
    if (wanted) {
      wanted = false;
      if (port.cancelTimer(this)) {
        underWay = false;
      }
    }
  }

  @Override
  public void completed(boolean ok) {
    long now = port.now();
    if (stale > 0 && (!underWay || now - due < 0)) {
      stale--;
      return;
    }
    underWay = false;
    if (!wanted) {
      return;
    }
    // Much too late, it tells that this process was not run: the answer may lie in a socket. Once.
    boolean late = !excused && now - due > nanos / 2;
    excused = late;
    if (progressed || late || silence.getAsBoolean()) {
      if (wanted) {
        go();
      }
    } else {
      wanted = false;
    }
  }
}
