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

  /**
   * @param silence called after a timeout without progress; true when the timer shall go on
   */
  AckTimer(DevicePort port, BooleanSupplier silence) {
    this.port = port;
    this.silence = silence;
  }

  /**
   * Starts it, unless it runs.
   *
   * @param exponent of the timeout, 4.096 us times 2^exponent; 0 means none
   */
  void start(int exponent) {
    if (wanted || exponent == 0) {
      return;
    }
    wanted = true;
    nanos = UNIT_NANOS << exponent;
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
    underWay = false;
    if (!wanted) {
      return;
    }
    // Much too late, it tells that this process was not run: the answer may lie in a socket. Once.
    boolean late = !excused && port.now() - due > nanos / 2;
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
