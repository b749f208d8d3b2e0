package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.explore.model.Actor;
import dev.doorbell.core.fabric.explore.model.Cell;
import dev.doorbell.core.fabric.explore.model.Cell.Watcher;
import dev.doorbell.core.memory.Locus;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An agent in the scheduler: whether it may run, and what wakes it. */
final class Slot implements Watcher {
  static final int ASLEEP = -1;

  final ExploringFabric fabric;
  final Agent agent;
  final Locus locus;

  /** Its index among the runnable, or {@link #ASLEEP}. */
  int runnable = ASLEEP;

  boolean attached = true;

  @Nullable Actor actor;

  /** True for a thread of a GPU, which can be stepped by the instruction. */
  boolean fine;

  /** Set by a port whose thread polls in vain: it sleeps after this step. */
  boolean sleeps;

  /** Set by a port whose thread polled in vain, but must not sleep: there is news already. */
  boolean looksAgain;

  /** When it wakes by itself, {@link Long#MAX_VALUE} for never; means something while it sleeps. */
  long wakeAt = Long.MAX_VALUE;

  /** Stores that wait for a device. */
  final Arrivals arrivals = new Arrivals();

  /** What the thread's write-combining buffer holds for a device. */
  Arrivals.@Nullable Arrival combining;

  final List<Cell> watched = new ArrayList<>(0);

  Slot(ExploringFabric fabric, Agent agent, Locus locus) {
    this.fabric = fabric;
    this.agent = agent;
    this.locus = locus;
  }

  @Override
  public void stored() {
    fabric.wake(this);
  }

  void watch(Cell cell) {
    cell.watch(this);
    watched.add(cell);
  }

  void unwatch() {
    for (Cell cell : watched) {
      cell.unwatch(this);
    }
    watched.clear();
  }
}
