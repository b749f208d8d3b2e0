package dev.doorbell.softhca.requester;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import java.util.function.BooleanSupplier;

/**
 * The timer of a requester that waits for acknowledgements. Starting and stopping it for every
 * message would cost more than the message: a timer that cannot be cancelled cheaply runs on, and
 * restarts if it expires after progress. A missing acknowledgement is detected after one to two
 * timeouts; the specification allows up to four (InfiniBand, chapter 9.7.6.1.3).
 */
final class AckTimer implements Completion {
  private static final long UNIT_NANOS = 4_096;

  private final DevicePort port;
  private final BooleanSupplier onTimeout;
  private long nanos;
  private boolean scheduled;
  private boolean running;
  private boolean progressed;
  private long due;
  private boolean excused;

  /** Timers that could not be cancelled and expire without effect. */
  private int stale;

  /**
   * @param onTimeout called after a timeout without progress; true to run the timer again
   */
  AckTimer(DevicePort port, BooleanSupplier onTimeout) {
    this.port = port;
    this.onTimeout = onTimeout;
  }

  /** The nanoseconds that the exponent of a timeout stands for: 4.096 us times 2^exponent. */
  static long nanos(int exponent) {
    return UNIT_NANOS << exponent;
  }

  /** True from {@link #start} to {@link #stop}. */
  boolean isRunning() {
    return running;
  }

  /** Starts it, unless it runs. */
  void start(long nanos) {
    if (running) {
      return;
    }
    running = true;
    this.nanos = nanos;
    if (scheduled) {
      progressed = true;
    } else {
      schedule();
    }
  }

  private void schedule() {
    progressed = false;
    scheduled = true;
    due = port.now() + nanos;
    port.timer(nanos, this);
  }

  /** The peer has acknowledged something. */
  void progress() {
    progressed = true;
  }

  /** Sets the timeout from the next start on. */
  void setTimeout(long nanos) {
    this.nanos = nanos;
  }

  /** As {@link #progress}, and shortens the timeout that is running if it is much longer. */
  void shorten(long nanos) {
    progressed = true;
    this.nanos = nanos;
    if (running && scheduled && due - port.now() > 2 * nanos) {
      if (!port.cancelTimer(this)) {
        stale++;
      }
      schedule();
    }
  }

  /** Stops it: nothing is unacknowledged. */
  void stop() {
    if (running) {
      running = false;
      if (port.cancelTimer(this)) {
        scheduled = false;
      }
    }
  }

  @Override
  public void completed(boolean ok) {
    long now = port.now();
    if (stale > 0 && (!scheduled || now - due < 0)) {
      stale--;
      return;
    }
    scheduled = false;
    if (!running) {
      return;
    }
    // Expiry far too late means that this process did not run: the ACK may be in a socket. Once.
    boolean late = !excused && now - due > nanos / 2;
    excused = late;
    if (progressed || late || onTimeout.getAsBoolean()) {
      if (running) {
        schedule();
      }
    } else {
      running = false;
    }
  }
}
