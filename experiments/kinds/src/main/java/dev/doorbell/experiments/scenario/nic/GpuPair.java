package dev.doorbell.experiments.scenario.nic;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.ptxvm.launch.VmGpu;

/** Two GPUs of one host that reach each other's memory: one sends, the other is its NIC. */
record GpuPair(Fabric fabric, Gpu sender, Gpu nic) implements AutoCloseable {
  static final Locus SENDER = Locus.gpu(0, 0);
  static final Locus NIC = Locus.gpu(0, 1);

  /** The pair of a backend; of real GPUs the one that was asked for and the next. */
  static GpuPair of(ExecutionBackend backend, Topology topology, long seed) {
    return switch (backend) {
      case ExecutionBackend.Virtual() -> emulated(new TimedFabric(topology, seed));
      case ExecutionBackend.Wall() -> emulated(new DirectFabric(AddressSpace.reserve(), seed));
      case ExecutionBackend.Cuda(int ordinal) -> real(ordinal);
      case ExecutionBackend.Verbs verbs ->
          throw new IllegalArgumentException("a GPU is the NIC here, not " + verbs.hca());
    };
  }

  static GpuPair emulated(Fabric fabric) {
    return new GpuPair(fabric, new VmGpu(fabric, SENDER), new VmGpu(fabric, NIC));
  }

  private static GpuPair real(int ordinal) {
    DirectFabric fabric = new DirectFabric();
    CudaGpu sender = null;
    CudaGpu nic = null;
    try {
      sender = new CudaGpu(fabric, SENDER, ordinal);
      nic = new CudaGpu(fabric, NIC, ordinal + 1);
      sender.reachPeer(nic);
      nic.reachPeer(sender);
      return new GpuPair(fabric, sender, nic);
    } catch (RuntimeException e) {
      if (nic != null) {
        nic.close();
      }
      if (sender != null) {
        sender.close();
      }
      fabric.close();
      throw e;
    }
  }

  @Override
  public void close() {
    nic.close();
    sender.close();
    fabric.close();
  }
}
