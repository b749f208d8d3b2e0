package dev.doorbell.experiments.workbench.programs;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fabric.explore.Coverage;
import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.experiments.workbench.explore.Failure;
import dev.doorbell.experiments.workbench.explore.Race;
import dev.doorbell.interop.shim.client.ServedWorld;
import java.util.List;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** Makes worlds for whole programs; found as a service. */
public interface ProgramWorlds {
  /** Finds the one of this build. */
  static ProgramWorlds find() {
    return ServiceLoader.load(ProgramWorlds.class).findFirst().orElseThrow();
  }

  /**
   * A world in the virtual time of a machine.
   *
   * @param gpus of a program, which has as many ranks as these take
   */
  ServedWorld timed(Topology machine, int gpus);

  /** Worlds against an adversary. */
  Exploration exploring(Policy policy, Adapter adapter);

  interface Exploration {
    /** Begins a run. */
    Run begin(long seed);
  }

  /** A run of a program; asked when that has ended. */
  interface Run {
    ServedWorld world();

    List<Race> races();

    /**
     * Returns the kernel that failed first, or that the program did; null for neither.
     *
     * @param status with which the program ended
     */
    @Nullable Failure failure(int status);

    Coverage coverage();

    /** Returns the number of instructions that threads executed. */
    long instructions();
  }
}
