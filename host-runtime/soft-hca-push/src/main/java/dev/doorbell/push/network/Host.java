package dev.doorbell.push.network;

/** Who sends and receives frames. Called between steps of agents, on the thread that runs them. */
public interface Host {
  /** A frame has arrived, all of it. */
  void arrive(Frame frame);

  /**
   * The network asks to stop sending (IEEE 802.1Qbb, priority flow control), or lets go on. A frame
   * whose first byte has left is sent to its end.
   */
  void pause(boolean paused);
}
