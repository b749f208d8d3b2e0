package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.fabric.explore.model.Actor;
import dev.doorbell.core.fabric.explore.model.Cell;
import dev.doorbell.core.fabric.explore.model.Cell.Watcher;
import dev.doorbell.core.fabric.explore.model.Release;
import dev.doorbell.core.memory.Locus;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An agent in the scheduler: whether it may run, and what wakes it. */
final class Slot implements Watcher {
  static final int ASLEEP = -1;

  final ExploringFabric fabric;
  final Agent agent;
  final Locus locus;

  /** Its place in the order in which agents were attached. */
  final int number;

  /** Its index among the runnable, or {@link #ASLEEP}. */
  int runnable = ASLEEP;

  boolean attached = true;

  @Nullable Actor actor;

  /** The kernel of a thread, where a host says when it begins. */
  ExploringFabric.@Nullable KernelOrder kernel;

  /** The step of the program that it executes next; null before its first. */
  ExecutedCode.@Nullable Step step;

  /** True for a thread of a GPU, which can be stepped by the instruction. */
  boolean fine;

  long turns;

  /** Set by a port whose thread polls in vain: it sleeps after this step. */
  boolean sleeps;

  /** Set by a port whose thread polled in vain, but must not sleep: there is news already. */
  boolean looksAgain;

  /** When it wakes by itself, {@link Long#MAX_VALUE} for never; means something while it sleeps. */
  long wakeAt = Long.MAX_VALUE;

  final Arrivals arrivals = new Arrivals();

  /** The store that the thread's write-combining buffer holds for a device. */
  Arrivals.@Nullable Arrival combining;

  final List<Cell> watched = new ArrayList<>(0);

  Slot(ExploringFabric fabric, Agent agent, Locus locus, int number) {
    this.fabric = fabric;
    this.agent = agent;
    this.locus = locus;
    this.number = number;
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

  /** Stores to the registers of a device that have left their threads and not arrived yet. */
  static final class Arrivals {
    /** Bytes that a write-combining buffer sends as one. */
    static final int BLOCK = 64;

    /** A buffer that its thread has not filled after that many of its own turns leaves at last. */
    private static final int HELD_TURNS = 256;

    private final ArrayDeque<Arrival> waiting = new ArrayDeque<>();

    /** One write transaction. */
    static final class Arrival {
      final Slot from;
      final Actor actor;
      final MmioTarget target;
      final long address;
      final int access;
      final @Nullable Object at;
      final long[] words = new long[BLOCK / Long.BYTES];
      int bytes;
      Release @Nullable [] releases;

      /** True while a write-combining buffer waits for the rest of a block. */
      boolean combining;

      /** The thread's turn of its last store. */
      long turn;

      Arrival(
          Slot from,
          Actor actor,
          MmioTarget target,
          long address,
          int access,
          @Nullable Object at) {
        this.from = from;
        this.actor = actor;
        this.target = target;
        this.address = address;
        this.access = access;
        this.at = at;
      }
    }

    void add(Arrival arrival) {
      waiting.add(arrival);
    }

    int size() {
      return waiting.size();
    }

    Arrival first() {
      return waiting.element();
    }

    Arrival take() {
      return waiting.remove();
    }

    /**
     * Returns the number of stores that may arrive: a block that is being combined holds up what is
     * behind it.
     */
    int ready() {
      int ready = 0;
      for (Arrival arrival : waiting) {
        if (arrival.combining && arrival.from.turns - arrival.turn < HELD_TURNS) {
          break;
        }
        ready++;
      }
      return ready;
    }
  }
}
