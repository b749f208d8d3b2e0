package dev.doorbell.interop.shim.object;

import dev.doorbell.core.roce.Gid;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;

/**
 * An IP address of a device, which programs reach by rdma_cm and by its GID.
 *
 * @param gid the address
 * @param networkInterface the interface of this machine that has it
 */
public record DeviceAddress(Gid gid, String networkInterface) {
  private static final int FIRST_LOOPBACK = 0x7f00_0001;
  static final String LOOPBACK = "lo";

  /** The address that device {@code number} always has: 127.0.0.1 for the first one. */
  static DeviceAddress loopback(int number) {
    return new DeviceAddress(Gid.ofIpv4(FIRST_LOOPBACK + number), LOOPBACK);
  }

  /**
   * The address that {@code text} names in digits.
   *
   * @throws IllegalArgumentException when it is none, or no interface of this machine has it
   */
  public static DeviceAddress parse(String text) {
    Gid gid = Gid.parse(text);
    try {
      InetAddress address = InetAddress.getByName(text);
      if (address.isLoopbackAddress()) {
        return new DeviceAddress(gid, LOOPBACK);
      }
      NetworkInterface owner = NetworkInterface.getByInetAddress(address);
      if (owner != null) {
        return new DeviceAddress(gid, owner.getName());
      }
    } catch (IOException e) {
      throw new IllegalArgumentException("%s: %s".formatted(text, e.getMessage()), e);
    }
    throw new IllegalArgumentException(
        "no network interface of this machine has the address " + text);
  }
}
