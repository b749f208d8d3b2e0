package dev.doorbell.interop.serve;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.memory.FabricMemory;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.RoceWire;
import dev.doorbell.softhca.wire.RoceWire.PeerPort;
import dev.doorbell.softhca.wire.WireFaults;

/**
 * A rank whose HCA has a UDP wire to other processes.
 *
 * @param number its rank
 * @param memory for its queues and payload
 */
record HostRank(
    int number, RoceWire wire, SoftHca hca, MemoryProvider memory, ProtectionDomain domain)
    implements AutoCloseable {

  /**
   * Opens an HCA on any free port.
   *
   * @param address to listen on, which is its GID
   */
  static HostRank open(Fabric fabric, int number, String address) throws EnvironmentException {
    Locus nic = Locus.nic(number, 0);
    RoceWire wire;
    try {
      wire = RoceWire.udp(fabric, nic, Gid.parse(address), 0, WireFaults.NONE, PeerPort.STRICT);
    } catch (HcaException | IllegalArgumentException e) {
      throw new EnvironmentException(
          Problem.of("DB-E044", null, "cannot open an HCA: " + e.getMessage())
              .fix("use an address of this machine"));
    }
    SoftHca hca =
        new SoftHca(
            fabric, nic, "rank" + number, SoftHcaOptions.DEFAULT.withEngine(HostQueuePair.ENGINE));
    wire.join(hca);
    return new HostRank(
        number,
        wire,
        hca,
        FabricMemory.of(fabric.memory(), number),
        hca.allocateProtectionDomain());
  }

  @Override
  public void close() {
    domain.close();
    hca.close();
  }
}
