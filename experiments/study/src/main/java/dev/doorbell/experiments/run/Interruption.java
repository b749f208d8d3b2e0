package dev.doorbell.experiments.run;

/** Request to end the run early. Set once, from any thread. */
public final class Interruption {
  private volatile boolean requested;
  private volatile boolean watched;

  /** Asks the run to end after what is under way. */
  public void request() {
    requested = true;
  }

  /** Returns true once the user has asked for the end. */
  public boolean requested() {
    watched = true;
    return requested;
  }

  /** Returns true if code polls {@link #requested}, and so may end in good order. */
  public boolean watched() {
    return watched;
  }
}
