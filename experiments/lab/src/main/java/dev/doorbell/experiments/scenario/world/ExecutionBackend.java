package dev.doorbell.experiments.scenario.world;

import dev.doorbell.core.Basis;
import dev.doorbell.core.hca.HcaAttributes;
import dev.doorbell.experiments.scenario.device.RealHca;

/** The machine that runs the kernels of a point, and its clock. */
public sealed interface ExecutionBackend {
  Basis basis();

  /** The PTX virtual machine and software HCAs in virtual time. */
  record Virtual() implements ExecutionBackend {
    @Override
    public Basis basis() {
      return Basis.MODELLED;
    }
  }

  /** The PTX virtual machine and software HCAs, as fast as they run. */
  record Wall() implements ExecutionBackend {
    @Override
    public Basis basis() {
      return Basis.EMULATED;
    }
  }

  /** A real GPU with software HCAs: what it posts is real, what answers is not. */
  record Cuda(int ordinal) implements ExecutionBackend {
    @Override
    public Basis basis() {
      return Basis.EMULATED;
    }
  }

  /**
   * An HCA that libibverbs drives, on the wall's clock.
   *
   * @param hca which
   * @param attributes what it can do
   * @param ordinal which CUDA device runs the kernels, or {@link #VM}
   * @param basis measured where GPU and HCA are hardware, else emulated
   */
  record Verbs(RealHca hca, HcaAttributes attributes, int ordinal, Basis basis)
      implements ExecutionBackend {
    /** The kernels run in the PTX virtual machine. */
    public static final int VM = -1;
  }
}
