package dev.doorbell.experiments.scenario.experts;

import dev.doorbell.core.fabric.explore.ExploringFabric;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** An exchange of tokens between ranks: kernels that run at all of them, one after the other. */
public interface Exchange extends AutoCloseable {
  /**
   * What a kernel did.
   *
   * @param nanos on the fabric's clock
   * @param instructions of all ranks
   * @param wrong what it left otherwise than it should have, or null
   */
  record Phase(String name, long nanos, long instructions, @Nullable String wrong) {}

  /** One kernel at all ranks. */
  interface Step {
    /**
     * Runs it, and compares what it leaves.
     *
     * @param stop polled during the run
     * @throws dev.doorbell.core.gpu.GpuException when it is stopped, or ends with an error
     */
    Phase run(BooleanSupplier stop);
  }

  /** The kernels of a round, in order. Each needs what those before it left. */
  List<Step> round();

  /** Tells a fabric where the rings of its queue pairs are, where it has some. */
  default void describe(ExploringFabric fabric) {}

  @Override
  void close();
}
