package dev.doorbell.push.network;

/**
 * What joins hosts. Hosts pay for the time that a frame takes to leave them; the network for all
 * that comes after its last byte has left.
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
}
