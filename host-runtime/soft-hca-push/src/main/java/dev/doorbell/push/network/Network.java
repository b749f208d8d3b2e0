package dev.doorbell.push.network;

/**
 * A network joins hosts. Hosts pay for the time that a frame takes to leave them; the network for
 * all that comes after its last byte has left.
 */
public interface Network {
  /**
   * Plugs a host in.
   *
   * @return its number, by which frames name it: 0, 1, ... in the order of the calls
   */
  int attach(Host host);

  /** The last byte of {@code frame} has left its source. */
  void send(Frame frame);

  /**
   * Who sends and receives frames. Called between steps of agents, on the thread that runs them.
   */
  interface Host {
    /** A frame has arrived, all of it. */
    void arrive(Frame frame);

    /**
     * The network asks to stop sending (IEEE 802.1Qbb, priority flow control), or lets go on. A
     * frame whose first byte has left is sent to its end.
     */
    void pause(boolean paused);
  }
}
