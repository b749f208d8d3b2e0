package dev.doorbell.interop.shim;

import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.InProcessWire;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.SoftHcaOptions;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One of the HCAs: {@code mlx5_N}, {@code uverbsN}. */
final class Device {
  /** Flips the bit of an interface identifier that says who gave the address. */
  private static final long UNIVERSAL = 1L << 57;

  private final int number;
  private final SoftHca hca;
  private final List<Device> all;

  /** Its on-chip memory. */
  final ChipMemory chip;

  /** Who has it open. */
  final List<Context> contexts = new ArrayList<>();

  private Device(ClientFabric fabric, int number, List<Device> all, InProcessWire wire) {
    this.number = number;
    this.all = all;
    this.chip = new ChipMemory(number);
    this.hca = new SoftHca(fabric, Locus.nic(0, number), "mlx5_" + number, SoftHcaOptions.DEFAULT);
    wire.join(hca);
  }

  /** Makes {@code count} devices on one wire. */
  static List<Device> make(ClientFabric fabric, int count) {
    List<Device> all = new ArrayList<>();
    InProcessWire wire = new InProcessWire();
    for (int i = 0; i < count; i++) {
      all.add(new Device(fabric, i, all, wire));
    }
    return all;
  }

  int number() {
    return number;
  }

  String name() {
    return hca.name();
  }

  SoftHca hca() {
    return hca;
  }

  /** Its one GID, at index 0. */
  Gid gid() {
    return new Gid(hca.gidHigh(), hca.gidLow());
  }

  /** Its node GUID. */
  long guid() {
    return hca.gidLow() ^ UNIVERSAL;
  }

  /** The device of the wire that has a GID, or null. */
  @Nullable Device withGid(long high, long low) {
    for (Device device : all) {
      if (device.hca.gidHigh() == high && device.hca.gidLow() == low) {
        return device;
      }
    }
    return null;
  }

  /** The Ethernet address that a GID was made of. */
  static long macOf(long gidLow) {
    long identifier = gidLow ^ UNIVERSAL;
    return identifier >>> 40 << 24 | (identifier & 0xff_ffff);
  }
}
