package dev.doorbell.verbs.device;

/**
 * A port of a device.
 *
 * @param number from 1
 * @param state {@code enum ibv_port_state}; 4 is active
 * @param activeMtu {@code enum ibv_mtu} of the link, from 1 (256 bytes) to 5 (4096 bytes)
 * @param lid local identifier; 0 on Ethernet
 * @param gids number of entries of its GID table
 * @param ethernet true for RoCE, false for InfiniBand
 */
public record PortInfo(int number, int state, int activeMtu, int lid, int gids, boolean ethernet) {
  private static final int ACTIVE = 4;

  boolean isActive() {
    return state == ACTIVE;
  }

  /** The MTU in bytes. */
  public int mtuBytes() {
    return 128 << activeMtu;
  }

  /** The {@code enum ibv_mtu} of an MTU in bytes. */
  public static int mtuCode(int bytes) {
    return Integer.numberOfTrailingZeros(bytes) - 7;
  }

  String stateName() {
    return switch (state) {
      case 1 -> "down";
      case 2 -> "initializing";
      case 3 -> "armed";
      case ACTIVE -> "active";
      case 5 -> "active, deferred";
      default -> "in state " + state;
    };
  }
}
