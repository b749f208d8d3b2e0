package dev.doorbell.experiments.workbench.programs.run;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.experiments.workbench.programs.ProgramWorlds;
import dev.doorbell.interop.shim.client.ServedWorld;

/** Makes worlds over the timed and the exploring fabric. */
public final class FabricsOfPrograms implements ProgramWorlds {
  @Override
  public ServedWorld timed(Topology machine, int gpus) {
    return new TimedPrograms(machine, gpus);
  }

  @Override
  public Exploration exploring(Policy policy, Adapter adapter) {
    return new ExploredRuns(policy, adapter);
  }
}
