package dev.doorbell.experiments.scenario.recovery;

import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.VirtualTime;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.InProcessWire;
import java.util.ArrayList;
import java.util.List;

/**
 * Two ranks in virtual time: a GPU each, a buffer in its memory, and two ports that each have the
 * buffer registered. A port is an HCA on a wire of its own, {@code hca0} and {@code hca1} of a
 * fault plan.
 */
final class Ports implements AutoCloseable {
  static final int RANKS = 2;
  static final int PORTS = 2;

  /** 1 ms until an ACK is missed, 3 retries. */
  static final ConnectionAttributes QUICK = new ConnectionAttributes(8, 3, 3, 1, 16, 16, 0);

  private final TimedFabric fabric;
  private final VmGpu[] gpus = new VmGpu[RANKS];
  private final Memory[] buffers = new Memory[RANKS];
  private final SoftHca[][] hcas = new SoftHca[RANKS][PORTS];
  private final ProtectionDomain[][] domains = new ProtectionDomain[RANKS][PORTS];
  private final MemoryRegion[][] regions = new MemoryRegion[RANKS][PORTS];
  private final List<FaultInjector> injectors = new ArrayList<>();

  Ports(Topology topology, long seed, long bytes) {
    fabric = new TimedFabric(topology, seed);
    SoftHcaOptions options = VirtualTime.hca(topology);
    for (int rank = 0; rank < RANKS; rank++) {
      gpus[rank] = new VmGpu(fabric, Locus.gpu(rank, 0));
      buffers[rank] = gpus[rank].allocate(MemoryKind.DEVICE, bytes, "buffer");
    }
    for (int port = 0; port < PORTS; port++) {
      InProcessWire wire = VirtualTime.wire(topology);
      for (int rank = 0; rank < RANKS; rank++) {
        SoftHca hca =
            new SoftHca(fabric, Locus.nic(rank, 0), "rank%d.port%d".formatted(rank, port), options);
        hcas[rank][port] = hca;
        wire.join(hca);
        domains[rank][port] = hca.allocateProtectionDomain();
        regions[rank][port] = domains[rank][port].register(buffers[rank], Endpoint.ALL_RIGHTS);
      }
    }
  }

  TimedFabric fabric() {
    return fabric;
  }

  VmGpu gpu(int rank) {
    return gpus[rank];
  }

  Memory buffer(int rank) {
    return buffers[rank];
  }

  ProtectionDomain domain(int rank, int port) {
    return domains[rank][port];
  }

  /** The key of a rank's buffer at a port; both kinds of key are the same number here. */
  int key(int rank, int port) {
    return regions[rank][port].rkey();
  }

  int maxInline() {
    return hcas[0][0].attributes().maxInlineBytes();
  }

  void inject(FaultPlan plan) {
    for (int rank = 0; rank < RANKS; rank++) {
      for (int port = 0; port < PORTS; port++) {
        FaultInjector injector = plan.bind(rank, port, fabric.now());
        hcas[rank][port].inject(injector);
        injectors.add(injector);
      }
    }
  }

  List<FaultCount> faults(FaultPlan plan) {
    return FaultCount.total(plan, injectors);
  }

  @Override
  public void close() {
    for (int rank = 0; rank < RANKS; rank++) {
      for (int port = 0; port < PORTS; port++) {
        regions[rank][port].close();
        domains[rank][port].close();
        hcas[rank][port].close();
      }
      gpus[rank].close();
    }
    fabric.close();
  }
}
